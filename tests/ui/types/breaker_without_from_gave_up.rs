use reattempt::{Breaker, retry};

static PAYMENTS: Breaker = Breaker::count_window(10);

#[retry(breaker = &PAYMENTS, on(_))]
fn charge() -> Result<u32, String> {
    Ok(1)
}

#[retry(breaker = &PAYMENTS, on(_))]
async fn refund() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (charge(), refund());
}
