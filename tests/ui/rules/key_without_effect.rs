use reattempt::retry;

#[retry(backoff = "none", base = "1s", on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(backoff = "fixed", factor = 3.0, on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(backoff = "decorrelated", jitter = 0.2, on(_))]
fn fetch_c() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
    let _ = fetch_c();
}
