use std::time::Duration;

use reattempt::{Breaker, Budget, Hedge, Jitter, Policy, Throttle};

const UNIT: Duration = Duration::from_millis(50);
const TRIES: u32 = 2 * 2;

/// Nobody waits.
pub const PATIENT: Policy = Policy::background()
    .max(TRIES + 1)
    .base(UNIT.saturating_mul(4))
    .jitter(Jitter::None)
    .checked();

/// Somebody does.
pub const QUICK: Policy = Policy::new()
    .max(2)
    .base(UNIT)
    .jitter(Jitter::None)
    .checked();

pub struct Settings;

impl Settings {
    pub const ATTEMPTS: u32 = 4;
    pub const CAP: Duration = Duration::from_secs(1);
}

pub static SPENDING: Budget = Budget::per_success(0.2);
pub static CARRIER: Breaker = Breaker::count_window(20);
pub static PRICES: Throttle = Throttle::adaptive();
pub const COPIES: Hedge = Hedge::after(Duration::from_millis(50)).max(2);
