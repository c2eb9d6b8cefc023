//! What other libraries call the delay that the error asks for.

use reattempt::retry;

#[retry(after = |_| None, on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(adjust = |_, delay| delay, on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(wait_exception = |_| None, on(_))]
fn fetch_c() -> Result<u32, String> {
    Ok(1)
}

#[retry(patience = "5s", on(_))]
fn fetch_d() -> Result<u32, String> {
    Ok(1)
}

#[retry(retryAfter = |_| None, on(_))]
fn fetch_e() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (fetch_a(), fetch_b(), fetch_c(), fetch_d(), fetch_e());
}
