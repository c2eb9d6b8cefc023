//! What the loop of a sync function needs besides the step.

use core::time::Duration;

use super::progress::{general, immediate};
use super::{Admitted, Progress, Until, admit};
use crate::ambient::{self, Entered};
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::policy::Policy;
use crate::timer::{Blocking, Clock};
use crate::verdict::Verdict;

// One attempt. `FnMut`, because a body that could run only once can't be
// retried: the compiler then points at the parameter that the body moves.
#[inline(always)]
pub fn attempt<R>(progress: impl Progress, mut body: impl FnMut() -> R) -> R {
    let _inside = (progress.failures() > 0).then(|| retrying(progress.failures()));
    body()
}

#[cold]
#[inline(never)]
fn retrying(failures: u32) -> Entered {
    ambient::current().after(failures).enter()
}

// The same in a call that may have a deadline, which everything below sees.
#[inline(always)]
pub fn attempt_until<R>(
    progress: impl Progress,
    until: Until,
    clock: &impl Clock,
    mut body: impl FnMut() -> R,
) -> R {
    let surrounded = !until.is_never() || progress.failures() > 0;
    let _inside = surrounded.then(|| inside(until, clock, progress.failures()));
    body()
}

// A hook: under the deadline, but no attempt.
pub fn hooked<R>(until: Until, clock: &impl Clock, hook: impl FnOnce() -> R) -> R {
    let _inside = inside(until, clock, 0);
    hook()
}

#[inline(never)]
fn inside(until: Until, clock: &impl Clock, failures: u32) -> Entered {
    let ambient = ambient::current().after(failures);
    ambient.until(clock.travelling(until.moment())).enter()
}

// Makes the future of an attempt.
#[inline(always)]
pub fn made<F>(mut body: impl FnMut() -> F) -> F {
    body()
}

#[inline(always)]
#[cfg_attr(feature = "tracing", track_caller)]
pub fn sleep(delay: Duration, timer: &impl Blocking) {
    if !delay.is_zero() {
        #[cfg(feature = "tracing")]
        super::blocked::warn_in_async(core::panic::Location::caller());
        timer.sleep(delay);
    }
}

// The step of a loop whose retries nobody looks at. What follows the decision is
// one call out of line: a function that succeeds at once saves no registers for
// what only a retry needs.
#[inline(always)]
#[cfg_attr(feature = "tracing", track_caller)]
pub fn wait(
    progress: &mut impl Progress,
    operation: &Operation,
    until: Until,
    timer: &impl Blocking,
    verdict: Verdict,
) -> Result<(), Interrupted> {
    match admit(progress, operation, until, verdict)? {
        Admitted::Immediate => immediate(*progress, operation.policy(), true),
        Admitted::Exponential(retry) if ambient::current().is_none() => {
            exponential(operation.policy(), retry, timer);
            Ok(())
        }
        Admitted::Exponential(_) => waited(progress, operation, until, timer, None),
        Admitted::General(asked) => waited(progress, operation, until, timer, asked),
    }
}

#[cold]
#[inline(never)]
#[cfg_attr(feature = "tracing", track_caller)]
fn exponential(policy: &Policy, retry: u32, timer: &impl Blocking) {
    sleep(policy.draw_exponential(retry, || timer.random()), timer);
}

#[cold]
#[inline(never)]
#[cfg_attr(feature = "tracing", track_caller)]
fn waited(
    progress: &mut impl Progress,
    operation: &Operation,
    until: Until,
    timer: &impl Blocking,
    asked: Option<Duration>,
) -> Result<(), Interrupted> {
    sleep(general(progress, operation, until, timer, asked, true)?, timer);
    Ok(())
}
