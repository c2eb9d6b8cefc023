use std::time::Duration;

use reattempt::{RetryError, retry};

const SHORT: Duration = Duration::from_millis(9);

#[retry(max = 4, timeout = "9ms", on(_))]
async fn literal() -> Result<u32, RetryError<u8>> {
    Ok(1)
}

#[retry(max = 4, timeout = SHORT, on(_))]
async fn constant() -> Result<u32, RetryError<u8>> {
    Ok(1)
}

#[retry(max = 2, jitter = "none", timeout = "950ms", deadline = "1s", on(_))]
async fn no_second() -> Result<u32, RetryError<u8>> {
    Ok(1)
}

fn main() {
    let _ = (literal(), constant(), no_second());
}
