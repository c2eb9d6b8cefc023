//! Time: what a clock reads.

#[cfg(feature = "std")]
mod instant;

use core::fmt;
use core::time::Duration;

/// A point in time on a monotonic clock.
///
/// # Units and ranges
///
/// Nanoseconds since an origin that the clock chooses; all arithmetic saturates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The last timestamp there is, which no clock comes to: as a deadline it means that there is none.
    pub const ENDLESS: Self = Self(u64::MAX);

    /// Returns the timestamp that lies `since` after the clock's origin.
    #[inline]
    pub const fn from_origin(since: Duration) -> Self {
        Self(saturated(since))
    }

    /// Returns the timestamp so many nanoseconds after the origin of its clock.
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the nanoseconds since the origin of its clock.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns whether this is [`ENDLESS`](Self::ENDLESS).
    #[inline]
    pub const fn is_endless(self) -> bool {
        self.0 == Self::ENDLESS.0
    }

    /// Returns the time from `earlier` to this timestamp; 0 when `earlier` is later.
    #[must_use]
    #[inline]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// Returns the timestamp that lies `duration` after this one.
    #[must_use]
    #[inline]
    pub const fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(saturated(duration)))
    }
}

/// Returns the nanoseconds of `duration`, or the most that there are.
const fn saturated(duration: Duration) -> u64 {
    let seconds = duration.as_secs().saturating_mul(1_000_000_000);
    seconds.saturating_add(duration.subsec_nanos() as u64)
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Timestamp({:?})", Duration::from_nanos(self.0))
    }
}

/// A monotonic clock.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a timer",
    label = "`Clock` is not implemented for it",
    note = "`timer` takes a value that implements `reattempt::timer::Timer` (async functions) or `reattempt::timer::BlockingTimer` (sync functions)",
    note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
)]
pub trait Clock {
    /// The time now; it never goes back.
    fn now(&self) -> Timestamp;

    /// 64 random bits for jitter.
    ///
    /// # Default
    ///
    /// With `std` a generator of the thread, seeded by the operating system;
    /// without it a hash of the time.
    fn random(&self) -> u64 {
        #[cfg(feature = "std")]
        return crate::random::random();
        #[cfg(not(feature = "std"))]
        return mixed(self.now().0);
    }

    /// Returns how much later than asked a sleep may end even when nothing delays it.
    ///
    /// # Default
    ///
    /// Zero.
    fn slack(&self) -> Duration {
        Duration::ZERO
    }

    /// The time now for what calls share, budgets and breakers: by a clock that all of them can read.
    ///
    /// # Default
    ///
    /// [`now`](Self::now): those who share one with a clock of their own have the same clock. The timers of `reattempt`
    /// answer with the clock by which deadlines travel.
    fn shared(&self) -> Timestamp {
        self.now()
    }

    /// Returns whether deadlines travel by this clock, so that they need not be converted: a conversion reads two clocks, and moves
    /// the deadline by what the readings are apart. For the timers of `reattempt`.
    #[doc(hidden)]
    fn carries_deadlines(&self) -> bool {
        false
    }
}

impl<T: Clock + ?Sized> Clock for &T {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn random(&self) -> u64 {
        (**self).random()
    }

    fn slack(&self) -> Duration {
        (**self).slack()
    }

    fn shared(&self) -> Timestamp {
        (**self).shared()
    }

    fn carries_deadlines(&self) -> bool {
        (**self).carries_deadlines()
    }
}

/// The finalizer of splitmix64: neighbouring times give unrelated numbers.
#[cfg(not(feature = "std"))]
const fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
