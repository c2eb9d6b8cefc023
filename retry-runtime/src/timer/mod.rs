//! Time: what the clock says, and how to wait. One provider a file.

use core::fmt;
use core::future::Future;
use core::time::Duration;

use crate::ambient;

#[cfg(feature = "smol")]
mod smol;
#[cfg(feature = "std")]
mod threads;
#[cfg(feature = "tokio")]
mod tokio;

#[cfg(feature = "smol")]
pub use smol::{Smol, SmolSleep};
#[cfg(feature = "std")]
pub use threads::Threads;
#[cfg(feature = "tokio")]
pub use tokio::Tokio;
#[cfg(all(feature = "tokio", feature = "observe"))]
pub(crate) use tokio::is_over;

/// A point in time on a monotonic clock.
///
/// # Units and ranges
///
/// Nanoseconds since an origin that the clock chooses; all arithmetic saturates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

impl Moment {
    /// The moment that lies `since` after the clock's origin.
    pub const fn from_origin(since: Duration) -> Self {
        Self(saturated(since))
    }

    /// The last moment there is, which no clock comes to.
    pub(crate) const ENDLESS: Self = Self(u64::MAX);

    /// The moment so many nanoseconds after the origin of its clock.
    #[cfg(feature = "std")]
    pub(crate) const fn of_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the origin of its clock.
    #[cfg(feature = "std")]
    pub(crate) const fn nanos(self) -> u64 {
        self.0
    }

    pub(crate) const fn is_endless(self) -> bool {
        self.0 == Self::ENDLESS.0
    }

    /// The time from `earlier` to this moment; 0 when `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The moment that lies `duration` after this one.
    #[must_use]
    pub const fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(saturated(duration)))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "guarded by the comparison")]
const fn saturated(duration: Duration) -> u64 {
    let nanos = duration.as_nanos();
    if nanos > u64::MAX as u128 {
        u64::MAX
    } else {
        nanos as u64
    }
}

impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Moment({:?})", Duration::from_nanos(self.0))
    }
}

/// The distance of the origin of the `std` clocks from the first moment they
/// are asked for: a paused clock may show an earlier time than that.
#[cfg(feature = "std")]
const BEFORE: u64 = 1 << 62;

/// A moment of the operating system's monotonic clock.
#[cfg(feature = "std")]
impl From<std::time::Instant> for Moment {
    #[inline(always)]
    fn from(instant: std::time::Instant) -> Self {
        static ORIGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        let origin = *ORIGIN.get_or_init(std::time::Instant::now);
        match instant.checked_duration_since(origin) {
            Some(later) => Self(BEFORE).after(later),
            None => Self(BEFORE.saturating_sub(saturated(origin.duration_since(instant)))),
        }
    }
}

/// A monotonic clock.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no timer",
    label = "`Clock` is not implemented for it",
    note = "`timer` takes a value that implements `reattempt::timer::Timer` (async functions) or `reattempt::timer::Blocking` (sync functions)",
    note = "rule type: https://docs.rs/reattempt/latest/reattempt/errors/#type"
)]
pub trait Clock {
    /// The time now; it never goes back.
    fn now(&self) -> Moment;

    /// 64 random bits for jitter.
    ///
    /// # Default
    ///
    /// With `std` a generator of the thread, seeded by the operating system;
    /// without it a hash of the time.
    fn random(&self) -> u64 {
        #[cfg(feature = "std")]
        return threads::random();
        #[cfg(not(feature = "std"))]
        return mixed(self.now().0);
    }

    /// How much later than asked a sleep may end even when nothing is late.
    #[doc(hidden)]
    fn slack(&self) -> Duration {
        Duration::ZERO
    }

    /// The time now for what calls share, budgets and breakers: by a clock that all of them can read.
    ///
    /// # Default
    ///
    /// [`now`](Self::now): those who share one with a clock of their own have the same clock. The timers of this crate
    /// answer with the clock by which deadlines travel, [`Shared`].
    fn shared(&self) -> Moment {
        self.now()
    }

    /// `moment` on the clock by which deadlines travel.
    #[doc(hidden)]
    fn travelling(&self, moment: Moment) -> Moment {
        if moment.is_endless() {
            return moment;
        }
        ambient::now().after(moment.since(self.now()))
    }
}

