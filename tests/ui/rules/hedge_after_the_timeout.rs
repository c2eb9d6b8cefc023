use std::time::Duration;

use reattempt::{Hedge, Policy, RetryError, retry};

#[retry(hedge = "1s", timeout = "1s", on(_))]
async fn literal() -> Result<u32, RetryError<String>> {
    Ok(1)
}

const SLOW: Duration = Duration::from_millis(600);

#[retry(hedge = Hedge::after(SLOW).max(2), timeout = "1s", on(_))]
async fn constant() -> Result<u32, RetryError<String>> {
    Ok(1)
}

const SHORT: Policy = Policy::new().timeout(Duration::from_millis(500));

#[retry(policy = SHORT, hedge = SLOW, on(_))]
async fn inherited() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(hedge = "p95", on(_))]
async fn percentile() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn main() {
    let _ = (literal(), constant(), inherited(), percentile());
}
