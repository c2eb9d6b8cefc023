use reattempt::{Breaker, Budget, RetryError, Throttle, retry};

const PAYMENTS: Breaker = Breaker::count_window(10);
const BUDGET: Budget = Budget::per_success(0.1);
const RATE: Throttle = Throttle::adaptive();

#[retry(breaker = &PAYMENTS, on(_))]
fn charge() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(budget = &BUDGET, on(_))]
fn list() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(throttle = &RATE, on(_))]
async fn refund() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn main() {
    let _ = (charge(), list(), refund());
}
