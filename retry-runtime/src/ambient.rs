//! What surrounds the code that runs on this thread: the deadline that somebody
//! above has set, and how often the call above has failed already. Set for a
//! sync attempt and for each poll of an async one, restored afterwards, also
//! when it panics. `deadline` is the public side.

use core::marker::PhantomData;
use core::time::Duration;

use crate::timer::Moment;

/// Time left until the deadline; `None` without one.
pub(crate) fn remaining() -> Option<Duration> {
    let until = until();
    (!until.is_endless()).then(|| until.since(now()))
}

/// The deadline for an attempt here to cut itself off by: one that is enforced above
/// is left to whom it belongs, who then can say that it was cut off.
#[cfg(feature = "std")]
pub(crate) fn unenforced() -> Moment {
    if is_enforced() {
        Moment::ENDLESS
    } else {
        until()
    }
}

/// Time left until then.
#[cfg(feature = "std")]
pub(crate) fn remaining_unenforced() -> Option<Duration> {
    if is_enforced() { None } else { remaining() }
}

/// A deadline that holds until this is dropped.
#[must_use = "dropped at once it changes nothing"]
#[derive(Debug)]
pub(crate) struct Shrunk {
    before: Moment,
    enforced_before: bool,
    this_thread: PhantomData<*const ()>,
}

/// Deadlines only shrink: the earlier one holds. `enforced` says that whoever sets
/// it cuts off what is below.
#[inline(always)]
pub(crate) fn shrink(until: Moment, enforced: bool) -> Shrunk {
    let (before, enforced_before) = (self::until(), is_enforced());
    if until < before {
        set_until(until, enforced);
    }
    Shrunk {
        before,
        enforced_before,
        this_thread: PhantomData,
    }
}

/// Nothing is above until this is dropped.
#[cfg(feature = "std")]
pub(crate) fn forget() -> (Shrunk, Retrying) {
    let shrunk = Shrunk {
        before: until(),
        enforced_before: is_enforced(),
        this_thread: PhantomData,
    };
    set_until(Moment::ENDLESS, false);
    (shrunk, Retrying::after(0))
}

impl Drop for Shrunk {
    #[inline(always)]
    fn drop(&mut self) {
        set_until(self.before, self.enforced_before);
    }
}

/// A retry that runs until this is dropped.
#[must_use = "dropped at once it changes nothing"]
#[derive(Debug)]
pub(crate) struct Retrying {
    before: u32,
    this_thread: PhantomData<*const ()>,
}

impl Retrying {
    /// An attempt that comes after so many failures.
    #[inline(always)]
    pub(crate) fn after(failures: u32) -> Self {
        let before = retries();
        set_retries(failures);
        Self {
            before,
            this_thread: PhantomData,
        }
    }
}

impl Drop for Retrying {
    #[inline(always)]
    fn drop(&mut self) {
        set_retries(self.before);
    }
}

#[cfg(feature = "std")]
pub(crate) use with_threads::{is_enforced, is_quiet, now, retries, until};
#[cfg(feature = "std")]
use with_threads::{set_retries, set_until};

#[cfg(feature = "std")]
mod with_threads {
    use std::cell::Cell;

    use crate::timer::{Clock as _, Moment};

    struct Above {
        // Of the moment all bits the other way round: nothing above is 0 everywhere, which is one test.
        not_until: Cell<u64>,
        enforced: Cell<bool>,
        retries: Cell<u32>,
    }

    // Not of every platform can they be read in the last moments of a thread: nothing is above then.
    thread_local! {
        static ABOVE: Above = const {
            Above {
                not_until: Cell::new(0),
                enforced: Cell::new(false),
                retries: Cell::new(0),
            }
        };
    }

    /// On the clock of [`now`]; the last moment there is means no deadline.
    #[inline(always)]
    pub(crate) fn until() -> Moment {
        let until = ABOVE.try_with(|above| Moment::of_nanos(!above.not_until.get()));
        until.unwrap_or(Moment::ENDLESS)
    }

    #[inline(always)]
    pub(super) fn set_until(until: Moment, enforced: bool) {
        let _set = ABOVE.try_with(|above| {
            above.not_until.set(!until.nanos());
            above.enforced.set(enforced);
        });
    }

    /// Whether nothing is above that has to be looked at after a failure.
    #[inline(always)]
    pub(crate) fn is_quiet() -> bool {
        let above = ABOVE.try_with(|above| above.not_until.get() | u64::from(above.retries.get()));
        above.unwrap_or(0) == 0
    }

    /// Whether it is cut off by whoever set it.
    #[inline(always)]
    pub(crate) fn is_enforced() -> bool {
        ABOVE
            .try_with(|above| above.enforced.get())
            .unwrap_or(false)
    }

    /// Failed attempts of the nearest call above that is retrying; 0 without one.
    #[inline(always)]
    pub(crate) fn retries() -> u32 {
        ABOVE.try_with(|above| above.retries.get()).unwrap_or(0)
    }

    #[inline(always)]
    pub(super) fn set_retries(retries: u32) {
        let _set = ABOVE.try_with(|above| above.retries.set(retries));
    }

    /// The clock of deadlines that travel: tokio's, which may stand still, where
    /// there is tokio.
    pub(crate) fn now() -> Moment {
        #[cfg(feature = "test-util")]
        if let Some(now) = crate::testing::virtual_now() {
            return now;
        }
        #[cfg(feature = "tokio")]
        return crate::timer::Tokio.now();
        #[cfg(not(feature = "tokio"))]
        return crate::timer::Threads.now();
    }
}

#[cfg(not(feature = "std"))]
pub(crate) use without_threads::{is_enforced, is_quiet, now, retries, until};
#[cfg(not(feature = "std"))]
use without_threads::{set_retries, set_until};

/// Nowhere to keep it: every call stands alone.
#[cfg(not(feature = "std"))]
mod without_threads {
    use crate::timer::Moment;

    #[inline(always)]
    pub(crate) const fn until() -> Moment {
        Moment::ENDLESS
    }

    #[inline(always)]
    pub(super) const fn set_until(_: Moment, _: bool) {}

    #[inline(always)]
    pub(crate) const fn is_quiet() -> bool {
        true
    }

    #[inline(always)]
    pub(crate) const fn is_enforced() -> bool {
        false
    }

    #[inline(always)]
    pub(crate) const fn retries() -> u32 {
        0
    }

    #[inline(always)]
    pub(super) const fn set_retries(_: u32) {}

    pub(crate) const fn now() -> Moment {
        Moment::ENDLESS
    }
}
