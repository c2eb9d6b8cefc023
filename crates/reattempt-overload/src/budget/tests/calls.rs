//! What one call does.

use super::{Hand, balances, bare, deposit, withdraw};
use crate::budget::account::Paid;
use crate::budget::{Budget, FailureClass, Kind};
use reattempt_core::Verdict;

#[test]
fn deposits_are_spent_before_the_reserve() {
    let (budget, clock) = (Budget::per_success(1.0).floor(0.0), Hand::from(0));
    deposit(&budget, &clock, 5);
    assert!((0..5).all(|_| withdraw(&budget, &clock)));
    // What is left does not get too old.
    balances(&budget, &clock, &[(0.0, 10.0), (60.0, 10.0)]);
}

#[test]
fn a_call_deposits_when_it_begins() {
    let clock = Hand::from(0);
    let budget = Budget::per_request(0.5).floor(0.0).initial(0);
    for _ in 0..10 {
        let _call = budget.account_with_clock(&clock); // and fails
    }
    deposit(&budget, &clock, 10); // and succeed, which brings nothing more
    let mut account = budget.account_with_clock(&clock);
    for retry in 0..12 {
        let granted = account.withdraw_with_clock(FailureClass::Failed, &clock);
        account.spend();
        assert_eq!(granted, retry < 10, "of 21 halves");
    }
}

#[test]
fn what_is_not_spent_is_given_back() {
    let clock = Hand::from(0);
    let half = bare(0.5);
    deposit(&half, &clock, 5);
    let kinds = [
        half,
        Budget::per_success(0.1),
        Budget::per_success(0.1).floor(0.0),
        Budget::tokens(20).cost(7),
        Budget::grpc(10, 0.1),
    ];
    for budget in &kinds {
        let before = budget.balance_with_clock(&clock);
        let same = |now: f64| assert!((now - before).abs() < 1e-9, "{now} {budget:?}");
        let mut account = budget.account_with_clock(&clock);
        assert!(account.withdraw_with_clock(FailureClass::Failed, &clock));
        assert!(matches!(budget.kind, Kind::Grpc(_)) || budget.balance_with_clock(&clock) < before);
        drop(account);
        same(budget.balance_with_clock(&clock));
        // A second withdrawal in the place of a first that came to nothing.
        let mut account = budget.account_with_clock(&clock);
        assert!(account.withdraw_with_clock(FailureClass::Failed, &clock));
        let once = budget.balance_with_clock(&clock);
        assert!(account.withdraw_with_clock(FailureClass::Failed, &clock));
        assert!((budget.balance_with_clock(&clock) - once).abs() < 1e-9);
        account.spend();
        account.spend();
        drop(account);
        assert!((budget.balance_with_clock(&clock) - once).abs() < 1e-9);
    }
}

/// The parts that futures keep.
#[test]
fn reservations() {
    let (budget, clock) = (Budget::tokens(20), Hand::from(0));
    let first = budget
        .reserve(FailureClass::TimedOut, Paid::NOTHING, &clock)
        .expect("20 are there");
    drop(first);
    budget.begin(&clock);
    let paid = budget
        .reserve(FailureClass::TimedOut, Paid::NOTHING, &clock)
        .map(|reservation| reservation.spend(Paid::NOTHING));
    let paid = paid.expect("20 are there");
    assert!((budget.balance_with_clock(&clock) - 10.0).abs() < 1e-9);
    assert!(budget.succeeded());
    budget.settle(paid, &clock);
    assert!((budget.balance_with_clock(&clock) - 20.0).abs() < 1e-9);
}

/// A withdrawal that was given back is worth no more than its deposit, which has become too old.
#[test]
fn given_back_too_late() {
    let (budget, clock) = (bare(1.0), Hand::from(0));
    deposit(&budget, &clock, 1);
    let mut account = budget.account_with_clock(&clock);
    assert!(account.withdraw_with_clock(FailureClass::Failed, &clock));
    clock.set(11.0);
    assert!(!withdraw(&budget, &clock));
    drop(account);
    assert!(!withdraw(&budget, &clock));
}

