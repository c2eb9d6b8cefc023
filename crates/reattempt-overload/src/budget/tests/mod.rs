mod calls;
mod queue;
mod refund;
mod reset;
mod samples;
mod share;
mod threads;
mod time;
mod values;

use core::cell::Cell;
use core::time::Duration;

use super::{Budget, FailureClass};
use reattempt_core::{Clock, Timestamp};

/// A clock that is set by hand.
struct Hand {
    origin: u64,
    since: Cell<Duration>,
}

impl Hand {
    const fn from(origin: u64) -> Self {
        Self {
            origin,
            since: Cell::new(Duration::ZERO),
        }
    }

    fn set(&self, seconds: f64) {
        self.since.set(Duration::from_secs_f64(seconds));
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::from_nanos(self.origin)).after(self.since.get())
    }
}

/// Where clocks start: user clocks anywhere, those of `std` near 2^62.
const ORIGINS: [u64; 6] = [0, 1, 7_777_777_777, (1 << 62) - 5, 1 << 62, 1 << 63];

fn deposit(budget: &Budget, clock: &impl Clock, times: u32) {
    for _ in 0..times {
        budget.account_with_clock(clock).succeeded_with_clock(clock);
    }
}

fn withdraw(budget: &Budget, clock: &impl Clock) -> bool {
    let mut account = budget.account_with_clock(clock);
    let granted = account.withdraw_with_clock(FailureClass::Failed, clock);
    account.spend();
    granted
}

fn drain(budget: &Budget, clock: &impl Clock) -> u64 {
    let mut granted = 0;
    while withdraw(budget, clock) {
        granted += 1;
    }
    granted
}

const fn bare(ratio: f64) -> Budget {
    Budget::per_success(ratio).floor(0.0).initial(0)
}

#[track_caller]
fn balances(budget: &Budget, clock: &Hand, expected: &[(f64, f64)]) {
    for (seconds, tokens) in expected {
        clock.set(*seconds);
        let balance = budget.balance_with_clock(clock);
        assert!(
            (balance - tokens).abs() < 1e-6,
            "{balance} after {seconds} s from {}",
            clock.origin
        );
    }
}
