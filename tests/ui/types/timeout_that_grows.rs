use std::time::Duration;

use reattempt::{RetryError, retry};

#[retry(timeout = |attempt| 5 * attempt, on(_))]
async fn number() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(timeout = |attempt, error| Duration::from_secs(1), on(_))]
async fn two_parameters() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn main() {
    let _ = (number(), two_parameters());
}
