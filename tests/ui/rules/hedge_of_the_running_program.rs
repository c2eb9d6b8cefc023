use reattempt::retry;
use std::time::Duration;

#[retry(hedge = delay, on(_))]
async fn fetch(delay: Duration) -> Result<(), ()> {
    let _ = delay;
    Err(())
}

fn main() {
    let _ = fetch(Duration::from_millis(50));
}
