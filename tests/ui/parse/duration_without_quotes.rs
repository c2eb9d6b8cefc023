use reattempt::retry;

#[retry(base = 100ms, on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(deadline = 5s, on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
}
