//! X6 of a call whose attempts may say that they moved on: it may start anew after each of them, so that its count bounds
//! nothing and its delays do not grow.

use core::time::Duration;

use super::checks::{self, PATIENT, SHORTEST_DELAY};
use super::fixes;
use super::{Key, RuleId, Severity, Violation};
use crate::text::Text;
use crate::values::Values;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Returns why `attempt.progress()` has no effect under `policy`: nothing else bounds the retries of a service that ends each
/// attempt after the first step.
pub const fn restarts(policy: &Values) -> Option<Violation> {
    if policy.decided || policy.max == 1 {
        return None;
    }
    // What comes at once comes once in a call.
    let (_, longest) = policy.fast_first(false).delay_bounds(0);
    let is_bounded = policy.deadline.is_some() || policy.has(Key::Budget);
    let is_fine = if checks::hammers(policy) {
        false
    } else {
        is_bounded || longest.as_nanos() >= PATIENT.as_nanos()
    };
    if is_fine {
        return None;
    }
    let text = Text::new().push("`progress()` starts the count and the delays anew, and the delay before the first retry is ");
    let text = if longest.as_nanos() < SHORTEST_DELAY.as_nanos() {
        text.push("none")
    } else {
        text.push("at most ").duration(longest, "")
    };
    let text = text.push(if policy.backoff.is_none() {
        "; write `backoff = \"exp\"` and `base = \"1s\"`"
    } else {
        "; write `base = \"1s\"`"
    });
    let text = if checks::hammers(policy) {
        text
    } else if fixes::is_accepted(&policy.deadline(HOUR)) {
        text.push(", or add `deadline = \"1h\"` or `budget = 0.1`")
    } else {
        text.push(", or add `budget = 0.1`")
    };
    Some(Violation::of_key(
        RuleId::X6,
        Severity::Unsafe,
        Key::Base,
        text,
    ))
}
