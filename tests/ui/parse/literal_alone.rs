use reattempt::retry;

#[retry(3, on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry("exp", on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
}
