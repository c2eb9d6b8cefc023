use reattempt::{Breaker, Policy, Throttle, retry};
use std::time::Duration;

static BREAKER: Breaker = Breaker::count_window(100);
static THROTTLE: Throttle = Throttle::cubic();

#[retry(on(_), cut_off = false, timeout = "1s")]
async fn timeout() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), cut_off = false, breaker = &BREAKER, throttle = &THROTTLE)]
async fn gates() -> Result<u32, String> {
    Ok(1)
}

const POLICY: Policy = Policy::new().timeout(Duration::from_secs(1));

#[retry(on(_), cut_off = false, policy = POLICY)]
async fn policy() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (timeout(), gates(), policy());
}
