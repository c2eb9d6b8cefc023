//! What is around the code that runs on this thread: how often the nearest call that is retrying has failed, a
//! deadline, and how many operations have been marked. Guards set it, for a sync attempt and for each poll of an async
//! one, and put back what was there before, also after a panic. `deadline` and `nesting` are the public side.

use core::marker::PhantomData;
use core::time::Duration;

use crate::timer::{Clock, Timestamp};

#[cfg(feature = "std")]
pub(crate) use reattempt_core::process::now;
#[cfg(not(feature = "std"))]
pub(crate) use thread::now;
#[cfg(feature = "std")]
pub(crate) use thread::show_marks;
#[cfg(feature = "std")]
pub(crate) use thread::{add_mark, begun_at, replace_begun};
pub(crate) use thread::{is_quiet, is_unmarked, marks, retries};

/// A deadline of a caller, on the clock of [`now`].
#[derive(Debug, Clone, Copy)]
struct Deadline {
    until: Timestamp,
    /// The code that set it cuts off what runs under it.
    #[cfg_attr(
        not(feature = "std"),
        expect(dead_code, reason = "nothing is inherited")
    )]
    is_enforced: bool,
}

impl Deadline {
    const NONE: Self = Self {
        until: Timestamp::ENDLESS,
        is_enforced: false,
    };
}

/// Returns the inherited deadline, on the clock of [`now`].
#[inline(always)]
pub(crate) fn until() -> Timestamp {
    thread::deadline().until
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
    let deadline = thread::deadline();
    if deadline.is_enforced {
        Timestamp::ENDLESS
    } else {
        deadline.until
    }
}

/// Returns the time left until then.
#[cfg(feature = "std")]
pub(crate) fn remaining_unenforced() -> Option<Duration> {
    let until = unenforced();
    (!until.is_endless()).then(|| until.since(now()))
}

/// Returns `at`, a timestamp of `clock`, on the clock of [`now`].
pub(crate) fn on_shared_clock(clock: &impl Clock, at: Timestamp) -> Timestamp {
    if at.is_endless() || clock.carries_deadlines() {
        return at;
    }
    now().after(at.since(clock.now()))
}

/// What runs until this is dropped inherits this deadline, unless it inherits an earlier one.
#[must_use = "dropped at once it changes nothing"]
#[derive(Debug)]
pub(crate) struct DeadlineScope {
    before: Deadline,
    this_thread: PhantomData<*const ()>,
}

impl DeadlineScope {
    /// Sets a deadline.
    #[inline(always)]
    pub(crate) fn new(until: Timestamp, is_enforced: bool) -> Self {
        let before = thread::deadline();
        // A deadline only shrinks on the way down.
        if until < before.until {
            thread::set_deadline(Deadline { until, is_enforced });
        }
        Self {
            before,
            this_thread: PhantomData,
        }
    }

    /// Removes the deadline.
    #[cfg(feature = "std")]
    pub(crate) fn without() -> Self {
        let before = thread::deadline();
        thread::set_deadline(Deadline::NONE);
        Self {
            before,
            this_thread: PhantomData,
        }
    }
}

// Out of line: the address of the thread's variable takes no register from a call that succeeds at once.
impl Drop for DeadlineScope {
    #[inline(never)]
    fn drop(&mut self) {
        thread::set_deadline(self.before);
    }
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

/// The variable of the thread. Its word is 0 on nearly every thread, and answers by one load that no retry and no
/// deadline is around.
#[cfg(feature = "std")]
mod thread {
    use std::cell::Cell;

    use super::Deadline;
    use crate::timer::Timestamp;

    struct Around {
        /// The number of retries, whether there is a deadline, and whether the retries show marks.
        word: Cell<u64>,
        /// How many operations have been marked on this thread.
        marks: Cell<u32>,
        /// How many they were when the outermost retry that runs here began, or went on.
        begun_at: Cell<u32>,
        until: Cell<Timestamp>,
        is_enforced: Cell<bool>,
    }

    /// There is a deadline.
    const DEADLINE: u64 = 1;
    /// Marks of the retries that run here are visible.
    const MARKS: u64 = 2;
    /// What the number of retries is shifted by.
    const RETRIES: u32 = 2;

    // On some platforms it cannot be read in the last moments of a thread: nothing is around then.
    thread_local! {
        static AROUND: Around = const {
            Around {
                word: Cell::new(0),
                marks: Cell::new(0),
                begun_at: Cell::new(0),
                until: Cell::new(Timestamp::ENDLESS),
                is_enforced: Cell::new(false),
            }
        };
    }

