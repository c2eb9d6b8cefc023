//! Sets what the code on this thread inherits: for a sync attempt, and for each poll of an async one. A guard puts back
//! what was there before, also after a panic.

use core::marker::PhantomData;

use crate::call::{Call, VisibleMarks};
use crate::inherited::{Inherited, inherit, inherited, on_shared_clock};
use crate::timer::{Clock, Timestamp};

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
        until: Timestamp,
        is_enforced: bool,
        clock: &impl Clock,
    ) -> Self {
        let until = on_shared_clock(clock, until);
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
    // Each operation of a debug build would have its own copy.
    #[cfg_attr(not(debug_assertions), inline(always))]
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
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        inherit(Inherited {
            retries: self.before,
            ..inherited()
        });
    }
}

// Out of line: the address of the thread's variable takes no register from a call that succeeds at once.
impl Drop for Inside<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        inherit(self.before);
    }
}
