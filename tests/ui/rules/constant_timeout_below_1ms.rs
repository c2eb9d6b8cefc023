use std::time::Duration;

use reattempt::{RetryError, retry};

const TIMEOUT: Duration = Duration::from_micros(999);

#[retry(timeout = TIMEOUT, on(_))]
async fn fetch() -> Result<u32, RetryError<u8>> {
    Err(1)
}

fn main() {
    let _ = fetch();
}
