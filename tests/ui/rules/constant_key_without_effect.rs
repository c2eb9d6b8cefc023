use std::time::Duration;

use reattempt::{Jitter, Policy, Backoff, retry};

const SHARED: Policy = Policy::new().backoff(Backoff::Fixed).factor(3.0);

#[retry(policy = SHARED, on(_))]
fn fetch() -> Result<u32, u8> {
    Err(1)
}

fn main() {
    let _ = (fetch(), Duration::ZERO, Jitter::None, Backoff::Exp, Policy::new());
}
