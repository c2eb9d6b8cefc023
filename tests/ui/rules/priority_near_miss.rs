use reattempt::retry;

#[retry(priority = "hihg", on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(priority = "Low", on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (fetch_a(), fetch_b());
}
