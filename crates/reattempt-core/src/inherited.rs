//! The deadline that is around this code, and the clock on which it travels.

use core::time::Duration;

use crate::around::{Bounds, inherited};
use crate::time::Clock;
use crate::timestamp::Timestamp;

#[cfg(feature = "std")]
pub use crate::process::now;

/// No clock is shared: every call stands alone.
#[cfg(not(feature = "std"))]
pub const fn now() -> Timestamp {
    Timestamp::ENDLESS
}

/// Returns the inherited deadline, on the clock of [`now`].
#[inline(always)]
pub fn until() -> Timestamp {
    inherited().until()
}

/// Returns the time left until the inherited deadline; `None` without one.
#[inline]
pub fn remaining() -> Option<Duration> {
    let until = until();
    (!until.is_endless()).then(|| until.since(now()))
}

/// Returns the inherited deadline that an attempt here has to enforce itself. One that is enforced is left to the
/// attempt that set it, which can say that it cut this one off.
#[cfg(feature = "std")]
pub fn unenforced() -> Timestamp {
    let inherited = inherited();
    if inherited.is_enforced() {
        Timestamp::ENDLESS
    } else {
        inherited.until()
    }
}

/// Returns the time left until then.
#[cfg(feature = "std")]
pub fn remaining_unenforced() -> Option<Duration> {
    let until = unenforced();
    (!until.is_endless()).then(|| until.since(now()))
}

/// Returns these bounds, of which the deadline is a timestamp of `clock`, on the clock of [`now`].
#[inline(always)]
pub fn on_shared_clock(clock: &impl Clock, bounds: Bounds) -> Bounds {
    if clock.carries_deadlines() {
        return bounds;
    }
    bounds.moved(|at| now().after(at.since(clock.now())))
}
