//! What the table of a policy says of the code of an error: the key `codes`.

use core::time::Duration;

use crate::policy::Policy;
use crate::verdict::Verdict;
use reattempt_policy::{Codes, Meaning, OnCode};

/// Returns the verdict under this policy on an error that has this one without it, and the least unit of the delay after it.
#[inline(always)]
pub(super) fn judge_by_code(
    policy: &Policy,
    verdict: Verdict,
    has_code: &dyn Fn(&str) -> bool,
) -> (Verdict, Option<Duration>) {
    // Folds away under a constant policy.
    if policy.has_codes() {
        by_table(policy.values.codes, verdict, has_code)
    } else {
        (verdict, None)
    }
}

#[cold]
#[inline(never)]
fn by_table(
    codes: Codes,
    verdict: Verdict,
    has_code: &dyn Fn(&str) -> bool,
) -> (Verdict, Option<Duration>) {
    match codes.find(has_code) {
        // The service knows better than a table.
        Some(row) if verdict != Verdict::RetryForbidden => (
            verdict_of(row).after(verdict.requested_delay()),
            row.least_base(),
        ),
        _ => (verdict, None),
    }
}

/// Returns the verdict that the table of the policy has on an answer that is a success without it; `None` if it is one with it,
/// too.
#[inline(always)]
pub fn by_code_alone(policy: &Policy, has_code: &dyn Fn(&str) -> bool) -> Option<Verdict> {
    if !policy.has_codes() {
        return None;
    }
    let (verdict, _) = by_table(policy.values.codes, Verdict::Permanent, has_code);
    verdict.is_retryable().then_some(verdict)
}

fn verdict_of(row: &OnCode) -> Verdict {
    match row.meaning() {
        Meaning::Transient => Verdict::Transient,
        Meaning::Throttled => Verdict::Throttled(None),
        Meaning::Refused => Verdict::Refused,
        Meaning::Permanent => Verdict::Permanent,
    }
}
