//! How delays grow from retry to retry, before the cap and before jitter.
#![warn(clippy::arithmetic_side_effects)]

use core::fmt;
use core::time::Duration;

use crate::duration::Nanos;
use crate::words::words;

/// A shape of delays of the user's own.
///
/// Every `Fn(u32) -> Duration` is one.
///
/// # Units and ranges
///
/// `retry` counts from 0, which is the delay before the second attempt. The
/// answer is cut to the policy's `cap` and then jittered.
///
/// # Examples
///
/// ```
/// use reattempt::{Jitter, Policy, Backoff};
/// use std::time::Duration;
///
/// fn squares(retry: u32) -> Duration {
///     Duration::from_millis(u64::from(retry).saturating_mul(u64::from(retry)))
/// }
/// const POLICY: Policy = Policy::new().backoff(Backoff::Custom(&squares));
/// assert_eq!(POLICY.jitter(Jitter::None).sample_delay(3, None, || 0), Duration::from_millis(9));
/// ```
#[diagnostic::on_unimplemented(
    message = "`backoff` must be the name of a kind, such as `\"exp\"`, or a function, but is a `{Self}`",
    label = "expected a name, or `Fn(u32) -> Duration`",
    note = "write `backoff = \"exp\"` (for `Backoff::Exp`), or a closure `|retry: u32| -> Duration`",
    note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
)]
pub trait BackoffFn {
    /// The delay before retry number `retry`, counted from 0.
    ///
    /// # Units and ranges
    ///
    /// Cut to the policy's cap. Of a policy with unlimited attempts it is at least 1 ms, after jitter, but not above the
    /// cap.
    fn delay(&self, retry: u32) -> Duration;
}

impl<F: Fn(u32) -> Duration> BackoffFn for F {
    fn delay(&self, retry: u32) -> Duration {
        self(retry)
    }
}

/// The shape of the delays of a policy: the key `backoff`.
///
/// # Default
///
/// [`Backoff::Exp`].
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub enum Backoff {
    /// No delay at all (`"none"`).
    None,
    /// The same delay each time (`"fixed"`).
    Fixed,
    /// `first + n * base` (`"linear"`).
    Linear,
    /// `first + base * (factor^n - 1)` (`"exp"`).
    #[default]
    Exp,
    /// `base * F(n)` with F = 1, 1, 2, 3, 5, ... (`"fibonacci"`).
    Fibonacci,
    /// `first` exactly, and above it `base * (factor^n - 1)` (`"exp_above_first"`). The jitter spreads what is above
    /// `first` alone; without the key `jitter` that is 80 % to 120 %.
    ///
    /// # Source
    ///
    /// The exponential of the transient-fault handling of Azure: `first` is its minimum, `base` its delta and `cap` its
    /// maximum.
    ExpAboveFirst,
    /// Uniform between `base` and three times the previous delay, which is `base` at first
    /// (`"decorrelated"`).
    ///
    /// # Source
    ///
    /// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    Decorrelated,
    /// The user's own.
    Custom(&'static (dyn BackoffFn + Send + Sync)),
}

words! {
    Backoff {
        None "none", Fixed "fixed", Linear "linear", Exp "exp", Fibonacci "fibonacci",
        ExpAboveFirst "exp_above_first", Decorrelated "decorrelated"
    } else { Custom "custom" }
}

impl Backoff {
    /// Returns whether the shape never waits.
    pub const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

impl fmt::Debug for Backoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `first + n * base`.
pub(crate) const fn linear(first: Nanos, base: Nanos, n: u32) -> Nanos {
    Nanos(first.0 + base.0 * n as f64)
}

/// `first + base * (factor^n - 1)`.
#[inline]
pub(crate) const fn exponential(first: Nanos, base: Nanos, factor: f64, n: u32) -> Nanos {
    Nanos(first.0 + base.0 * (power(factor, n) - 1.0))
}

/// `base * F(n)`, F = 1, 1, 2, 3, 5, ...
pub(crate) const fn fibonacci(base: Nanos, n: u32) -> Nanos {
    // F(1476) is the last that a float holds; 2^53 is beyond any cap.
    let (mut value, mut next) = (1.0, 1.0);
    let mut rest = n;
    while rest > 0 && value < 9_007_199_254_740_992.0 {
        (value, next) = (next, value + next);
        rest = rest.saturating_sub(1);
    }
    Nanos(base.0 * value)
}

/// `factor^n` by repeated squaring; `f64::powi` is neither in `core` nor `const`.
#[inline]
#[expect(clippy::float_cmp, reason = "exactly the default")]
#[expect(clippy::arithmetic_side_effects, reason = "at most 2046")]
const fn power(factor: f64, n: u32) -> f64 {
    // The default is a matter of the exponent alone.
    if factor == 2.0 && n < 1024 {
        return f64::from_bits((1023 + n as u64) << 52);
    }
    let (mut result, mut square, mut rest) = (1.0, factor, n);
    while rest > 0 {
        if rest & 1 == 1 {
            result *= square;
        }
        square *= square;
        rest >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first seven delays of a shape, in nanoseconds.
    fn seven(shape: impl Fn(u32) -> Nanos) -> [u128; 7] {
        [0, 1, 2, 3, 4, 5, 6].map(|n| shape(n).duration().as_nanos())
    }

    #[test]
    fn delays_grow_by_their_formulas() {
        let (first, base) = (Nanos(5.0), Nanos(10.0));
        let steps = seven(|n| linear(first, base, n));
        assert_eq!(steps, [5, 15, 25, 35, 45, 55, 65]);
        let doubled = seven(|n| exponential(first, base, 2.0, n));
        assert_eq!(doubled, [5, 15, 35, 75, 155, 315, 635]);
        let trebled = seven(|n| exponential(first, base, 3.0, n));
        assert_eq!(trebled, [5, 25, 85, 265, 805, 2425, 7285]);
        assert_eq!(seven(|n| fibonacci(base, n)), [10, 10, 20, 30, 50, 80, 130]);
    }
}
