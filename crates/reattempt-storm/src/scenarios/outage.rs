//! What a budget lets through: when everything fails, when a share does, when little does.
//!
//! One process makes one call after the other. The floor of its budget is 0 wherever a bound is to be shown,
//! because a floor allows retries that no call has earned.

use std::time::Duration;

use retry_runtime::{Backoff, Budget, Policy, Verdict};

use crate::client::Client;
use crate::clock::Virtual;
use crate::figures::{Expected, Figure};

/// Attempts for each call, and the share of the calls that succeeded.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    attempts: f64,
    succeeded: f64,
}

/// `calls` of this client, one a millisecond or slower, of whose attempts `faults` fail.
fn run(client: &Client, calls: u32, faults: f64) -> Outcome {
    let clock = Virtual::new(1);
    let (mut attempts, mut succeeded) = (0_u32, 0_u32);
    for _ in 0..calls {
        let (made, success) = client.run(&clock, || {
            if clock.happens(faults) {
                Err(Verdict::Transient)
            } else {
                Ok(())
            }
        });
        attempts = attempts.saturating_add(made);
        succeeded = succeeded.saturating_add(u32::from(success));
        clock.sleep(Duration::from_millis(1));
    }
    Outcome {
        attempts: f64::from(attempts) / f64::from(calls),
        succeeded: f64::from(succeeded) / f64::from(calls),
    }
}

/// Attempts for each call of an outage with this budget: no less than what it has to allow, no more than what it may.
fn bounded(id: &'static str, ratio: f64, budget: impl Fn(u32) -> Budget) -> Vec<Figure> {
    let policy = Policy::new().base(Duration::from_millis(10));
    let mut figures = Vec::new();
    for (calls, initial) in [(1_000, 0), (1_000, 10), (1_000, 100), (20_000, 10)] {
        let client = Client::new(policy.without_budget()).budget(budget(initial));
        let limit = 1.0 + ratio + f64::from(initial) / f64::from(calls);
        let case = format!("total outage, {calls} calls, {initial} at the start: attempts/calls");
        let outcome = run(&client, calls, 1.0);
        // A token that is not whole yet is not spent.
        let least = limit - 1.0 / f64::from(calls);
        let expected = Expected::Between(least, limit);
        figures.push(Figure::new(id, case, expected, outcome.attempts));
    }
    figures
}

/// Q1: everything fails, and a tenth of the calls may be retried.
pub fn per_request() -> Vec<Figure> {
    bounded("Q1", 0.1, |initial| {
        Budget::per_request(0.1).floor(0.0).initial(initial)
    })
}

/// Q2: everything fails, and only successes would earn retries.
pub fn per_success() -> Vec<Figure> {
    bounded("Q2", 0.0, |initial| {
        Budget::per_success(0.1).floor(0.0).initial(initial)
    })
}

/// Q3: a share `p` of the attempts fails, and calls would go on until they succeed: the budget decides. Each call
/// comes to `a` attempts, of which `a(1-p)` succeed and earn `r` each: `a = 1 + r a (1-p)`.
pub fn saturated() -> Vec<Figure> {
    let policy = Policy::new().max(1_000).backoff(Backoff::None);
    let mut figures = Vec::new();
    for ratio in [0.1, 0.3] {
        for faults in [0.4, 0.5, 0.6, 0.8] {
            let budget = Budget::per_success(ratio).floor(0.0).initial(0);
            let outcome = run(
                &Client::new(policy.without_budget()).budget(budget),
                50_000,
                faults,
            );
            let expected = Expected::Near {
                value: 1.0 / (1.0 - ratio * (1.0 - faults)),
                share: 0.02,
            };
            let case = format!("{faults} of the attempts fail, budget {ratio}: attempts/calls");
            figures.push(Figure::new("Q3", case, expected, outcome.attempts));
        }
    }
    figures
}

/// Q4: few failures, each by itself: the budget does not get in the way.
pub fn independent() -> Vec<Figure> {
    let policy = Policy::new().max(3).base(Duration::from_millis(10));
    let outcome = run(
        &Client::new(policy.without_budget()).budget(Budget::per_success(0.1)),
        100_000,
        0.05,
    );
    let case = "0.05 of the attempts fail, max 3, budget 0.1: share of successes".to_owned();
    let expected = Expected::AtLeast(0.999);
    vec![Figure::new("Q4", case, expected, outcome.succeeded)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::assert_met;

    #[test]
    fn q1_per_request() {
        assert_met(&per_request());
    }

    #[test]
    fn q2_per_success() {
        assert_met(&per_success());
    }

    #[test]
    fn q3_saturated() {
        assert_met(&saturated());
    }

    #[test]
    fn q4_independent_faults() {
        assert_met(&independent());
    }

    #[test]
    fn without_a_budget_every_call_makes_all_its_attempts() {
        let outcome = run(&Client::new(Policy::new().without_budget()), 100, 1.0);
        assert_eq!((outcome.attempts, outcome.succeeded), (3.0, 0.0));
    }
}
