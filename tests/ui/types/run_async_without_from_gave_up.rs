use reattempt::Policy;
use std::time::Duration;

const POLICY: Policy = Policy::new()
    .timeout(Duration::from_millis(10))
    .deadline(Duration::from_millis(50))
    .checked();

async fn hang() -> Result<(), String> {
    std::future::pending().await
}

fn main() {
    let _ = POLICY.on(|_: &String| true).run_async(hang);
}
