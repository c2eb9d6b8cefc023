use std::time::Duration;

use reattempt::{Budget, retry};

static SHARE: Budget = Budget::per_success(1.5);
static TTL: Budget = Budget::per_request(0.1).ttl(Duration::from_millis(999));
static FLOOR: Budget = Budget::per_success(0.1).floor(f64::INFINITY);

#[retry(budget = Budget::per_success(2.0), on(_))]
fn own() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (own(), &SHARE, &TTL, &FLOOR);
}
