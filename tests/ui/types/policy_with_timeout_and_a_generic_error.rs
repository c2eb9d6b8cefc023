use std::time::Duration;

use reattempt::{Policy, retry};

const POLICY: Policy = Policy::new().timeout(Duration::from_secs(1));

#[retry(policy = POLICY, on(_))]
async fn fetch<E>(error: fn() -> E) -> Result<u32, E> {
    Err(error())
}

fn main() {
    let _ = fetch(String::new);
}
