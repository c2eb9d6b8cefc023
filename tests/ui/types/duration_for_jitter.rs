use reattempt::retry;
use std::time::Duration;

const SPREAD: Duration = Duration::from_millis(20);

#[retry(jitter = SPREAD, on(_))]
fn fetch() -> Result<(), ()> {
    Err(())
}

fn main() {
    let _ = fetch();
}
