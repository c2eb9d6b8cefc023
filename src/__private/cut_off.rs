//! What a policy may not have whose attempts are not cut off, or say that they move on.

use retry_runtime::Policy;

/// A constant policy under which an attempt says that it moves the work on.
#[track_caller]
pub const fn refuse_restarts(policy: &Policy) {
    if let Some(violation) = reattempt_policy::rules::restarts(policy.values()) {
        violation.refuse();
    }
}

/// A constant policy whose attempts are not to be cut off.
#[track_caller]
pub const fn refuse_timeout(policy: &Policy) {
    if policy.values().timeout.is_some() {
        reattempt_policy::rules::RuleId::S5.refuse(
            "`timeout` of the policy cancels an attempt, and `cut_off = false` forbids that; replace `cut_off = false` by `map_err = |error: reattempt::RetryError<E>| ...`, or drop `timeout` from the policy",
        );
    }
}
