use reattempt::{Breaker, Budget, RetryError, Throttle, retry};

const PAYMENTS: Breaker = Breaker::count_window(10);
const RATE: Throttle = Throttle::adaptive();

fn own() -> Budget {
    Budget::per_success(0.1)
}

#[retry(breaker = PAYMENTS, on(_))]
fn charge() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(throttle = RATE, on(_))]
async fn refund() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(budget = own(), on(_))]
fn list() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn main() {
    let _ = (charge(), refund(), list());
}
