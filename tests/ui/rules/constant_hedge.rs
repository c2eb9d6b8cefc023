use std::time::Duration;

use reattempt::{Hedge, Policy, RetryError, retry};

const MANY: Hedge = Hedge::after(Duration::from_millis(50)).max(11);
const NONE: Hedge = Hedge::after(Duration::ZERO);

#[retry(hedge = Hedge::after(Duration::from_millis(400)).max(3), deadline = "1s", on(_))]
async fn late() -> Result<u32, RetryError<String>> {
    Ok(1)
}

const STRICT: Policy = Policy::new().idempotent(false);

#[retry(policy = STRICT, hedge = "50ms", on(_))]
async fn twice() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn main() {
    let _ = (late(), twice(), MANY, NONE);
}
