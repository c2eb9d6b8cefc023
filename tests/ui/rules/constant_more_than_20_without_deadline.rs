use std::time::Duration;

use reattempt::{Jitter, Policy, Backoff, retry};

const ATTEMPTS: u32 = 7 * 3;

#[retry(max = ATTEMPTS, backoff = "fixed", on(_))]
fn fetch() -> Result<u32, u8> {
    Err(1)
}

fn main() {
    let _ = (fetch(), Duration::ZERO, Jitter::None, Backoff::Exp, Policy::new());
}
