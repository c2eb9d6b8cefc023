use reattempt::retry;

#[retry(max = 1, backoff = "exp")]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(max = 1, on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(max = 1, before_retry = |_| ())]
fn fetch_c() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
    let _ = fetch_c();
}
