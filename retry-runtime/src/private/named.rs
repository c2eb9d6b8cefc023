//! The steps of a loop whose policy has a name. While nothing is held of the policy, nothing has failed and nothing
//! counts from the start; all that comes later is out of line, so that a success pays for one test.

use super::blocking::{attempt_until, wait};
use super::progress::failed;
use super::{Limits, Progress, Until, answered};
use crate::attempt::{Cause, Retry};
use crate::budget::Budget;
use crate::config::Live;
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::timer::{Blocking, Clock};
use crate::verdict::Verdict;

#[inline(always)]
pub fn until_named(operation: &Live, clock: &impl Clock) -> Until {
    if operation.is_idle() {
        return Until::NEVER;
    }
    start(operation, clock)
}

#[inline(never)]
fn start(operation: &Operation, clock: &impl Clock) -> Until {
    Until::start(operation.policy(), clock)
}

// The budget of the policy when the call began, whatever the policy is later.
#[inline(always)]
pub fn paying_named(operation: &Live) -> Option<super::Purse<'static, &'static Budget>> {
    if operation.is_idle() {
        return None;
    }
    operation.policy().budget.map(super::paying)
}

// By reference: the progress is looked at only where it matters.
#[inline(always)]
pub fn attempt_named<R>(
    operation: &Live,
    progress: &impl Progress,
    until: Until,
    clock: &impl Clock,
    mut body: impl FnMut() -> R,
) -> R {
    if operation.is_idle() {
        return body();
    }
    held(*progress, until, clock, body)
}

#[inline(never)]
fn held<R>(
    progress: impl Progress,
    until: Until,
    clock: &impl Clock,
    body: impl FnMut() -> R,
) -> R {
    attempt_until(progress, until, clock, body)
}

#[inline(always)]
pub fn answered_named<R>(
    answer: R,
    limits: &mut impl Limits,
    operation: &Live,
    clock: &impl Clock,
) -> R {
    if operation.is_idle() {
        return answer;
    }
    answered(answer, limits, operation, clock)
}

#[cold]
#[inline(never)]
#[cfg_attr(feature = "tracing", track_caller)]
pub fn wait_named<B: Blocking>(
    progress: &mut impl Progress,
    operation: &Operation,
    until: Until,
    timer: &B,
    verdict: Verdict,
    limits: &mut impl Limits,
) -> Result<(), Interrupted> {
    wait(progress, operation, until, timer, verdict, limits)
}

#[cold]
#[inline(never)]
pub fn failed_named<'a, E: ?Sized>(
    progress: &mut impl Progress,
    operation: &'a Operation,
    until: Until,
    clock: &impl Clock,
    cause: Cause<'a, E>,
    verdict: Verdict,
    limits: &mut impl Limits,
) -> Result<Retry<'a, E>, Interrupted> {
    failed(progress, operation, until, clock, cause, verdict, limits)
}
