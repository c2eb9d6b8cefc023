use std::time::Duration;

use reattempt::{RetryError, retry};

const SECOND: Duration = Duration::from_secs(1);

#[retry(timeout = SECOND, deadline = SECOND, on(_))]
async fn fetch() -> Result<u32, RetryError<u8>> {
    Err(1)
}

fn main() {
    let _ = fetch();
}
