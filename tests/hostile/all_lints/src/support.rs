//! What the functions of this folder have in common.

use core::time::Duration;

use reattempt::timer::{BlockingTimer, Clock, Timer, Timestamp};
use reattempt::{Classify, GaveUp, Jitter, Policy, Verdict};

/// What can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Try again.
    Busy,
    /// Out of time.
    Over,
    /// Never again.
    Wrong,
}

impl Classify for Fault {
    #[inline]
    fn classify(&self) -> Verdict {
        match *self {
            Self::Busy => Verdict::Transient,
            Self::Over | Self::Wrong => Verdict::Permanent,
        }
    }
}

impl From<GaveUp> for Fault {
    #[inline]
    fn from(_: GaveUp) -> Self {
        Self::Over
    }
}

/// Attempts.
pub const MAX: u32 = 4;
/// A delay.
pub const BASE: Duration = Duration::from_millis(2);
/// A shared policy.
pub const POLICY: Policy = Policy::new().max(MAX).base(BASE).jitter(Jitter::None);

/// A timer of the user's own.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Still;

impl Clock for Still {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::ZERO)
    }

    #[inline]
    fn random(&self) -> u64 {
        0
    }
}

impl BlockingTimer for Still {
    #[inline]
    fn sleep(&self, _: Duration) {}
}

impl Timer for Still {
    type Sleep = core::future::Ready<()>;

    #[inline]
    fn sleep(&self, _: Duration) -> Self::Sleep {
        core::future::ready(())
    }
}

/// A hook.
#[inline]
pub const fn seen(retry: &reattempt::Retry<'_, Fault>) {
    let _: u32 = retry.attempt();
}

/// A predicate.
#[must_use]
#[inline]
pub const fn is_busy(fault: &Fault) -> bool {
    matches!(*fault, Fault::Busy)
}

/// The delay that a fault asks for.
#[must_use]
#[inline]
pub const fn wait(_: &Fault) -> Duration {
    BASE
}

/// A predicate.
#[inline]
pub fn is_final<T: PartialOrd<u32>>(value: &T) -> bool {
    *value > 3
}
