use std::time::Duration;

use reattempt::{Jitter, Policy, Backoff, retry};

const SHARED: Policy = Policy::new().unlimited().deadline(Duration::from_secs(1));

#[retry(policy = SHARED, backoff = "none", on(_))]
fn fetch() -> Result<u32, u8> {
    Err(1)
}

fn main() {
    let _ = (fetch(), Duration::ZERO, Jitter::None, Backoff::Exp, Policy::new());
}
