use reattempt::retry;

#[retry(nested = "multipy", on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(nested = "Collapse", on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (fetch_a(), fetch_b());
}
