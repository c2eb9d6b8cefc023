//! The timer of a policy that names none, and what a call reads of it.

use core::time::Duration;

use super::remaining;
use crate::attempt::Attempt;
use crate::policy::Policy;
use crate::timer::{Clock, Moment};

// The timer of a policy without `timer`.
#[cfg(feature = "std")]
pub const BLOCKING_TIMER: crate::timer::Threads = crate::timer::Threads;

#[cfg(feature = "tokio")]
pub const ASYNC_TIMER: crate::timer::Tokio = crate::timer::Tokio;

#[cfg(all(feature = "smol", not(feature = "tokio")))]
pub const ASYNC_TIMER: crate::timer::Smol = crate::timer::Smol;

// Named by the error message of a build without a timer.
#[cfg(not(feature = "std"))]
pub const BLOCKING_TIMER: NoTimer = NoTimer;

#[cfg(not(any(feature = "tokio", feature = "smol")))]
pub const ASYNC_TIMER: NoTimer = NoTimer;

#[cfg(not(any(feature = "tokio", feature = "smol")))]
#[derive(Debug, Clone, Copy)]
pub struct NoTimer;

#[cfg(not(any(feature = "tokio", feature = "smol")))]
impl Clock for NoTimer {
    fn now(&self) -> Moment {
        Moment::from_origin(Duration::ZERO)
    }
}

// The policy's own deadline as a moment; eight bytes, for the futures that keep it.
#[derive(Debug, Clone, Copy)]
pub struct Until(Moment);

impl Until {
    pub const NEVER: Self = Self(Moment::ENDLESS);

    #[inline(always)]
    pub fn start(policy: &Policy, clock: &impl Clock) -> Self {
        match policy.deadline {
            Some(deadline) => Self(clock.now().after(deadline)),
            None => Self::NEVER,
        }
    }

    // The same for one attempt, which may have a limit of its own.
    #[inline(always)]
    #[must_use]
    pub fn of_attempt(self, policy: &Policy, clock: &impl Clock) -> Self {
        match policy.timeout {
            Some(timeout) => Self(self.0.min(clock.now().after(timeout))),
            None => self,
        }
    }

    #[inline(always)]
    pub(super) const fn moment(self) -> Moment {
        self.0
    }

    #[inline(always)]
    pub(crate) const fn is_never(self) -> bool {
        self.0.is_endless()
    }

    #[inline(always)]
    pub(super) fn remaining(self, clock: &impl Clock) -> Option<Duration> {
        (!self.is_never()).then(|| self.0.since(clock.now()))
    }
}

// What `context` needs from the start of the call on.
#[derive(Debug, Clone, Copy)]
pub struct Started {
    at: Moment,
    key: u128,
}

impl Started {
    pub fn now(clock: &impl Clock) -> Self {
        Self {
            at: clock.now(),
            key: u128::from(clock.random()) << 64 | u128::from(clock.random()),
        }
    }

    pub fn attempt(&self, failures: u32, until: Until, clock: &impl Clock) -> Attempt {
        Attempt {
            number: failures.saturating_add(1),
            elapsed: clock.now().since(self.at),
            remaining: remaining(until, clock),
            key: self.key,
        }
    }
}
