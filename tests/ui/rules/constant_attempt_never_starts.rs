use std::time::Duration;

use reattempt::{Jitter, Policy, Backoff, retry};

const ATTEMPTS: u32 = 2 + 3;

#[retry(max = ATTEMPTS, base = "200ms", jitter = "none", deadline = "1s", on(_))]
fn fetch() -> Result<u32, u8> {
    Err(1)
}

fn main() {
    let _ = (fetch(), Duration::ZERO, Jitter::None, Backoff::Exp, Policy::new());
}
