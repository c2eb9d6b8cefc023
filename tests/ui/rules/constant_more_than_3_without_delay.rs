use std::time::Duration;

use reattempt::{Jitter, Policy, Backoff, retry};

const ATTEMPTS: u32 = 4;

#[retry(max = ATTEMPTS, backoff = "none", on(_))]
fn fetch() -> Result<u32, u8> {
    Err(1)
}

fn main() {
    let _ = (fetch(), Duration::ZERO, Jitter::None, Backoff::Exp, Policy::new());
}
