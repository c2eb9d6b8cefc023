//! What the loop of a sync function needs besides the step.

use core::time::Duration;

use super::{Admitted, Progress, Until, admit, delay};
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::policy::Policy;
use crate::timer::Blocking;
use crate::verdict::Verdict;

// One attempt. `FnMut`, because a body that could run only once can't be
// retried: the compiler then points at the parameter that the body moves.
#[inline(always)]
pub fn attempt<R>(mut body: impl FnMut() -> R) -> R {
    body()
}

#[inline(always)]
pub fn sleep(delay: Duration, timer: &impl Blocking) {
    if !delay.is_zero() {
        timer.sleep(delay);
    }
}

// The step of a loop whose retries nobody looks at. What follows the decision is
// one call out of line: a function that succeeds at once saves no registers for
// what only a retry needs.
#[inline(always)]
pub fn wait(
    progress: &mut impl Progress,
    operation: &Operation,
    until: Until,
    timer: &impl Blocking,
    verdict: Verdict,
) -> Result<(), Interrupted> {
    match admit(progress, operation, until, verdict)? {
        Admitted::Immediate => Ok(()),
        Admitted::Exponential(retry) => {
            exponential(operation.policy(), retry, timer);
            Ok(())
        }
        admitted @ Admitted::General(_) => general(progress, operation, until, timer, admitted),
    }
}

#[cold]
#[inline(never)]
fn exponential(policy: &Policy, retry: u32, timer: &impl Blocking) {
    sleep(policy.draw_exponential(retry, || timer.random()), timer);
}

#[cold]
#[inline(never)]
fn general(
    progress: &mut impl Progress,
    operation: &Operation,
    until: Until,
    timer: &impl Blocking,
    admitted: Admitted,
) -> Result<(), Interrupted> {
    sleep(delay(progress, operation, until, timer, admitted)?, timer);
    Ok(())
}
