//! The timer of a call that names none. In a browser a sync call has none.

#[cfg(any(not(feature = "std"), target_os = "unknown"))]
use super::{Clock, Timestamp};

/// The timer of a sync call without the key `timer`.
#[cfg(all(feature = "std", not(target_os = "unknown")))]
pub type BlockingDefault = super::ThreadTimer;
/// Named by the error message of a build without a timer.
#[cfg(any(not(feature = "std"), target_os = "unknown"))]
pub type BlockingDefault = NoTimer;

/// The timer of an async call without the key `timer`.
#[cfg(feature = "std")]
pub type AsyncDefault = super::DefaultTimer;
#[cfg(not(feature = "std"))]
/// Named by the error message of a build without a timer.
pub type AsyncDefault = NoTimer;

#[cfg(all(feature = "std", not(target_os = "unknown")))]
/// The timer of a sync call without the key `timer`.
pub const BLOCKING_TIMER: BlockingDefault = super::ThreadTimer;
#[cfg(any(not(feature = "std"), target_os = "unknown"))]
/// The timer of a sync call without the key `timer`.
pub const BLOCKING_TIMER: BlockingDefault = NoTimer;

#[cfg(feature = "std")]
/// The timer of an async call without the key `timer`.
pub const ASYNC_TIMER: AsyncDefault = super::DefaultTimer;
#[cfg(not(feature = "std"))]
/// The timer of an async call without the key `timer`.
pub const ASYNC_TIMER: AsyncDefault = NoTimer;

/// The placeholder for a timer in a build without `std`, and for that of a sync call in a browser.
#[cfg(any(not(feature = "std"), target_os = "unknown"))]
#[derive(Debug, Clone, Copy)]
pub struct NoTimer;

#[cfg(any(not(feature = "std"), target_os = "unknown"))]
impl Clock for NoTimer {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(core::time::Duration::ZERO)
    }
}
