use std::time::Duration;

use reattempt::{Jitter, Policy, Backoff, retry};

const ATTEMPTS: u32 = 1;

#[retry(max = ATTEMPTS, jitter = 0.2, on(_))]
fn fetch() -> Result<u32, u8> {
    Err(1)
}

fn main() {
    let _ = (fetch(), Duration::ZERO, Jitter::None, Backoff::Exp, Policy::new());
}
