use reattempt::{RetryError, retry};

#[retry(breaker = reattempt::Breaker::count_window(10), on(_))]
fn charge() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(breaker = 5, on(_))]
fn refund() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(throttle = "adaptive", on(_))]
fn list() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn main() {
    let _ = (charge(), refund(), list());
}
