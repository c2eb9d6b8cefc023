//! What surrounds the code that runs on this thread: the deadline that somebody
//! above has set, and how often the call above has failed already. Set for a
//! sync attempt and for each poll of an async one, restored afterwards, also
//! when it panics. `deadline` is the public side.

use core::marker::PhantomData;
use core::time::Duration;

use crate::timer::Moment;

/// What a thread knows of the calls above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ambient {
    /// On the clock of [`now`]; the last moment there is means no deadline.
    pub(crate) until: Moment,
    /// Failed attempts of the nearest call above that is retrying; 0 without one.
    pub(crate) retries: u32,
}

impl Ambient {
    pub(crate) const NONE: Self = Self {
        until: Moment::ENDLESS,
        retries: 0,
    };

    /// Whether there is nothing to look at after a failure.
    #[inline(always)]
    pub(crate) const fn is_none(self) -> bool {
        self.until.is_endless() && self.retries == 0
    }

    /// Deadlines only shrink.
    pub(crate) fn until(self, until: Moment) -> Self {
        Self {
            until: self.until.min(until),
            ..self
        }
    }

    /// The same inside an attempt that came after so many failures.
    #[inline(always)]
    pub(crate) const fn after(self, failures: u32) -> Self {
        if failures == 0 {
            return self;
        }
        Self {
            retries: failures,
            ..self
        }
    }

    /// Time left until the deadline; `None` without one.
    pub(crate) fn remaining(self) -> Option<Duration> {
        (!self.until.is_endless()).then(|| self.until.since(now()))
    }

    /// Holds until what is returned is dropped.
    #[inline]
    pub(crate) fn enter(self) -> Entered {
        let before = current();
        set(self);
        Entered {
            before,
            this_thread: PhantomData,
        }
    }
}

/// Puts back what was there before.
#[must_use = "dropped at once it changes nothing"]
#[derive(Debug)]
pub(crate) struct Entered {
    before: Ambient,
    this_thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        set(self.before);
    }
}

#[cfg(feature = "std")]
pub(crate) use with_threads::{current, now, set};

#[cfg(feature = "std")]
mod with_threads {
    use std::cell::Cell;

    use super::Ambient;
    use crate::timer::{Clock as _, Moment};

    thread_local! {
        static AMBIENT: Cell<Ambient> = const { Cell::new(Ambient::NONE) };
    }

    #[inline]
    pub(crate) fn current() -> Ambient {
        AMBIENT.get()
    }

    #[inline]
    pub(crate) fn set(ambient: Ambient) {
        AMBIENT.set(ambient);
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
pub(crate) use without_threads::{current, now, set};

/// Nowhere to keep it: every call stands alone.
#[cfg(not(feature = "std"))]
mod without_threads {
    use super::Ambient;
    use crate::timer::Moment;

    #[inline(always)]
    pub(crate) const fn current() -> Ambient {
        Ambient::NONE
    }

    #[inline(always)]
    pub(crate) const fn set(_: Ambient) {}

    pub(crate) const fn now() -> Moment {
        Moment::ENDLESS
    }
}
