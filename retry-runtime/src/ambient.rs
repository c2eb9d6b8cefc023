//! What the code that runs on this thread inherits from the calls around it: a deadline, and how often the nearest
//! call that is retrying has failed. Set for a sync attempt and for each poll of an async one, put back afterwards,
//! also by a panic. `deadline` is the public side.

use core::marker::PhantomData;
use core::time::Duration;

use crate::call::Call;
use crate::engine::Until;
use crate::nesting::VisibleMarks;
use crate::timer::{Clock, Timestamp};

#[derive(Debug, Clone, Copy)]
struct Inherited {
    /// On the clock of [`now`].
    until: Timestamp,
    /// Whoever set the deadline cuts off what runs under it.
    #[cfg_attr(
        not(feature = "std"),
        expect(dead_code, reason = "nothing is inherited")
    )]
    is_enforced: bool,
    /// Failed attempts of the nearest call that is retrying.
    retries: u32,
}

impl Inherited {
    const NOTHING: Self = Self {
        until: Timestamp::ENDLESS,
        is_enforced: false,
        retries: 0,
    };
}

/// Returns the inherited deadline, on the clock of [`now`].
#[inline(always)]
pub(crate) fn until() -> Timestamp {
    inherited().until
}

/// Returns the time left until the inherited deadline; `None` without one.
#[inline]
pub(crate) fn remaining() -> Option<Duration> {
    let until = until();
    (!until.is_endless()).then(|| until.since(now()))
}

/// Returns `at`, a timestamp of `clock`, on the clock of [`now`].
pub(crate) fn on_shared_clock(clock: &impl Clock, at: Timestamp) -> Timestamp {
    if at.is_endless() || clock.carries_deadlines() {
        return at;
    }
    now().after(at.since(clock.now()))
}

/// Returns the inherited deadline that an attempt here has to enforce itself. One that is enforced already is left to
/// whom it belongs, who then can say that it was cut off.
#[cfg(feature = "std")]
pub(crate) fn unenforced() -> Timestamp {
    let inherited = inherited();
    if inherited.is_enforced {
        Timestamp::ENDLESS
    } else {
        inherited.until
    }
}

/// Returns the time left until then.
#[cfg(feature = "std")]
pub(crate) fn remaining_unenforced() -> Option<Duration> {
    let until = unenforced();
    (!until.is_endless()).then(|| until.since(now()))
}

/// Returns how many attempts of the nearest call that is retrying have failed; 0 without one.
#[inline(always)]
pub(crate) fn retries() -> u32 {
    inherited().retries
}

/// What the code on this thread inherits until this is dropped.
#[must_use = "dropped at once it changes nothing"]
#[derive(Debug)]
pub(crate) struct Inside<'c> {
    before: Inherited,
    /// Those of the call whose retry this is.
    #[expect(dead_code, reason = "visible until it is dropped")]
    marks: Option<VisibleMarks<'c>>,
    this_thread: PhantomData<*const ()>,
}

impl<'c> Inside<'c> {
    #[inline(always)]
    fn change(
        marks: Option<VisibleMarks<'c>>,
        change: impl FnOnce(Inherited) -> Inherited,
    ) -> Self {
        let before = inherited();
        inherit(change(before));
        Self {
            before,
            marks,
            this_thread: PhantomData,
        }
    }

    /// Begins an attempt of `call`, which ends at `until`.
    #[inline(never)]
    pub(crate) fn attempt(
        call: &'c mut Call,
        until: Until,
        is_enforced: bool,
        clock: &impl Clock,
    ) -> Self {
        let until = on_shared_clock(clock, until.timestamp());
        let retries = call.retries();
        let is_outermost = inherited().retries == 0;
        let marks = (retries > 0).then(|| VisibleMarks::new(call, is_outermost));
        Self::change(marks, |before| Inherited {
            retries: if retries > 0 { retries } else { before.retries },
            ..before.shrunk(until, is_enforced)
        })
    }

    /// Sets a deadline. Deadlines only shrink: the earlier one holds.
    #[inline(always)]
    pub(crate) fn deadline(until: Timestamp, is_enforced: bool) -> Self {
        Self::change(None, |before| before.shrunk(until, is_enforced))
    }

    /// Sets how often the nearest call that is retrying has failed.
    #[cfg(feature = "std")]
    pub(crate) fn retries(retries: u32) -> Self {
        Self::change(None, |before| Inherited { retries, ..before })
    }

    /// Inherits no deadline.
    #[cfg(feature = "std")]
    pub(crate) fn no_deadline() -> Self {
        Self::change(None, |before| Inherited {
            retries: before.retries,
            ..Inherited::NOTHING
        })
    }
}

/// A retry under an unchanged deadline, until this is dropped. It saves four bytes where [`Inside`] saves sixteen.
#[must_use = "dropped at once it changes nothing"]
#[derive(Debug)]
pub(crate) struct InsideRetry<'c> {
    before: u32,
    #[expect(dead_code, reason = "visible until it is dropped")]
    marks: VisibleMarks<'c>,
    this_thread: PhantomData<*const ()>,
}

impl<'c> InsideRetry<'c> {
    /// Begins a retry of `call`.
    #[inline(always)]
    pub(crate) fn new(call: &'c mut Call) -> Self {
        let before = inherited();
        inherit(Inherited {
            retries: call.retries(),
            ..before
        });
        Self {
            before: before.retries,
            marks: VisibleMarks::new(call, before.retries == 0),
            this_thread: PhantomData,
        }
    }
}

impl Drop for InsideRetry<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        inherit(Inherited {
            retries: self.before,
            ..inherited()
        });
    }
}

impl Inherited {
    #[inline(always)]
    fn shrunk(self, until: Timestamp, is_enforced: bool) -> Self {
        if until < self.until {
            Self {
                until,
                is_enforced,
                ..self
            }
        } else {
            self
        }
    }
}

// Out of line: the address of the thread's variable takes no register from a call that succeeds at once.
impl Drop for Inside<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        inherit(self.before);
    }
}

#[cfg(feature = "std")]
pub(crate) use reattempt_core::process::now;
#[cfg(feature = "std")]
use with_threads::{inherit, inherited};

#[cfg(feature = "std")]
mod with_threads {
    use std::cell::Cell;

    use super::Inherited;
    // On some platforms it cannot be read in the last moments of a thread: nothing is inherited then.
    thread_local! {
        static INHERITED: Cell<Inherited> = const { Cell::new(Inherited::NOTHING) };
    }

    #[inline(always)]
    pub(super) fn inherited() -> Inherited {
        let mut inherited = Inherited::NOTHING;
        let _read = INHERITED.try_with(|now| inherited = now.get());
        inherited
    }

    #[inline(always)]
    pub(super) fn inherit(inherited: Inherited) {
        let _set = INHERITED.try_with(|now| now.set(inherited));
    }
}

#[cfg(not(feature = "std"))]
pub(crate) use without_threads::now;
#[cfg(not(feature = "std"))]
use without_threads::{inherit, inherited};

/// Nowhere to keep it: every call stands alone.
#[cfg(not(feature = "std"))]
mod without_threads {
    use super::Inherited;
    use crate::timer::Timestamp;

    #[inline(always)]
    pub(super) const fn inherited() -> Inherited {
        Inherited::NOTHING
    }

    #[inline(always)]
    pub(super) const fn inherit(_: Inherited) {}

    pub(crate) const fn now() -> Timestamp {
        Timestamp::ENDLESS
    }
}
