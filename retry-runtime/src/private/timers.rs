//! The timer of a policy that names none, and what a call reads of it.

use crate::attempt::Attempt;
use crate::engine::{LiveCall, Until};
use crate::timer::{Clock, Timestamp};

/// The timer of a sync call without the key `timer`.
#[cfg(feature = "std")]
pub type BlockingDefault = crate::timer::Threads;
/// Named by the error message of a build without a timer.
#[cfg(not(feature = "std"))]
pub type BlockingDefault = NoTimer;

/// The timer of an async call without the key `timer`.
#[cfg(feature = "tokio")]
pub type AsyncDefault = crate::timer::Tokio;
#[cfg(all(feature = "smol", not(feature = "tokio")))]
pub type AsyncDefault = crate::timer::Smol;
#[cfg(not(any(feature = "tokio", feature = "smol")))]
pub type AsyncDefault = NoTimer;

#[cfg(feature = "std")]
pub const BLOCKING_TIMER: BlockingDefault = crate::timer::Threads;
#[cfg(not(feature = "std"))]
pub const BLOCKING_TIMER: BlockingDefault = NoTimer;

#[cfg(feature = "tokio")]
pub const ASYNC_TIMER: AsyncDefault = crate::timer::Tokio;
#[cfg(all(feature = "smol", not(feature = "tokio")))]
pub const ASYNC_TIMER: AsyncDefault = crate::timer::Smol;
#[cfg(not(any(feature = "tokio", feature = "smol")))]
pub const ASYNC_TIMER: AsyncDefault = NoTimer;

#[cfg(not(any(feature = "tokio", feature = "smol")))]
#[derive(Debug, Clone, Copy)]
pub struct NoTimer;

#[cfg(not(any(feature = "tokio", feature = "smol")))]
impl Clock for NoTimer {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(core::time::Duration::ZERO)
    }
}

// What `context` needs from the start of the call on.
#[derive(Debug, Clone, Copy)]
pub struct Started {
    at: Timestamp,
    key: u128,
}

impl Started {
    pub fn now(clock: &impl Clock) -> Self {
        Self {
            at: clock.now(),
            key: u128::from(clock.random()) << 64 | u128::from(clock.random()),
        }
    }

    /// Returns what the body of the next attempt sees.
    pub fn attempt(&self, call: &LiveCall, until: Until, clock: &impl Clock) -> Attempt {
        Attempt {
            number: call.failures().saturating_add(1),
            elapsed: clock.now().since(self.at),
            remaining: until.remaining(clock),
            key: self.key,
        }
    }
}