    #[inline(always)]
    fn read<R>(read: impl FnOnce(&Around) -> R, gone: R) -> R {
        AROUND.try_with(read).unwrap_or(gone)
    }

    #[inline(always)]
    fn write(write: impl FnOnce(&Around)) {
        let _written = AROUND.try_with(write);
    }

    /// Returns whether no retry and no deadline is around.
    #[inline(always)]
    pub(crate) fn is_quiet() -> bool {
        read(|around| around.word.get() == 0, true)
    }

    /// Returns whether no retry is around in which anything is marked.
    #[inline(always)]
    pub(crate) fn is_unmarked() -> bool {
        let is_unmarked = |around: &Around| {
            let word = around.word.get();
            let is_fresh = || around.marks.get() == around.begun_at.get();
            word >> RETRIES == 0 || word & MARKS == 0 && is_fresh()
        };
        read(is_unmarked, true)
    }

    /// Begins a retry. Returns what was around before, and how many operations have been marked.
    #[inline(always)]
    pub(super) fn begin_retry(failures: u32) -> (u64, u32) {
        let begin = |around: &Around| {
            let (before, marks) = (around.word.get(), around.marks.get());
            let flags = before & (DEADLINE | MARKS);
            around.word.set(flags | u64::from(failures) << RETRIES);
            // What is marked from here on is marked inside of the outermost one.
            if before >> RETRIES == 0 {
                around.begun_at.set(marks);
            }
            (before, marks)
        };
        read(begin, (0, 0))
    }

    #[inline(always)]
    pub(super) fn end_retry(before: u64) {
        write(|around| around.word.set(before));
    }

    /// Says whether marks are visible. Returns whether they were before.
    pub(crate) fn show_marks(are_visible: bool) -> bool {
        let change = |around: &Around| {
            let word = around.word.get();
            let others = word & !MARKS;
            around
                .word
                .set(if are_visible { others | MARKS } else { others });
            word & MARKS != 0
        };
        read(change, false)
    }

    /// Returns how many attempts of the nearest call that is retrying have failed; 0 without one.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "it was set from one")]
    pub(crate) fn retries() -> u32 {
        read(|around| (around.word.get() >> RETRIES) as u32, 0)
    }

    #[inline(always)]
    pub(super) fn deadline() -> Deadline {
        let deadline = |around: &Around| {
            if around.word.get() & DEADLINE == 0 {
                return Deadline::NONE;
            }
            Deadline {
                until: around.until.get(),
                is_enforced: around.is_enforced.get(),
            }
        };
        read(deadline, Deadline::NONE)
    }

    #[inline(always)]
    pub(super) fn set_deadline(deadline: Deadline) {
        let has_one = !deadline.until.is_endless();
        write(|around| {
            let others = around.word.get() & !DEADLINE;
            around
                .word
                .set(if has_one { others | DEADLINE } else { others });
            if has_one {
                around.until.set(deadline.until);
                around.is_enforced.set(deadline.is_enforced);
            }
        });
    }

    /// Returns how many operations have been marked on this thread. It wraps.
    #[inline(always)]
    pub(crate) fn marks() -> u32 {
        read(|around| around.marks.get(), 0)
    }

    /// Counts an operation that is marked.
    pub(crate) fn add_mark() {
        write(|around| around.marks.set(around.marks.get().wrapping_add(1)));
    }

    /// Returns how many operations had been marked when the outermost retry that runs here began, or went on.
    pub(crate) fn begun_at() -> u32 {
        read(|around| around.begun_at.get(), 0)
    }

    /// Sets it, and returns what it was before.
    #[inline(always)]
    pub(crate) fn replace_begun(marks: u32) -> u32 {
        read(|around| around.begun_at.replace(marks), 0)
    }
}

/// Nowhere to keep it: every call stands alone.
#[cfg(not(feature = "std"))]
mod thread {
    use super::Deadline;
    use crate::timer::Timestamp;

    pub(crate) const fn is_quiet() -> bool {
        true
    }

    pub(crate) const fn is_unmarked() -> bool {
        true
    }

    pub(super) const fn begin_retry(_: u32) -> (u64, u32) {
        (0, 0)
    }

    pub(super) const fn end_retry(_: u64) {}

    pub(crate) const fn retries() -> u32 {
        0
    }

    pub(super) const fn deadline() -> Deadline {
        Deadline::NONE
    }

    pub(super) const fn set_deadline(_: Deadline) {}

    pub(crate) const fn marks() -> u32 {
        0
    }

    pub(crate) const fn now() -> Timestamp {
        Timestamp::ENDLESS
    }
}