/// The clock by which deadlines travel, and by which budgets and breakers count where nobody gives
/// another: tokio's where there is tokio, which may stand still, and virtual time in tests.
#[cfg(feature = "std")]
#[derive(Debug, Clone, Copy, Default)]
pub struct Shared;

#[cfg(feature = "std")]
impl Clock for Shared {
    #[inline]
    fn now(&self) -> Moment {
        ambient::now()
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

/// How an async function waits.
#[diagnostic::on_unimplemented(
    message = "an async function cannot wait with `{Self}`",
    label = "`Timer` is not implemented for it",
    note = "enable the feature `tokio` or `smol` of `reattempt`, or give `timer = ...` a value that implements `reattempt::timer::Timer`",
    note = "rule type: https://docs.rs/reattempt/latest/reattempt/errors/#type"
)]
pub trait Timer: Clock {
    /// The future of [`sleep`](Self::sleep).
    type Sleep: Future<Output = ()>;

    /// A future that is ready after `duration`.
    ///
    /// # Cancel safety
    ///
    /// Dropping it ends the wait.
    fn sleep(&self, duration: Duration) -> Self::Sleep;
}

/// How a sync function waits.
#[diagnostic::on_unimplemented(
    message = "a sync function cannot wait with `{Self}`",
    label = "`Blocking` is not implemented for it",
    note = "enable the feature `std` of `reattempt`, or give `timer = ...` a value that implements `reattempt::timer::Blocking`",
    note = "rule type: https://docs.rs/reattempt/latest/reattempt/errors/#type"
)]
pub trait Blocking: Clock {
    /// Returns after `duration`.
    fn sleep(&self, duration: Duration);
}

impl<T: Clock + ?Sized> Clock for &T {
    fn now(&self) -> Moment {
        (**self).now()
    }

    fn random(&self) -> u64 {
        (**self).random()
    }

    fn slack(&self) -> Duration {
        (**self).slack()
    }

    fn shared(&self) -> Moment {
        (**self).shared()
    }

    fn travelling(&self, moment: Moment) -> Moment {
        (**self).travelling(moment)
    }
}

impl<T: Timer + ?Sized> Timer for &T {
    type Sleep = T::Sleep;

    fn sleep(&self, duration: Duration) -> T::Sleep {
        (**self).sleep(duration)
    }
}

impl<T: Blocking + ?Sized> Blocking for &T {
    fn sleep(&self, duration: Duration) {
        (**self).sleep(duration);
    }
}

/// The timer that the features choose: threads in sync functions; in async ones
/// tokio, or where its feature is off, smol.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByFeature;

/// What says how a sync function waits: a timer, or [`ByFeature`].
#[diagnostic::on_unimplemented(
    message = "a sync function cannot wait with `{Self}`",
    note = "enable the feature `std` of `reattempt`, or give a timer that implements `reattempt::timer::Blocking`",
    note = "rule type: https://docs.rs/reattempt/latest/reattempt/errors/#type"
)]
pub trait ForSync {
    /// The timer.
    type Timer: Blocking;

    /// The timer.
    fn for_sync(self) -> Self::Timer;
}

/// What says how an async function waits: a timer, or [`ByFeature`].
#[diagnostic::on_unimplemented(
    message = "an async function cannot wait with `{Self}`",
    note = "enable the feature `tokio` or `smol` of `reattempt`, or give a timer that implements `reattempt::timer::Timer`",
    note = "rule type: https://docs.rs/reattempt/latest/reattempt/errors/#type"
)]
pub trait ForAsync {
    /// The timer.
    type Timer: Timer;

    /// The timer.
    fn for_async(self) -> Self::Timer;
}

impl<T: Blocking> ForSync for T {
    type Timer = T;

    fn for_sync(self) -> T {
        self
    }
}

impl<T: Timer> ForAsync for T {
    type Timer = T;

    fn for_async(self) -> T {
        self
    }
}

#[cfg(feature = "std")]
impl ForSync for ByFeature {
    type Timer = Threads;

    fn for_sync(self) -> Threads {
        Threads
    }
}

#[cfg(feature = "tokio")]
impl ForAsync for ByFeature {
    type Timer = Tokio;

    fn for_async(self) -> Tokio {
        Tokio
    }
}

#[cfg(all(feature = "smol", not(feature = "tokio")))]
impl ForAsync for ByFeature {
    type Timer = Smol;

    fn for_async(self) -> Smol {
        Smol
    }
}
