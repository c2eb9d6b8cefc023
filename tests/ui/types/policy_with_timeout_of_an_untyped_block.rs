use reattempt::{Policy, retry, retry_block};
use std::time::Duration;

const POLICY: Policy = Policy::new().timeout(Duration::from_secs(1));

async fn fetch() -> u32 {
    retry_block!(policy = POLICY, on(_), async { Ok::<u32, String>(1) })
        .await
        .unwrap_or_default()
}

#[retry(timeout = "1s", until = |()| true)]
async fn nothing() {}

fn main() {
    let _ = fetch();
    let _ = nothing();
}
