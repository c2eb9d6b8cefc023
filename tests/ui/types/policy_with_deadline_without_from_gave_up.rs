use reattempt::{Policy, retry};
use std::time::Duration;

const POLICY: Policy = Policy::new().deadline(Duration::from_secs(1));

#[retry(policy = POLICY, on(_))]
async fn fetch() -> Result<u32, String> {
    Ok(1)
}

trait Service {
    const POLICY: Policy;

    #[retry(policy = Self::POLICY, on(_))]
    async fn call(&self) -> Result<u32, String> {
        Ok(1)
    }
}

struct Storage;

impl Service for Storage {
    const POLICY: Policy = POLICY;
}

fn main() {
    let _ = (fetch(), Storage.call());
}
