//! What gets too old, and what comes back.

use core::cell::Cell;
use core::time::Duration;

use super::{Hand, ORIGINS, balances, bare, deposit, drain, withdraw};
use crate::budget::Budget;
use crate::budget::credit::Credit;
use reattempt_core::{Clock, Timestamp};

#[test]
fn deposits_expire() {
    for origin in ORIGINS {
        let (budget, clock) = (bare(1.0), Hand::from(origin));
        deposit(&budget, &clock, 10);
        clock.set(9.0);
        deposit(&budget, &clock, 10);
        balances(
            &budget,
            &clock,
            &[(9.9, 20.0), (10.1, 10.0), (18.9, 10.0), (19.1, 0.0)],
        );
        assert!(!withdraw(&budget, &clock), "{origin}");
        // Long after, and as if nothing had been.
        clock.set(1e6);
        deposit(&budget, &clock, 3);
        assert_eq!(drain(&budget, &clock), 3, "{origin}");
    }
}

#[test]
fn many_deposits_expire_together() {
    let (budget, clock) = (bare(1.0), Hand::from(0));
    deposit(&budget, &clock, 100);
    balances(&budget, &clock, &[(9.9, 100.0), (10.1, 0.0)]);
}

#[test]
fn the_life_of_a_deposit() {
    for (ttl, balance) in [(1, 0.0), (9, 0.0), (11, 8.0), (60, 8.0)] {
        let (budget, clock) = (bare(1.0).ttl(Duration::from_secs(ttl)), Hand::from(5));
        deposit(&budget, &clock, 8);
        balances(&budget, &clock, &[(10.0, balance)]);
    }
}

#[test]
fn what_was_deposited_first_is_spent_first() {
    let (budget, clock) = (bare(1.0), Hand::from(0));
    deposit(&budget, &clock, 4);
    clock.set(5.0);
    deposit(&budget, &clock, 4);
    assert!((0..3).all(|_| withdraw(&budget, &clock)));
    balances(&budget, &clock, &[(9.9, 5.0), (10.1, 4.0)]);
    assert_eq!(drain(&budget, &clock), 4);
}

/// A minute of 1000 calls a second, looked at each second, with and without withdrawals that write samples.
#[test]
fn steady_traffic() {
    for origin in ORIGINS {
        let (budget, clock) = (bare(0.1), Hand::from(origin));
        for millis in 0..60_000 {
            clock.set(f64::from(millis) / 1000.0);
            deposit(&budget, &clock, 1);
            if millis >= 10_000 && millis % 100 == 0 {
                let balance = budget.balance_with_clock(&clock);
                assert!(
                    (900.0..=1000.01).contains(&balance),
                    "{balance} after {millis} ms from {origin}"
                );
            }
        }
        assert!((900..=1000).contains(&drain(&budget, &clock)));
    }
}

/// In fast traffic few calls look at the clock; when it gets slow all do again.
#[test]
fn traffic_that_changes() {
    let (budget, clock) = (bare(1.0), Hand::from(0));
    let reads = Reads(&clock, Cell::new(0));
    for call in 0..50_000 {
        clock.set(f64::from(call) / 10_000.0);
        deposit(&budget, &reads, 1);
    }
    // One of 64, but for the first ones.
    let read = reads.1.get();
    assert!((900..1_200).contains(&read), "{read}");
    // Up to 63 more do not look, unless a retry tells that it is slow now.
    for second in 6..100 {
        clock.set(f64::from(second));
        deposit(&budget, &reads, 1);
        if second == 90 {
            let balance = budget.balance_with_clock(&clock);
            assert!((9.0..=10.0).contains(&balance), "{balance}");
        }
    }
    for call in 0..50_000 {
        clock.set(100.0 + f64::from(call) / 10_000.0);
        deposit(&budget, &reads, 1);
    }
    clock.set(105.7);
    assert!(withdraw(&budget, &clock));
    for second in 107..=125 {
        clock.set(f64::from(second));
        deposit(&budget, &reads, 1);
        assert!(withdraw(&budget, &clock), "{second}");
    }
}

/// Counts how often the clock is read.
struct Reads<'c>(&'c Hand, Cell<u32>);

