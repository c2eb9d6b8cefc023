use std::time::Duration;

use reattempt::{Policy, Backoff, retry};

const FIXED: Policy = Policy::new().backoff(Backoff::Fixed);

#[retry(backoff = |retry| Duration::from_secs(1 + u64::from(retry)), factor = 3.0, on(_))]
fn own() -> Result<u32, String> {
    Ok(1)
}

#[retry(policy = FIXED, factor = 3.0, on(_))]
fn inherited() -> Result<u32, String> {
    Ok(1)
}

#[retry(policy = FIXED, base = "1m", on(_))]
fn above_its_cap() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (own(), inherited(), above_its_cap());
}
