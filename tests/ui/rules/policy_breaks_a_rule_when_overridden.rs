use reattempt::{Policy, retry};

use std::time::Duration;

const POLICY: Policy = Policy::new().max(5).base(Duration::from_millis(100));

#[retry(policy = POLICY, deadline = "50ms", jitter = "none", on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(policy = POLICY, backoff = "none", on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
}
