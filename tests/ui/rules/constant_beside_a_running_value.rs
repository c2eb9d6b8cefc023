use reattempt::retry;
use std::time::Duration;

const BASE: Duration = Duration::ZERO;

#[retry(max = limit, base = BASE, on(_))]
fn fetch(limit: u32) -> Result<(), ()> {
    let _ = limit;
    Err(())
}

fn main() {
    let _ = fetch(3);
}