impl Clock for Reads<'_> {
    fn now(&self) -> Timestamp {
        self.1.set(self.1.get() + 1);
        self.0.now()
    }
}

/// The words count on where their product wraps: 2^64 thousand millionths of a token are 36 thousand million
/// deposits of a half.
#[test]
fn words_that_wrap() {
    let unit = 1 << 63; // no ratio: two deposits wrap
    let credit = Credit::new(unit);
    for expired in 0..10 {
        credit.deposit();
        assert_eq!(credit.left(expired + 1), 0);
        credit.expire(expired + 1);
    }
    // What was never withdrawn is taken out before it is half of all numbers behind.
    let unit = 1 << 62;
    let credit = Credit::new(unit);
    for expired in 0..20 {
        credit.deposit();
        credit.expire(expired);
        assert_eq!(credit.left(expired), unit, "{expired}");
    }
    let credit = Credit::new(u64::MAX / 2 - 1);
    for expired in 0..10 {
        credit.deposit();
        assert!(credit.withdraw(expired), "{expired}");
        assert_eq!(credit.left(expired + 1), 0);
    }
}

#[test]
fn the_reserve() {
    for origin in ORIGINS {
        let (budget, clock) = (Budget::per_success(0.1), Hand::from(origin));
        balances(&budget, &clock, &[(0.0, 10.0)]);
        // A total outage in no time.
        assert_eq!(drain(&budget, &clock), 10);
        balances(&budget, &clock, &[(0.5, 0.5)]);
        assert!(!withdraw(&budget, &clock));
        clock.set(1.0);
        assert_eq!(drain(&budget, &clock), 1);
        clock.set(4.0);
        assert_eq!(drain(&budget, &clock), 3);
        clock.set(100.0);
        assert_eq!(
            drain(&budget, &clock),
            10,
            "never above what it starts with"
        );
    }
}

#[test]
fn the_floor() {
    let clock = Hand::from(0);
    for (per_second, initial, after_an_hour) in [
        (0.0, 10, 0),
        (0.0, 0, 0),
        (1.0, 0, 1),
        (0.001, 3, 3),
        (f64::MIN_POSITIVE, 3, 0),
        (0.1, u32::MAX, 360),
    ] {
        clock.set(0.0);
        let budget = Budget::per_success(0.1).floor(per_second).initial(initial);
        let granted = if initial == u32::MAX {
            0
        } else {
            drain(&budget, &clock)
        };
        assert_eq!(
            granted,
            if initial == u32::MAX {
                0
            } else {
                u64::from(initial)
            }
        );
        if initial == u32::MAX {
            let balance = budget.balance_with_clock(&clock);
            assert!((balance - f64::from(u32::MAX)).abs() < 1e-6, "{balance}");
            continue;
        }
        clock.set(3600.0);
        assert_eq!(drain(&budget, &clock), after_an_hour, "{per_second}");
    }
    let (generous, clock) = (Budget::per_success(0.1).floor(f64::MAX), Hand::from(0));
    assert!((0..10).all(|_| withdraw(&generous, &clock)));
    clock.set(0.001);
    assert_eq!(drain(&generous, &clock), 10);
}

/// Back by a little, by a whole life, and by much.
#[test]
fn clocks_that_go_back() {
    for back in [0.1, 5.0, 10.0, 15.0, 1000.0] {
        let (budget, clock) = (Budget::per_success(1.0).initial(2), Hand::from(1 << 62));
        clock.set(2000.0);
        deposit(&budget, &clock, 3);
        assert_eq!(drain(&budget, &clock), 5);
        clock.set(2000.0 - back);
        // Nothing is spent twice, but for a reserve that would be empty for longer than it ever is.
        let anew = if back > 1.0 { 2 } else { 0 };
        assert_eq!(drain(&budget, &clock), anew, "{back}");
        deposit(&budget, &clock, 3);
        assert_eq!(drain(&budget, &clock), 3, "{back}");
        // The reserve fills, and is no larger than it was.
        clock.set(2000.0 - back + 6.1);
        assert_eq!(drain(&budget, &clock), 2, "{back}");
    }
}
