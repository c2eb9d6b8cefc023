//! What is around the code that runs on this thread: how often the nearest call that is retrying has failed, a deadline,
//! whether what runs has a low priority, and how many operations have been marked. The runtime sets it, and puts back what
//! was there before. Limits of this process ask it, too.

use core::marker::PhantomData;

use crate::timestamp::Timestamp;

#[cfg(feature = "std")]
pub use thread::{add_mark, begun_at, replace_begun, show_marks};
pub use thread::{inherited, is_low, is_plain, is_quiet, marks, retries};

/// The code that set the deadline cuts off what runs under it.
const ENFORCED: u64 = 2;

/// What callers hand down.
#[derive(Debug, Clone, Copy)]
pub struct Inherited {
    until: Timestamp,
    /// `DEADLINE`, `ENFORCED` and `LOW`.
    flags: u64,
}

impl Inherited {
    /// Nothing.
    const NOTHING: Self = Self {
        until: Timestamp::ENDLESS,
        flags: 0,
    };

    /// Returns their deadline, on the clock that all calls share.
    #[inline(always)]
    pub const fn until(self) -> Timestamp {
        self.until
    }

    /// Returns whether the code that set it cuts off what runs under it.
    #[inline(always)]
    pub const fn is_enforced(self) -> bool {
        self.flags & ENFORCED != 0
    }
}

/// The deadline of a call, and whether its priority is low, in eight bytes: futures keep it.
///
/// Without a low priority it is the deadline, and all bits where there is none, so that a call which has only a deadline
/// pays for no other. A low priority sets the highest bit: no clock comes to 292 years.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds(u64);

impl Bounds {
    /// No deadline, and no low priority.
    pub const NONE: Self = Self(u64::MAX);
    /// A low priority alone.
    pub const LOW: Self = Self(u64::MAX - 1);
    const LOW_BIT: u64 = 1 << 63;

    /// Returns those of a call with this deadline.
    #[inline(always)]
    pub const fn new(until: Timestamp, is_low: bool) -> Self {
        let bounds = if is_low { Self::LOW } else { Self::NONE };
        bounds.within(until)
    }

    /// Returns whether there is nothing to hand down.
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        self.0 == Self::NONE.0
    }

    /// Returns whether the priority is low.
    #[inline(always)]
    pub const fn is_low(self) -> bool {
        self.0.wrapping_add(1) > Self::LOW_BIT
    }

    /// Returns the deadline alone.
    #[must_use]
    pub const fn at_normal_priority(self) -> Self {
        match self.until() {
            Some(until) => Self::NONE.within(until),
            None => Self::NONE,
        }
    }

    /// Returns whether there is a deadline.
    #[inline(always)]
    pub const fn has_deadline(self) -> bool {
        self.0 < Self::LOW.0
    }

    /// Returns the deadline.
    #[inline(always)]
    pub const fn until(self) -> Option<Timestamp> {
        if !self.has_deadline() {
            return None;
        }
        Some(Timestamp::from_nanos(self.0 & !Self::LOW_BIT))
    }

    /// Returns the same with the deadline that `f` makes of this one.
    #[inline(always)]
    #[must_use]
    pub fn moved(self, f: impl Fn(Timestamp) -> Timestamp) -> Self {
        if self.0 & Self::LOW_BIT != 0 {
            return self.low_moved(f);
        }
        let until = f(Timestamp::from_nanos(self.0)).as_nanos();
        if until < Self::LOW_BIT {
            Self(until)
        } else {
            Self::NONE
        }
    }

    #[cold]
    #[inline(never)]
    fn low_moved(self, f: impl Fn(Timestamp) -> Timestamp) -> Self {
        match self.until() {
            Some(until) => Self::new(f(until), self.is_low()),
            None => self,
        }
    }

    /// Returns the same with this deadline, where it comes first.
    #[inline(always)]
    #[must_use]
    pub const fn within(self, end: Timestamp) -> Self {
        let end = end.as_nanos();
        let low = if self.is_low() { Self::LOW_BIT } else { 0 };
        if end < Self::LOW_BIT && end | low < self.0 {
            Self(end | low)
        } else {
            self
        }
    }
}

