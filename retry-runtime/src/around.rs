//! What is around the code that runs on this thread: how often the nearest call that is retrying has failed, a
//! deadline, and how many operations have been marked. Guards set it, for a sync attempt and for each poll of an async
//! one, and put back what was there before, also after a panic. `deadline` and `nesting` are the public side.

use core::marker::PhantomData;
use core::time::Duration;

use crate::timer::{Clock, Timestamp};
use reattempt_core::around as thread;

pub(crate) use reattempt_core::around::{Bounds, BoundsScope, is_plain, is_quiet, marks, retries};
#[cfg(feature = "std")]
pub(crate) use reattempt_core::around::{add_mark, begun_at, is_low, replace_begun, show_marks};
#[cfg(feature = "std")]
pub(crate) use reattempt_core::process::now;

/// No clock is shared: every call stands alone.
#[cfg(not(feature = "std"))]
pub(crate) const fn now() -> Timestamp {
    Timestamp::ENDLESS
}

/// Returns the inherited deadline, on the clock of [`now`].
#[inline(always)]
pub(crate) fn until() -> Timestamp {
    thread::inherited().until()
}

/// Returns the time left until the inherited deadline; `None` without one.
#[inline]
pub(crate) fn remaining() -> Option<Duration> {
    let until = until();
    (!until.is_endless()).then(|| until.since(now()))
}

/// Returns the inherited deadline that an attempt here has to enforce itself. One that is enforced is left to the
/// attempt that set it, which can say that it cut this one off.
#[cfg(feature = "std")]
pub(crate) fn unenforced() -> Timestamp {
    let inherited = thread::inherited();
    if inherited.is_enforced() {
        Timestamp::ENDLESS
    } else {
        inherited.until()
    }
}

/// Returns the time left until then.
#[cfg(feature = "std")]
pub(crate) fn remaining_unenforced() -> Option<Duration> {
    let until = unenforced();
    (!until.is_endless()).then(|| until.since(now()))
}

/// Returns these bounds, of which the deadline is a timestamp of `clock`, on the clock of [`now`].
#[inline(always)]
pub(crate) fn on_shared_clock(clock: &impl Clock, bounds: Bounds) -> Bounds {
    if clock.carries_deadlines() {
        return bounds;
    }
    bounds.moved(|at| now().after(at.since(clock.now())))
}

/// What runs until this is dropped is inside a call that has failed so often.
#[must_use = "dropped at once it changes nothing"]
#[derive(Debug)]
pub(crate) struct RetryScope {
    before: u64,
    /// How many operations had been marked on this thread when it began.
    pub(crate) marks: u32,
    this_thread: PhantomData<*const ()>,
}

impl RetryScope {
    /// Sets the number of failures.
    #[inline(always)]
    pub(crate) fn new(failures: u32) -> Self {
        let (before, marks) = thread::begin_retry(failures);
        Self {
            before,
            marks,
            this_thread: PhantomData,
        }
    }
}

impl Drop for RetryScope {
    #[inline(always)]
    fn drop(&mut self) {
        thread::end_retry(self.before);
    }
}
