//! The loop of a sync function.

use core::time::Duration;

use super::Until;
use crate::attempt::{Cause, Retry};
use crate::call::{Call, Step, Surroundings};
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::timer::{Blocking, Clock};
use crate::verdict::Verdict;

// One attempt. `FnMut`, because a body that could run only once can't be
// retried: the compiler then points at the parameter that the body moves.
#[inline(always)]
pub fn attempt<R>(mut body: impl FnMut() -> R) -> R {
    body()
}

struct Around<'a, C> {
    until: Until,
    clock: &'a C,
}

impl<C: Clock> Surroundings for Around<'_, C> {
    #[inline(always)]
    fn remaining(&self) -> Option<Duration> {
        self.until.remaining(self.clock)
    }

    #[inline(always)]
    fn random(&self) -> u64 {
        self.clock.random()
    }
}

// After a failed attempt: the retry that comes, or the end.
#[inline(always)]
pub fn failed<'a, E: ?Sized>(
    call: &mut Call,
    operation: &'a Operation,
    until: Until,
    clock: &impl Clock,
    cause: Cause<'a, E>,
    verdict: Verdict,
) -> Result<Retry<'a, E>, Interrupted> {
    match call.failed(operation.policy(), verdict, &Around { until, clock }) {
        Step::Retry(delay) => Ok(Retry {
            operation,
            attempt: call.failures(),
            delay,
            cause,
        }),
        Step::GiveUp(reason) => Err(Interrupted::new(reason, call.failures())),
    }
}

#[inline(always)]
pub fn sleep(delay: Duration, timer: &impl Blocking) {
    if !delay.is_zero() {
        timer.sleep(delay);
    }
}
