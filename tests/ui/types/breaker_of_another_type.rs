use std::sync::LazyLock;

use reattempt::{Breaker, Budget, RetryError, retry};

static PAYMENTS: LazyLock<Breaker> = LazyLock::new(|| Breaker::count_window(10));
static SHARED: Budget = Budget::per_success(0.1);

#[retry(breaker = &PAYMENTS, on(_))]
fn charge() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(breaker = &SHARED, on(_))]
fn refund() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(budget = &PAYMENTS, on(_))]
fn list() -> Result<u32, RetryError<String>> {
    Ok(1)
}

#[retry(budget = share(), on(_))]
fn count() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn share() -> f64 {
    0.1
}

fn main() {
    let _ = (charge(), refund(), list(), count());
}