/// What runs until this is dropped inherits these bounds, as far as they are narrower than those that it inherits already.
#[must_use = "dropped at once it changes nothing"]
#[derive(Debug)]
pub struct BoundsScope {
    before: Inherited,
    this_thread: PhantomData<*const ()>,
}

impl BoundsScope {
    /// Sets bounds.
    #[inline(always)]
    pub fn new(bounds: Bounds, is_enforced: bool) -> Self {
        // Bounds only narrow on the way down.
        let before = if bounds.0 & Bounds::LOW_BIT == 0 {
            within(Timestamp::from_nanos(bounds.0), is_enforced)
        } else {
            lower(bounds, is_enforced)
        };
        Self {
            before,
            this_thread: PhantomData,
        }
    }

    /// Removes the bounds.
    pub fn without() -> Self {
        let before = inherited();
        thread::set_inherited(Inherited::NOTHING);
        Self {
            before,
            this_thread: PhantomData,
        }
    }
}

/// Sets a deadline, unless an earlier one holds. Returns what held before.
#[inline(always)]
fn within(until: Timestamp, is_enforced: bool) -> Inherited {
    let before = inherited();
    if until < before.until {
        thread::set_deadline(until, is_enforced);
    }
    before
}

/// Sets the bounds of a call with a low priority, or without any. Returns what held before.
#[cold]
#[inline(never)]
fn lower(bounds: Bounds, is_enforced: bool) -> Inherited {
    let before = match bounds.until() {
        Some(until) => within(until, is_enforced),
        None => inherited(),
    };
    if bounds.is_low() {
        thread::lower();
    }
    before
}

// Out of line: the address of the thread's variable takes no register from a call that succeeds at once.
impl Drop for BoundsScope {
    #[inline(never)]
    fn drop(&mut self) {
        thread::set_inherited(self.before);
    }
}

/// What runs until this is dropped is inside a call that has failed so often.
#[must_use = "dropped at once it changes nothing"]
#[derive(Debug)]
pub struct RetryScope {
    before: u64,
    /// How many operations had been marked on this thread when it began.
    pub marks: u32,
    this_thread: PhantomData<*const ()>,
}

