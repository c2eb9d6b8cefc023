//! Whatever the error is, one of them fits.

use reattempt::{Breaker, Policy, RetryError, retry};
use std::time::Duration;

static BREAKER: Breaker = Breaker::count_window(100);
const POLICY: Policy = Policy::new().timeout(Duration::from_secs(1));
const UNLIMITED: Policy = Policy::new().max(5);

#[retry(policy = POLICY, on(_))]
async fn from_gave_up() -> std::io::Result<u8> {
    Ok(1)
}

#[retry(policy = policy, breaker = &BREAKER, on(_))]
async fn retry_error(policy: Policy) -> Result<u8, RetryError<String>> {
    Ok(1)
}

#[retry(policy = policy, breaker = &BREAKER)]
async fn option(policy: Policy) -> Option<u8> {
    Some(1)
}

#[retry(policy = "storage", timeout = "1s", on(_), map_err = |error: RetryError<u8>| error.to_string())]
async fn map_err() -> Result<u8, String> {
    Ok(1)
}

#[retry(policy = POLICY, breaker = &BREAKER, on(_), fallback = |_| 3)]
async fn fallback() -> Result<u8, String> {
    Ok(1)
}

#[retry(policy = policy, deadline = "1s", on(_), cut_off = false)]
async fn uncut(policy: Policy) -> Result<u8, String> {
    Ok(1)
}

#[retry(policy = UNLIMITED, on(_))]
async fn nothing_to_report() -> Result<u8, String> {
    Ok(1)
}

#[retry(policy = *policy, deadline = "1s", on(_))]
fn blocking(policy: &Policy) -> Result<u8, String> {
    Ok(1)
}

#[retry(policy = policy, cut_off = true, on(_))]
async fn default(policy: Policy) -> std::io::Result<u8> {
    Ok(1)
}

fn main() {
    let _ = (from_gave_up(), retry_error(POLICY), option(POLICY), map_err());
    let _ = (fallback(), uncut(POLICY), nothing_to_report(), default(POLICY));
    let _ = blocking(&POLICY);
}
