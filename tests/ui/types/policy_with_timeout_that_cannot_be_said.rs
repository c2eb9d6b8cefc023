use std::time::Duration;

use reattempt::{Policy, retry, retry_block};

const POLICY: Policy = Policy::new().timeout(Duration::from_secs(1));

#[retry(policy = POLICY, on(_))]
async fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(policy = POLICY, until = |state| *state == 0)]
async fn state() -> u32 {
    0
}

async fn block() {
    let _ = retry_block!(policy = POLICY, on(_), async || -> Result<u32, String> { Ok(1) }).await;
}

fn main() {
    let _ = (fetch(), state(), block());
}