impl RetryScope {
    /// Sets the number of failures.
    #[inline(always)]
    pub fn new(failures: u32) -> Self {
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

/// The variable of the thread. Its word is 0 on nearly every thread, and answers by one load that nothing is around.
#[cfg(feature = "std")]
mod thread {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{ENFORCED, Inherited};
    use crate::timestamp::Timestamp;

    struct Around {
        /// The number of retries, whether there is a deadline, whether the retries show marks, and whether the priority is low.
        word: Cell<u64>,
        /// How many operations have been marked on this thread.
        marks: Cell<u32>,
        /// How many they were when the outermost retry that runs here began, or went on.
        begun_at: Cell<u32>,
        /// Endless where there is no deadline.
        until: Cell<Timestamp>,
    }

    /// There is a deadline.
    const DEADLINE: u64 = 1;
    /// The priority is low.
    const LOW: u64 = 4;
    /// What callers hand down.
    const HANDED: u64 = DEADLINE | ENFORCED | LOW;
    /// Marks of the retries that run here are visible.
    const MARKS: u64 = 8;
    /// What the number of retries is shifted by.
    const RETRIES: u32 = 4;

    // On some platforms it cannot be read in the last moments of a thread: nothing is around then.
    thread_local! {
        static AROUND: Around = const {
            Around {
                word: Cell::new(0),
                marks: Cell::new(0),
                begun_at: Cell::new(0),
                until: Cell::new(Timestamp::ENDLESS),
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

    /// Returns whether no retry, no deadline and no low priority is around.
    #[inline(always)]
    pub fn is_quiet() -> bool {
        read(|around| around.word.get() == 0, true)
    }

    /// Returns whether no retry is around in which anything is marked, and no low priority.
    #[inline(always)]
    pub fn is_plain() -> bool {
        let is_plain = |around: &Around| {
            let word = around.word.get();
            let is_fresh = || around.marks.get() == around.begun_at.get();
            let is_unmarked = || word >> RETRIES == 0 || word & MARKS == 0 && is_fresh();
            word & LOW == 0 && is_unmarked()
        };
        read(is_plain, true)
    }

    /// Begins a retry. Returns what was around before, and how many operations have been marked.
    #[inline(always)]
    pub(super) fn begin_retry(failures: u32) -> (u64, u32) {
        let begin = |around: &Around| {
            let (before, marks) = (around.word.get(), around.marks.get());
            let flags = before & (HANDED | MARKS);
            around.word.set(flags | u64::from(failures) << RETRIES);
            // What is marked from here on is marked inside of the outermost one.
            if before >> RETRIES == 0 {
                around.begun_at.set(marks);
            }
            (before, marks)
        };
        read(begin, (0, 0))
    }

    /// Ends a retry: puts back what was around before.
    #[inline(always)]
    pub(super) fn end_retry(before: u64) {
        write(|around| around.word.set(before));
    }

    /// Says whether marks are visible.
    pub fn show_marks(are_visible: bool) {
        write(|around| {
            let others = around.word.get() & !MARKS;
            let marks = if are_visible { MARKS } else { 0 };
            around.word.set(others | marks);
        });
    }

    /// Returns how many attempts of the nearest call that is retrying have failed; 0 without one.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "it was set from one")]
    pub fn retries() -> u32 {
        read(|around| (around.word.get() >> RETRIES) as u32, 0)
    }

    /// A call of this process has had a low priority. Most processes have none, and limits read this first: the variable of a
    /// thread costs its registers, too.
    // Relaxed: a thread sees what it has set itself, and asks for nothing else.
    static HAS_LOW: AtomicBool = AtomicBool::new(false);

    /// Returns whether the priority is low.
    #[inline(always)]
    pub fn is_low() -> bool {
        HAS_LOW.load(Ordering::Relaxed) && is_low_here()
    }

    #[cold]
    #[inline(never)]
    fn is_low_here() -> bool {
        read(|around| around.word.get() & LOW != 0, false)
    }

    /// Returns what callers hand down.
    #[inline(always)]
    pub fn inherited() -> Inherited {
        let inherited = |around: &Around| {
            let flags = around.word.get() & HANDED;
            let until = around.until.get();
            Inherited { until, flags }
        };
        read(inherited, Inherited::NOTHING)
    }

    /// Sets the deadline.
    #[inline(always)]
    pub(super) fn set_deadline(until: Timestamp, is_enforced: bool) {
        let flags = if is_enforced {
            DEADLINE | ENFORCED
        } else {
            DEADLINE
        };
        write(|around| {
            let others = around.word.get() & !(DEADLINE | ENFORCED);
            around.word.set(others | flags);
            around.until.set(until);
        });
    }

    /// Sets a low priority.
    pub(super) fn lower() {
        HAS_LOW.store(true, Ordering::Relaxed);
        write(|around| around.word.set(around.word.get() | LOW));
    }

    /// Sets what callers hand down.
    #[inline(always)]
    pub(super) fn set_inherited(inherited: Inherited) {
        write(|around| {
            let others = around.word.get() & !HANDED;
            around.word.set(others | inherited.flags);
            around.until.set(inherited.until);
        });
    }

    /// Returns how many operations have been marked on this thread. It wraps.
    #[inline(always)]
    pub fn marks() -> u32 {
        read(|around| around.marks.get(), 0)
    }

    /// Counts an operation that is marked.
    pub fn add_mark() {
        write(|around| around.marks.set(around.marks.get().wrapping_add(1)));
    }

    /// Returns how many operations had been marked when the outermost retry that runs here began, or went on.
    pub fn begun_at() -> u32 {
        read(|around| around.begun_at.get(), 0)
    }

    /// Sets it, and returns what it was before.
    #[inline(always)]
    pub fn replace_begun(marks: u32) -> u32 {
        read(|around| around.begun_at.replace(marks), 0)
    }
}

#[cfg(not(feature = "std"))]
use none as thread;

/// Nowhere to keep it: every call stands alone.
#[cfg(not(feature = "std"))]
mod none {
    use super::Inherited;

    pub const fn is_quiet() -> bool {
        true
    }

    pub const fn is_plain() -> bool {
        true
    }

    pub(super) const fn begin_retry(_: u32) -> (u64, u32) {
        (0, 0)
    }

    pub(super) const fn end_retry(_: u64) {}

    pub const fn retries() -> u32 {
        0
    }

    pub const fn is_low() -> bool {
        false
    }

    pub const fn inherited() -> Inherited {
        Inherited::NOTHING
    }

    pub(super) const fn set_deadline(_: crate::timestamp::Timestamp, _: bool) {}

    pub(super) const fn lower() {}

    pub(super) const fn set_inherited(_: Inherited) {}

    pub const fn marks() -> u32 {
        0
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use core::time::Duration;

    use super::*;

    fn second(second: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs(second))
    }

    #[test]
    fn bounds_are_what_they_were_made_of() {
        let far = Timestamp::from_nanos(1 << 63);
        for until in [second(0), second(1), far, Timestamp::ENDLESS] {
            for is_low in [false, true] {
                let bounds = Bounds::new(until, is_low);
                let limit = (until < far).then_some(until);
                assert_eq!((bounds.until(), bounds.is_low()), (limit, is_low));
                assert_eq!(bounds.is_none(), limit.is_none() && !is_low);
                let moved = |to: Timestamp| bounds.moved(|_| to);
                assert_eq!(moved(far), Bounds::new(Timestamp::ENDLESS, is_low));
                if limit.is_some() {
                    assert_eq!(moved(second(7)), Bounds::new(second(7), is_low));
                    assert_eq!(bounds.moved(|it| it), bounds);
                }
                let sooner = bounds.within(second(1));
                assert_eq!(sooner, Bounds::new(until.min(second(1)), is_low));
            }
        }
        assert_eq!(Bounds::new(Timestamp::ENDLESS, true), Bounds::LOW);
        let last = Bounds::new(Timestamp::from_nanos((1 << 63) - 1), false);
        assert!(last.has_deadline() && !last.is_low());
        for is_low in [false, true] {
            let bounds = Bounds::new(second(7), is_low);
            assert_eq!(bounds.at_normal_priority(), Bounds::new(second(7), false));
        }
        assert_eq!(Bounds::LOW.at_normal_priority(), Bounds::NONE);
        assert!(!Bounds::LOW.has_deadline() && !Bounds::NONE.has_deadline());
    }

    #[test]
    fn bounds_narrow_on_the_way_down_and_come_back() {
        let seen = || {
            let here = inherited();
            (here.until(), here.is_enforced(), is_low(), is_quiet())
        };
        let none = (Timestamp::ENDLESS, false, false, true);
        {
            let _outer = BoundsScope::new(Bounds::new(second(5), false), true);
            assert_eq!(seen(), (second(5), true, false, false));
            {
                let _low = BoundsScope::new(Bounds::LOW, false);
                assert_eq!(seen(), (second(5), true, true, false));
                let _same = BoundsScope::new(Bounds::new(second(5), false), false);
                let _later = BoundsScope::new(Bounds::new(second(9), false), false);
                assert_eq!(seen(), (second(5), true, true, false));
                let _sooner = BoundsScope::new(Bounds::new(second(3), false), false);
                assert_eq!(seen(), (second(3), false, true, false));
                let _none = BoundsScope::without();
                assert_eq!(seen(), none);
            }
            assert_eq!(seen(), (second(5), true, false, false));
        }
        {
            let _low = BoundsScope::new(Bounds::LOW, false);
            assert_eq!(seen(), (Timestamp::ENDLESS, false, true, false));
            let _retry = RetryScope::new(2);
            assert_eq!((retries(), is_low()), (2, true));
        }
        assert_eq!(seen(), none);
    }

    /// One that is plain has no retry around it in which anything is marked.
    #[test]
    fn a_retry_is_plain_until_something_is_marked() {
        assert!(is_plain());
        let before = marks();
        {
            let outer = RetryScope::new(1);
            assert_eq!((outer.marks, retries(), is_plain()), (before, 1, true));
            assert_eq!(begun_at(), before);
            add_mark();
            assert_eq!((marks(), is_plain()), (before + 1, false));
            let inner = RetryScope::new(2);
            assert_eq!(
                (inner.marks, retries(), begun_at()),
                (before + 1, 2, before)
            );
            assert_eq!(replace_begun(before + 1), before);
            assert!(is_plain());
            show_marks(true);
            assert!(!is_plain());
            show_marks(false);
            assert!(is_plain());
            let _low = BoundsScope::new(Bounds::LOW, false);
            assert!(!is_plain() && retries() == 2);
        }
        assert_eq!((retries(), is_plain(), is_quiet()), (0, true, true));
    }
}
