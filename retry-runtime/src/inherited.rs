//! What the code that runs on this thread inherits from the calls around it: a deadline, and how often the nearest
//! call that is retrying has failed. `inside` sets it, `deadline` and `nesting` are the public side.

use core::time::Duration;

use crate::timer::{Clock, Timestamp};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Inherited {
    /// On the clock of [`now`].
    pub(crate) until: Timestamp,
    /// Whoever set the deadline cuts off what runs under it.
    #[cfg_attr(
        not(feature = "std"),
        expect(dead_code, reason = "nothing is inherited")
    )]
    pub(crate) is_enforced: bool,
    /// Failed attempts of the nearest call that is retrying.
    pub(crate) retries: u32,
}

impl Inherited {
    pub(crate) const NOTHING: Self = Self {
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

impl Inherited {
    #[inline(always)]
    /// Returns it with this deadline, if that is the earlier one.
    pub(crate) fn shrunk(self, until: Timestamp, is_enforced: bool) -> Self {
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

#[cfg(feature = "std")]
pub(crate) use with_threads::{inherit, inherited};

#[cfg(feature = "std")]
mod with_threads {
    use std::cell::Cell;

    use super::Inherited;
    // On some platforms it cannot be read in the last moments of a thread: nothing is inherited then.
    thread_local! {
        static INHERITED: Cell<Inherited> = const { Cell::new(Inherited::NOTHING) };
    }

    #[inline(always)]
    pub(crate) fn inherited() -> Inherited {
        let mut inherited = Inherited::NOTHING;
        let _read = INHERITED.try_with(|now| inherited = now.get());
        inherited
    }

    #[inline(always)]
    pub(crate) fn inherit(inherited: Inherited) {
        let _set = INHERITED.try_with(|now| now.set(inherited));
    }
}

#[cfg(feature = "std")]
pub(crate) use reattempt_core::process::now;
#[cfg(not(feature = "std"))]
pub(crate) use without_threads::now;
#[cfg(not(feature = "std"))]
pub(crate) use without_threads::{inherit, inherited};

/// Nowhere to keep it: every call stands alone.
#[cfg(not(feature = "std"))]
mod without_threads {
    use super::Inherited;
    use crate::timer::Timestamp;

    #[inline(always)]
    pub(crate) const fn inherited() -> Inherited {
        Inherited::NOTHING
    }

    #[inline(always)]
    pub(crate) const fn inherit(_: Inherited) {}

    pub(crate) const fn now() -> Timestamp {
        Timestamp::ENDLESS
    }
}
