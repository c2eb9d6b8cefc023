//! A point in time.

#[cfg(feature = "std")]
mod instant;
#[cfg(feature = "std")]
pub(crate) use instant::Parts;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_what_it_was_made_of() {
        let second = Duration::from_nanos(1_000_000_001);
        let one = Timestamp::from_origin(second);
        assert_eq!(
            (one, one.as_nanos()),
            (Timestamp::from_nanos(1_000_000_001), 1_000_000_001)
        );
        let two = one.after(second);
        assert_eq!((two.since(one), one.since(two)), (second, Duration::ZERO));
        assert!(Timestamp::ENDLESS.is_endless() && !two.is_endless());
        assert!(one.after(Duration::MAX).is_endless());
    }
}
