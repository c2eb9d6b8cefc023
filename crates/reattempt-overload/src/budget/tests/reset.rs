//! Budgets that start over: by hand, or because their clock has.

use super::{Hand, ORIGINS, bare, deposit, drain, withdraw};
use crate::budget::{Budget, FailureClass};
use reattempt_core::Verdict;

#[test]
fn as_new() {
    for origin in ORIGINS {
        for (budget, retries) in [
            (Budget::per_success(1.0), 10),
            (Budget::per_success(1.0).floor(0.0).initial(3), 3),
            (bare(1.0), 0),
            (Budget::per_request(0.01).initial(2), 2),
            (Budget::tokens(50), 10),
        ] {
            let clock = Hand::from(origin);
            for millis in 0..3000 {
                clock.set(f64::from(millis) / 1000.0);
                deposit(&budget, &clock, 2);
            }
            assert!(retries == 0 || drain(&budget, &clock) >= 10, "{budget:?}");
            deposit(&budget, &clock, 5);
            // Another test, another time: none of them is known.
            for seconds in [3.0, 0.0, 9.0, 7200.0] {
                budget.reset();
                clock.set(seconds);
                assert_eq!(drain(&budget, &clock), retries, "{seconds} {budget:?}");
                budget.reset();
                deposit(&budget, &clock, 1000);
                assert!(drain(&budget, &clock) >= 10, "{seconds} {budget:?}");
            }
        }
    }
    let (budget, clock) = (Budget::grpc(4, 0.5), Hand::from(0));
    for _ in 0..4 {
        budget.account_with_clock(&clock).failed(Verdict::Transient);
    }
    assert!(!withdraw(&budget, &clock));
    budget.reset();
    assert!((budget.balance_with_clock(&clock) - 4.0).abs() < 1e-9);
}

/// After much traffic few deposits look at the clock. After a reset they do again, so that none of them outlives its time.
#[test]
fn new_deposits_look_at_the_clock() {
    for origin in ORIGINS {
        let (busy, clock) = (bare(1.0), Hand::from(origin));
        deposit(&busy, &clock, 100_000);
        busy.reset();
        let new = busy.another();
        let left = [&busy, &new].map(|budget| {
            clock.set(1.0);
            deposit(budget, &clock, 100);
            clock.set(100.0);
            drain(budget, &clock)
        });
        assert_eq!(left, [0, 0], "{origin}");
    }
}

/// What calls under way give back does not make it more than new.
#[test]
fn while_a_retry_is_reserved() {
    for floor in [0.0, 1.0] {
        let clock = Hand::from(1 << 62);
        let budget = Budget::per_success(0.1).floor(floor).initial(2);
        let mut account = budget.account_with_clock(&clock);
        assert!(account.withdraw_with_clock(FailureClass::Failed, &clock));
        budget.reset();
        drop(account);
        assert_eq!(drain(&budget, &clock), 2, "{floor}");
    }
}

/// A test has moved its clock by two hours and emptied a budget that others share.
#[test]
fn a_clock_that_starts_over() {
    for origin in ORIGINS {
        for (floor, initial) in [(1.0, 10), (0.01, 10), (1000.0, 1)] {
            let clock = Hand::from(origin);
            let budget = Budget::per_success(0.1).floor(floor).initial(initial);
            clock.set(7200.0);
            assert_eq!(drain(&budget, &clock), u64::from(initial));
            // Read a little earlier is not back.
            clock.set(7199.5);
            assert_eq!(drain(&budget, &clock), 0, "{origin}");
            clock.set(1.0);
            let balance = budget.balance_with_clock(&clock);
            assert!((balance - f64::from(initial)).abs() < 1e-6, "{balance}");
            assert_eq!(drain(&budget, &clock), u64::from(initial), "{origin}");
            assert_eq!(drain(&budget, &clock), 0, "{origin}");
        }
    }
}

#[test]
fn another_has_the_settings_and_nothing_else() {
    for origin in ORIGINS {
        for (budget, retries) in [
            (Budget::per_success(1.0), 10),
            (Budget::per_success(1.0).floor(0.0).initial(3), 3),
            (bare(1.0), 0),
            (Budget::per_request(0.01).initial(2), 2),
            (Budget::tokens(50), 10),
            (
                Budget::tokens(50)
                    .cost(25)
                    .timeout_cost(25)
                    .throttled_cost(25),
                2,
            ),
        ] {
            let clock = Hand::from(origin);
            deposit(&budget, &clock, 1000);
            let other = budget.another();
            assert_eq!(drain(&other, &clock), retries, "{budget:?}");
            assert!(drain(&budget, &clock) >= retries, "{budget:?}");
        }
    }
    // What a deposit is worth, and how long it counts.
    let (budget, clock) = (
        bare(0.5).ttl(std::time::Duration::from_secs(2)).another(),
        Hand::from(0),
    );
    deposit(&budget, &clock, 10);
    clock.set(1.0);
    assert!(withdraw(&budget, &clock));
    clock.set(2.1);
    assert_eq!(drain(&budget, &clock), 0);
    deposit(&budget, &clock, 10);
    assert_eq!(drain(&budget, &clock), 5);

    let (budget, clock) = (Budget::grpc(4, 0.5).another(), Hand::from(0));
    assert!(withdraw(&budget, &clock));
    budget
        .account_with_clock(&clock)
        .succeeded_with_clock(&clock);
    assert!((budget.balance() - 4.0).abs() < f64::EPSILON);
}
