//! How far a call has come, and the step after a failure: shared by the sync and
//! the async loop.

use core::time::Duration;

use super::Until;
use crate::attempt::{Cause, Retry};
use crate::call::{Call, GaveUp, Step, Surroundings};
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::policy::Policy;
use crate::timer::Clock;
use crate::verdict::Verdict;

// What a loop keeps from one attempt to the next.
pub trait Progress {
    fn failures(&self) -> u32;

    fn step(&mut self, policy: &Policy, verdict: Verdict, around: &impl Surroundings) -> Step;
}

// The number of failures alone: four bytes, which in a future lie beside its
// state. For policies whose delays do not look at the one before.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count(u32);

impl Count {
    #[inline(always)]
    pub const fn new() -> Self {
        Self(0)
    }
}

impl Progress for Count {
    #[inline(always)]
    fn failures(&self) -> u32 {
        self.0
    }

    #[inline(always)]
    fn step(&mut self, policy: &Policy, verdict: Verdict, around: &impl Surroundings) -> Step {
        let mut call = Call::resumed(self.0);
        let step = call.failed(policy, verdict, around);
        self.0 = call.failures();
        step
    }
}

impl Progress for Call {
    #[inline(always)]
    fn failures(&self) -> u32 {
        (*self).failures()
    }

    #[inline(always)]
    fn step(&mut self, policy: &Policy, verdict: Verdict, around: &impl Surroundings) -> Step {
        self.failed(policy, verdict, around)
    }
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
    progress: &mut impl Progress,
    operation: &'a Operation,
    until: Until,
    clock: &impl Clock,
    cause: Cause<'a, E>,
    verdict: Verdict,
) -> Result<Retry<'a, E>, Interrupted> {
    match progress.step(operation.policy(), verdict, &Around { until, clock }) {
        Step::Retry(delay) => Ok(Retry {
            operation,
            attempt: progress.failures(),
            delay,
            cause,
        }),
        Step::GiveUp(reason) => Err(Interrupted::new(reason, progress.failures())),
    }
}

// The end of a call whose attempt the deadline cut off.
pub fn cut_off(progress: &impl Progress) -> Interrupted {
    Interrupted::new(GaveUp::Deadline, progress.failures().saturating_add(1))
}
