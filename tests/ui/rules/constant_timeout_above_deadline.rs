use std::time::Duration;

use reattempt::{Policy, RetryError, retry};

const SECOND: Duration = Duration::from_secs(1);
const POLICY: Policy = Policy::new().deadline(SECOND);

#[retry(timeout = SECOND.saturating_mul(2), deadline = SECOND, on(_))]
async fn fetch_a() -> Result<u32, RetryError<u8>> {
    Err(1)
}

#[retry(timeout = "2s", deadline = SECOND, on(_))]
async fn fetch_b() -> Result<u32, RetryError<u8>> {
    Err(1)
}

#[retry(policy = POLICY, timeout = "2s", on(_))]
async fn fetch_c() -> Result<u32, RetryError<u8>> {
    Err(1)
}

fn main() {
    let _ = (fetch_a(), fetch_b(), fetch_c());
}
