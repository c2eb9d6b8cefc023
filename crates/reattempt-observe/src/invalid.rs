//! What is reported of a policy of the running program that breaks a rule: once for each operation and rule.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use reattempt_policy::rules::{Consequence, Violation};

/// What is reported in all; of operations that come later nothing is.
const REPORTS: usize = 1000;

/// Reports that the policy of the operation with this id breaks a rule, unless that rule has been reported of it.
#[cold]
pub fn invalid_policy(
    id: u64,
    operation: impl FnOnce() -> &'static str,
    violation: &Violation,
    consequence: Consequence,
) {
    static REPORTED: Mutex<BTreeSet<(u64, &str)>> = Mutex::new(BTreeSet::new());

    // Not held while an observer runs, which may retry something itself.
    let is_new = {
        let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
        reported.len() < REPORTS && reported.insert((id, violation.rule().as_str()))
    };
    if !is_new {
        return;
    }
    let operation = operation();
    #[cfg(feature = "observers")]
    if crate::report::invalid_policy(operation, violation, consequence) {
        return;
    }
    // Without an observer the developer should hear of it; a release build does not write to the
    // standard error of a program that is not ours.
    if cfg!(debug_assertions) {
        complain(operation, violation, consequence);
    }
}

#[expect(clippy::print_stderr, reason = "nobody else hears of it")]
fn complain(operation: &str, violation: &Violation, consequence: Consequence) {
    eprintln!("{operation}: the policy breaks a rule, and {consequence}: {violation}");
}
