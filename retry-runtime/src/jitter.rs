//! How a computed delay is spread, so that many clients do not return in step.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;

use crate::duration::{from_float, shorter, to_float};

/// How a delay is spread: the key `jitter`.
///
/// # Default
///
/// [`Jitter::Full`].
///
/// # Source
///
/// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Jitter {
    /// The delay as computed (`"none"`).
    None,
    /// Uniform in `[0, d]` (`"full"`).
    #[default]
    Full,
    /// Uniform in `[d/2, d]` (`"equal"`).
    Equal,
    /// Uniform in `[d(1-j), d(1+j)]`, never above the cap.
    ///
    /// # Units and ranges
    ///
    /// 0.0..=1.0; 0.2 means +/-20 %. The rules refuse what is outside, NaN included.
    Ratio(f64),
}

impl Jitter {
    /// The shortest and the longest delay that `delay` can become.
    #[inline]
    pub(crate) const fn bounds(self, delay: Duration, cap: Duration) -> (Duration, Duration) {
        let nanos = to_float(delay);
        match self {
            Self::None => (delay, delay),
            Self::Full => (Duration::ZERO, delay),
            Self::Equal => (from_float(nanos * 0.5), delay),
            Self::Ratio(ratio) => (
                from_float(nanos * (1.0 - ratio)),
                shorter(from_float(nanos * (1.0 + ratio)), cap),
            ),
        }
    }

    /// The delay for the random number `r` in `[0, 1)`; never above `cap`.
    #[inline]
    pub(crate) const fn apply(self, delay: Duration, cap: Duration, r: f64) -> Duration {
        let nanos = to_float(delay);
        let (low, high) = match self {
            Self::None => return delay,
            Self::Full => (0.0, nanos),
            Self::Equal => (nanos * 0.5, nanos),
            Self::Ratio(ratio) => {
                let (high, top) = (nanos * (1.0 + ratio), to_float(cap));
                (nanos * (1.0 - ratio), if high < top { high } else { top })
            }
        };
        shorter(from_float(low + (high - low) * r), cap)
    }
}
