//! The budget of an operation that names none.

use core::time::Duration;

use reattempt_core::Timestamp;

use crate::budget::refund::{Payment, RefundBudget, passed};

fn at(seconds: f64) -> Timestamp {
    Timestamp::from_origin(Duration::from_secs_f64(100.0 + seconds))
}

/// Takes all tokens of 4 in the first second.
fn emptied() -> RefundBudget {
    let budget = RefundBudget::new();
    for _ in 0..4 {
        assert_eq!(budget.pay(4, false, at(0.0)), Payment::Paid);
    }
    budget
}

/// Of 4 tokens.
fn is_left(budget: &RefundBudget, tokens: f64) -> bool {
    (budget.balance(4) - tokens).abs() < 1e-9
}

#[test]
fn a_lone_call_is_never_refused() {
    for max in [1, 3, 5, 6, 20, 1000] {
        let (budget, capacity) = (RefundBudget::new(), RefundBudget::capacity(max));
        for retry in 1..max {
            let payment = budget.pay(capacity, retry == 1, at(f64::from(retry) * 5.0));
            assert_eq!(payment, Payment::Paid, "{retry} of {max}");
        }
    }
}

#[test]
fn the_first_second_is_free() {
    let budget = emptied();
    assert_eq!(budget.pay(4, false, at(0.999)), Payment::Free);
    assert_eq!(budget.pay(4, false, at(1.0)), Payment::Refused);
    assert!(is_left(&budget, 0.01), "a second brings a little");
}

/// A call that its retries have helped brings back what they cost.
#[test]
fn who_succeeds_pays_nothing() {
    let budget = emptied();
    budget.succeeded(3);
    assert!(is_left(&budget, 3.3));
    budget.succeeded(0);
    budget.succeeded(0);
    assert!(!budget.is_full());
    budget.succeeded(0);
    assert!(budget.is_full(), "what exceeds the tokens is lost");
}

/// The next fault finds all tokens there: it has a second of its own.
#[test]
fn another_fault_has_a_free_second_too() {
    let budget = emptied();
    budget.succeeded(4);
    for _ in 0..4 {
        assert_eq!(budget.pay(4, false, at(60.0)), Payment::Paid);
    }
    assert_eq!(budget.pay(4, false, at(60.5)), Payment::Free);
    assert_eq!(budget.pay(4, false, at(61.0)), Payment::Refused);
}

/// Nothing is shut for good: first failures bring 0.01, and so does each second.
#[test]
fn what_always_fails_retries_at_last() {
    let budget = emptied();
    let refused = (0..).take_while(|_| budget.pay(4, true, at(2.0)) == Payment::Refused);
    assert_eq!(refused.count(), 97, "2 s and 98 first failures are a token");
    let budget = emptied();
    assert_eq!(budget.pay(4, false, at(99.9)), Payment::Refused);
    assert_eq!(budget.pay(4, false, at(100.0)), Payment::Paid);
}

/// Threads read the clock in another order than they come here, and it wraps.
#[test]
fn time_that_goes_back_or_wraps_refuses_nobody() {
    let budget = emptied();
    assert_eq!(budget.pay(4, false, at(-0.5)), Payment::Free);
    assert_eq!(passed(u32::MAX, 999), 1000);
    assert_eq!(passed(5, 4), 0);
}

#[test]
fn a_retry_that_is_not_made_costs_nothing() {
    let budget = emptied();
    budget.give_back();
    assert!(is_left(&budget, 1.0));
    budget.reset();
    assert!(budget.is_full());
}

#[test]
fn a_refusal_is_reported_once_a_minute() {
    let budget = RefundBudget::new();
    let reports = [0.0, 1.0, 59.0, 60.0, 61.0, 120.0].map(|seconds| budget.may_report(at(seconds)));
    assert_eq!(reports, [true, false, false, true, false, true]);
}
