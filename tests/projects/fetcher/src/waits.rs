//! Who waits, and how long at most.

use std::io;

use reattempt::{RetryError, retry, strategy, strategy::Decision, strategy::FailedAttempt};

//~ bounded
#[retry(
    max = 3,
    timeout = "1s",
    deadline = "10s",
    base = "1s",
    jitter = "none"
)]
pub async fn bounded() -> Result<(), RetryError<io::Error>> {
    Ok(())
}

//~ fast
#[retry(max = 2, fast_first)]
pub fn fast() -> io::Result<()> {
    Ok(())
}

//~ strategy
#[retry(max = 20, strategy = strategy::from_fn(five))]
pub fn decided() -> io::Result<()> {
    Ok(())
}

fn five(failure: &FailedAttempt<'_, io::Error>) -> Decision {
    if failure.attempt() < 5 {
        Decision::Retry(std::time::Duration::from_secs(1))
    } else {
        Decision::Stop
    }
}

//~ closure_delay
#[retry(max = 4, backoff = |retry: u32| std::time::Duration::from_secs(retry.into()))]
pub fn shaped() -> io::Result<()> {
    Ok(())
}

//~ decorrelated
#[retry(max = 3, backoff = "decorrelated", base = "100ms", cap = "1s")]
pub fn decorrelated() -> io::Result<()> {
    Ok(())
}
