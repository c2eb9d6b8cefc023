use std::time::Duration;

use reattempt::retry;

const WAIT: Duration = Duration::from_secs(5);

#[retry(on(_), retry_after = "5s")]
fn text() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), retry_after = WAIT)]
fn constant() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), retry_after)]
fn alone() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (text(), constant(), alone());
}
