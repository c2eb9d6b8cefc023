use std::time::Duration;

use reattempt::{RetryError, retry};

#[retry(policy = "storage", timeout = |attempt| Duration::from_secs(1) * attempt, on(_))]
async fn named() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(timeout = |attempt| Duration::from_secs(1) * attempt, on(_))]
fn blocking() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(deadline = |attempt| Duration::from_secs(1) * attempt, on(_))]
async fn whole() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn main() {}
