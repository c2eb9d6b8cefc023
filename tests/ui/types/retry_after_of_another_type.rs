use std::time::Duration;

use reattempt::retry;

fn wait(_: &u32) -> Option<Duration> {
    None
}

#[retry(on(_), retry_after = |_: &u32| Duration::ZERO)]
fn by_closure() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), retry_after = wait)]
async fn by_path() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (by_closure(), by_path());
}
