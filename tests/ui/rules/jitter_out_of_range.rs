use reattempt::retry;

#[retry(jitter = 1.5, on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(jitter = -0.1, on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(jitter = 2, on(_))]
fn fetch_c() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
    let _ = fetch_c();
}
