use std::time::Duration;

use reattempt::{Jitter, Policy, Shape, retry};

const SHARED: Policy = Policy::new().backoff(Shape::Fixed).factor(3.0);

#[retry(policy = SHARED, on(_))]
fn fetch() -> Result<u32, u8> {
    Err(1)
}

fn main() {
    let _ = (fetch(), Duration::ZERO, Jitter::None, Shape::Exp, Policy::new());
}
