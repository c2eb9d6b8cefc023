use std::time::Duration;

use reattempt::{Breaker, Policy, RetryError, retry};

static PAYMENTS: Breaker = Breaker::time_window(Duration::from_secs(1));

#[retry(timeout = "2s", breaker = &PAYMENTS, on(_))]
async fn charge() -> Result<u32, RetryError<String>> {
    Ok(1)
}

const SLOW: Policy = Policy::new().timeout(Duration::from_secs(1));

#[retry(policy = SLOW, breaker = &PAYMENTS, on(_))]
async fn refund() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn main() {
    let _ = (charge(), refund());
}
