//! How a computed delay is spread, so that many clients do not return in step.
#![warn(clippy::arithmetic_side_effects)]

use crate::duration::Nanos;
use crate::words::words;

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
    /// 0.0..=1.0; 0.2 means +/-20 %. The rules refuse other values, NaN included.
    Ratio(f64),
}

words! { #[doc(hidden)] Jitter { None "none", Full "full", Equal "equal" } else { Ratio "ratio" } }

impl Jitter {
    /// The shortest and the longest delay that `delay` can become.
    #[inline]
    pub(crate) const fn bounds(self, delay: Nanos, cap: Nanos) -> (Nanos, Nanos) {
        match self {
            Self::Full => (Nanos(0.0), delay),
            Self::Ratio(ratio) => (
                Nanos(delay.0 * (1.0 - ratio)).min(cap),
                Nanos(delay.0 * (1.0 + ratio)).min(cap),
            ),
            Self::Equal => (Nanos(delay.0 * 0.5), delay),
            Self::None => (delay, delay),
        }
    }

    /// The delay for the random number `r` in `[0, 1)`; never above `cap`.
    #[inline]
    pub(crate) const fn apply(self, delay: Nanos, cap: Nanos, r: f64) -> Nanos {
        // The default by itself: it is the cheapest.
        if matches!(self, Self::Full) {
            return Nanos(delay.0 * r);
        }
        self.within(delay, cap, r)
    }

    #[inline(never)]
    const fn within(self, delay: Nanos, cap: Nanos, r: f64) -> Nanos {
        let (low, high) = self.bounds(delay, cap);
        // Also for a ratio that the rules refuse.
        Nanos(low.0 + (high.0 - low.0) * r).min(cap)
    }
}

/// 64 random bits as a number in `[0, 1)`.
#[inline]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    reason = "53 bits are what a float holds, and signed ones are converted faster"
)]
pub fn unit(bits: u64) -> f64 {
    (bits >> 11) as i64 as f64 * (1.0 / 9_007_199_254_740_992.0)
}
