use std::time::Duration;

use reattempt::{Jitter, Policy, Backoff, retry};

const SECOND: Duration = Duration::from_secs(1);

#[retry(base = SECOND.saturating_mul(3), cap = SECOND.saturating_mul(2), on(_))]
fn fetch() -> Result<u32, u8> {
    Err(1)
}

fn main() {
    let _ = (fetch(), Duration::ZERO, Jitter::None, Backoff::Exp, Policy::new());
}
