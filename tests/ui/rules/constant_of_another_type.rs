use reattempt::{Backoff, retry};

const MAX: &str = "3";

#[retry(max = MAX, on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(base = MAX, on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(backoff = MAX, on(_))]
fn fetch_c() -> Result<u32, String> {
    Ok(1)
}

#[retry(jitter = MAX, on(_))]
fn fetch_d() -> Result<u32, String> {
    Ok(1)
}

#[retry(backoff = Backoff::Fixed, on(_))]
fn fetch_e() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
    let _ = fetch_c();
    let _ = fetch_d();
    let _ = fetch_e();
}
