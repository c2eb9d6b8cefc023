use reattempt::retry;

#[retry(priority = "batch", on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(priority = true, on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (fetch_a(), fetch_b());
}
