//! The timer of a policy that names none, and what a call reads of it.

#[cfg(all(
    feature = "std",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
use std::sync::OnceLock;

use crate::attempt::Attempt;
#[cfg(all(
    feature = "std",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
use crate::attempt::IdempotencyKey;
use crate::engine::{LiveCall, Place, Until};
use crate::timer::{Clock, Timestamp};

/// The timer of a sync call without the key `timer`.
#[cfg(feature = "std")]
pub type BlockingDefault = crate::timer::ThreadTimer;
/// Named by the error message of a build without a timer.
#[cfg(not(feature = "std"))]
pub type BlockingDefault = NoTimer;

/// The timer of an async call without the key `timer`.
#[cfg(feature = "std")]
pub type AsyncDefault = crate::timer::DefaultTimer;
#[cfg(not(feature = "std"))]
pub type AsyncDefault = NoTimer;

#[cfg(feature = "std")]
pub const BLOCKING_TIMER: BlockingDefault = crate::timer::ThreadTimer;
#[cfg(not(feature = "std"))]
pub const BLOCKING_TIMER: BlockingDefault = NoTimer;

#[cfg(feature = "std")]
pub const ASYNC_TIMER: AsyncDefault = crate::timer::DefaultTimer;
#[cfg(not(feature = "std"))]
pub const ASYNC_TIMER: AsyncDefault = NoTimer;

/// What a build without `std` has in place of a timer.
#[cfg(not(feature = "std"))]
#[derive(Debug, Clone, Copy)]
pub struct NoTimer;

#[cfg(not(feature = "std"))]
impl Clock for NoTimer {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(core::time::Duration::ZERO)
    }
}

/// What `context` needs from the start of the call on.
#[derive(Debug)]
pub struct Started {
    pub(crate) at: Timestamp,
    /// The key, once it was asked for.
    #[cfg(all(
        feature = "std",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    key: OnceLock<[u8; 16]>,
}

impl Started {
    /// Returns the start of a call that begins now.
    pub fn now(clock: &impl Clock) -> Self {
        Self {
            at: clock.now(),
            #[cfg(all(
                feature = "std",
                not(all(target_family = "wasm", target_os = "unknown"))
            ))]
            key: OnceLock::new(),
        }
    }

    /// Returns the key of the call, which is drawn when it is first asked for.
    #[cfg(all(
        feature = "std",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    pub(crate) fn key(&self) -> IdempotencyKey {
        let unique = || reattempt_core::random::unique().to_be_bytes();
        IdempotencyKey(u128::from_be_bytes(*self.key.get_or_init(unique)))
    }

    /// Returns what the body of the next attempt sees.
    pub fn attempt(
        &self,
        call: &LiveCall<impl Place>,
        until: Until,
        clock: &impl Clock,
    ) -> Attempt<'_> {
        Attempt {
            number: call.failures().saturating_add(1),
            at: clock.now(),
            remaining: until.remaining(clock),
            started: self,
        }
    }
}