#[test]
fn classes() {
    let clock = Hand::from(0);
    let throttled = Verdict::Throttled(None);
    assert_eq!(FailureClass::of(throttled), FailureClass::Throttled);
    assert_eq!(FailureClass::of(Verdict::Transient), FailureClass::Failed);
    for (budget, costs) in [
        (Budget::tokens(100), [5, 10, 5]),
        (Budget::tokens(100).cost(3), [3, 10, 3]),
        (
            Budget::tokens(100)
                .throttled_cost(20)
                .cost(2)
                .timeout_cost(1),
            [2, 1, 20],
        ),
    ] {
        for (class, cost) in [
            FailureClass::Failed,
            FailureClass::TimedOut,
            FailureClass::Throttled,
        ]
        .into_iter()
        .zip(costs)
        {
            let mut account = budget.account_with_clock(&clock);
            assert!(account.withdraw_with_clock(class, &clock));
            let left = budget.balance_with_clock(&clock);
            assert!(
                (left - 100.0 + f64::from(cost)).abs() < 1e-9,
                "{class:?} {left}"
            );
        }
    }
}

/// Also where nothing failed in this account, or only what says nothing.
#[test]
fn half_is_the_end_of_grpc() {
    let (budget, clock) = (Budget::grpc(4, 0.5), Hand::from(0));
    assert!(withdraw(&budget, &clock));
    assert!(budget.try_withdraw_hedge_with_clock(&clock));
    let fail = |verdict| budget.account_with_clock(&clock).failed(verdict);
    fail(Verdict::Transient);
    assert!(withdraw(&budget, &clock), "3 of 4 are left");
    fail(Verdict::RetryForbidden);
    assert!(!withdraw(&budget, &clock), "2 of 4 are left");
    assert!(!budget.try_withdraw_hedge_with_clock(&clock));
    let mut account = budget.account_with_clock(&clock);
    account.failed(Verdict::Permanent);
    assert!(!account.withdraw_with_clock(FailureClass::Failed, &clock));
    assert!((budget.balance_with_clock(&clock) - 2.0).abs() < 1e-9);
}

#[test]
fn copies() {
    let (budget, clock) = (bare(0.5), Hand::from(0));
    assert!(!budget.try_withdraw_hedge_with_clock(&clock));
    deposit(&budget, &clock, 2);
    assert!(budget.try_withdraw_hedge_with_clock(&clock));
    assert!(!budget.try_withdraw_hedge_with_clock(&clock));
    let budget = Budget::tokens(9);
    assert!(budget.try_withdraw_hedge_with_clock(&clock));
    assert!((budget.balance_with_clock(&clock) - 4.0).abs() < 1e-9);
    assert!(!budget.try_withdraw_hedge_with_clock(&clock));
}

#[test]
fn what_is_printed() {
    for (budget, expected) in [
        (
            Budget::per_success(0.1),
            "Budget { kind: \"per_success\", balance: 10.0, .. }",
        ),
        (
            Budget::per_request(0.1).initial(3),
            "Budget { kind: \"per_request\", balance: 3.0, .. }",
        ),
        (
            Budget::tokens(7),
            "Budget { kind: \"tokens\", balance: 7.0, .. }",
        ),
        (
            Budget::grpc(8, 0.1),
            "Budget { kind: \"grpc\", balance: 8.0, .. }",
        ),
    ] {
        assert_eq!(format!("{budget:?}"), expected);
    }
}

/// Calls that all begin before the first of them fails.
#[test]
fn requests_before_the_first_failure() {
    for calls in [1_u32, 10, 50, 1000] {
        let (budget, clock) = (
            Budget::per_request(1.0).floor(0.0).initial(0),
            Hand::from(0),
        );
        let mut accounts: Vec<_> = (0..calls)
            .map(|_| budget.account_with_clock(&clock))
            .collect();
        for account in &mut accounts {
            assert!(
                account.withdraw_with_clock(FailureClass::Failed, &clock),
                "{calls}"
            );
            account.spend();
        }
        let mut last = budget.account_with_clock(&clock);
        assert!(last.withdraw_with_clock(FailureClass::Failed, &clock));
    }
}
