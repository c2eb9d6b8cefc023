use reattempt::{Backoff, Jitter, Policy, retry};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);
const POLICY: Policy = Policy::new()
    .unlimited()
    .backoff(Backoff::Fixed)
    .base(Duration::from_millis(1))
    .jitter(Jitter::None);

#[retry(policy = POLICY, deadline = DAY, on(_))]
fn each_millisecond() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = each_millisecond();
}
