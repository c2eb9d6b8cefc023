use reattempt::{Breaker, Throttle, retry};

static PAYMENTS: Breaker = Breaker::count_window(10);
static RATE: Throttle = Throttle::adaptive();

#[retry(breaker = &PAYMENTS, throttle = &RATE, until = |value| *value > 3)]
fn poll() -> u32 {
    1
}

fn main() {
    let _ = poll();
}
