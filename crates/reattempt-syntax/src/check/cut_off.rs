//! `cut_off = false`: a deadline leaves an attempt running, and is tested between attempts.

use reattempt_policy::rules::RuleId;

use super::limits;
use crate::args::Args;
use crate::diagnostics::Diagnostics;

/// Whether a call may be ended where it has no error of its own.
pub(super) fn cut_off(args: &Args, faults: &mut Diagnostics) -> bool {
    let Some(value) = &args.cut_off else {
        return true;
    };
    if super::is_on(Some(value), "cut_off", faults) {
        return true;
    }
    let timeout = args
        .timeout
        .as_ref()
        .map(|timeout| ("timeout", timeout.key));
    let mut ends = limits::gates(args).chain(timeout).peekable();
    if ends.peek().is_none() && args.deadline.is_none() && args.policy.is_none() {
        faults.push(
            value.key,
            RuleId::X17,
            "`cut_off = false` matters only for a limit on time, and this policy has none; drop it, or write a `deadline`",
        );
    }
    for (key, place) in ends {
        faults.push(
            place,
            RuleId::S5,
            format!("`{key}` ends a call that may have no error, and `cut_off = false` forbids that; replace `cut_off = false` by `map_err = |error: reattempt::RetryError<E>| ...`, or drop `{key}`"),
        );
    }
    false
}
