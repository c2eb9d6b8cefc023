use std::time::Duration;

use reattempt::{Policy, RetryError, retry, retry_block};

const POLICY: Policy = Policy::new().timeout(Duration::from_secs(1));

#[retry(policy = POLICY, on(_))]
fn fetch() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = retry_block!(policy = POLICY, on(_), || -> Result<u32, String> { Ok(1) });
}
