//! The delays of a policy: before jitter, at least and at most, and drawn.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;

use crate::backoff::{self, Backoff};
use crate::duration::Nanos;
use crate::jitter::{Jitter, unit};
use crate::key::Key;
use crate::values::{Course, Values};

impl Values {
    /// Returns the delay before retry number `retry` (from 0), capped, before jitter.
    ///
    /// Decorrelated delays depend on chance alone, and those of a custom shape
    /// are known when it is asked: of these it is the longest possible.
    ///
    /// # Units and ranges
    ///
    /// Saturates; never panics, for any `retry`.
    pub const fn delay(&self, retry: u32) -> Duration {
        self.computed(retry).duration()
    }

    /// Returns the shortest and the longest delay that retry number `retry` can have.
    ///
    /// Of a custom shape that is nothing and the cap.
    pub const fn delay_bounds(&self, retry: u32) -> (Duration, Duration) {
        let delay = self.computed(retry);
        let (low, high) = match self.backoff {
            Backoff::Decorrelated if delay.0 > 0.0 => (self.base.min(self.cap), delay),
            Backoff::Custom(_) => (Nanos(0.0), delay),
            Backoff::ExpAboveFirst if delay.0 > 0.0 => {
                let (low, high) = self.spread_growth(retry);
                (low.min(self.cap), high.min(self.cap))
            }
            // What comes at once.
            Backoff::Decorrelated | Backoff::ExpAboveFirst => (delay, delay),
            _ => self.jitter.bounds(delay, self.cap),
        };
        (low.duration(), high.duration())
    }

    /// As [`delay`](Self::delay), in nanoseconds.
    #[inline]
    const fn computed(&self, retry: u32) -> Nanos {
        if self.is_fast(retry) {
            return Nanos(0.0);
        }
        self.uncapped(retry).min(self.cap)
    }

    #[inline(always)]
    const fn uncapped(&self, retry: u32) -> Nanos {
        match self.backoff {
            Backoff::None => Nanos(0.0),
            Backoff::Fixed | Backoff::Fibonacci if retry == 0 => self.first,
            Backoff::Fixed => self.base,
            Backoff::Linear => backoff::linear(self.first, self.base, retry),
            Backoff::Fibonacci => backoff::fibonacci(self.base, retry),
            Backoff::Decorrelated => {
                let longest = Nanos(self.base.0 * 3.0);
                // What comes at once is no delay to grow from.
                let grown = retry.saturating_sub(self.fast_first as u32);
                backoff::exponential(longest, longest, 3.0, grown)
            }
            Backoff::Exp | Backoff::ExpAboveFirst => {
                backoff::exponential(self.first, self.base, self.factor, retry)
            }
            // Not known before it is asked; the cap holds in any case.
            Backoff::Custom(_) => self.cap,
        }
    }

    /// Returns the delay before retry number `retry`, jittered with 64 random bits, which are asked
    /// for only when they are needed.
    ///
    /// `previous` is the delay before this one; only decorrelated delays look
    /// at it, and start from `base` when it is `None`.
    ///
    /// # Units and ranges
    ///
    /// At most `cap`, for every input.
    #[inline(always)]
    pub fn sample_delay(
        &self,
        retry: u32,
        previous: Option<Duration>,
        random: impl FnOnce() -> u64,
    ) -> Duration {
        if self.is_fast(retry) {
            return Duration::ZERO;
        }
        match self.backoff {
            _ if matches!(self.course, Course::Doubled) => drawn(self.doubled(retry), random()),
            Backoff::None => Duration::ZERO,
            Backoff::Decorrelated => self.decorrelated(previous, random()),
            Backoff::ExpAboveFirst => self.grown(retry, random()),
            Backoff::Custom(shape) => {
                let delay = Nanos::new(shape.delay(retry));
                self.floored(self.jittered(delay, self.chance(random)))
            }
            _ => self.jittered(self.uncapped(retry), self.chance(random)),
        }
    }

    /// Returns the policy as it holds after an error by which the service asks for time, where nothing comes at once: the unit of
    /// its delays is at least `least`.
    pub const fn slowed(mut self, least: Duration) -> Self {
        let most = match self.backoff {
            // Their least delay is the unit: at the cap, all would be as long as the cap.
            Backoff::Decorrelated | Backoff::ExpAboveFirst => Nanos(self.cap.0 / 3.0),
            _ => self.cap,
        };
        let least = Nanos::new(least).min(most);
        self.base = self.base.max(least);
        self.first = self.first.max(least);
        self.fast_first = false;
        self.on_course()
    }

    /// Returns it with the course of the values that it has now.
    pub(crate) const fn on_course(mut self) -> Self {
        self.course = self.find_course();
        self
    }

    /// Returns what its delays depend on.
    #[expect(clippy::float_cmp, reason = "of numbers that were written")]
    pub(crate) const fn find_course(&self) -> Course {
        let doubles = matches!(self.backoff, Backoff::Exp)
            && matches!(self.jitter, Jitter::Full)
            && self.factor == 2.0
            && self.first.0 == self.base.0
            && self.base.is_whole()
            && self.cap.is_whole();
        match self.backoff {
            // A failure asks for more than the count.
            _ if self.reset_after.is_some()
                || self.decided
                || self.has(Key::Codes)
                || self.is_low() =>
            {
                Course::Other
            }
            Backoff::Exp if doubles => Course::Doubled,
            Backoff::None | Backoff::Fixed | Backoff::Linear | Backoff::Exp => Course::Shaped,
            _ => Course::Other,
        }
    }

    /// What a function of the user's own answers is not known before: attempts without end must not hammer. Never above
    /// the cap.
    fn floored(&self, delay: Duration) -> Duration {
        const FLOOR: Duration = Duration::from_millis(1);

        if self.attempts().is_some() {
            return delay;
        }
        delay.max(FLOOR.min(self.cap.duration()))
    }

    /// Returns the longest delay in nanoseconds of one whose delays double. Whole numbers take a third of the instructions
    /// that floats do, and give the same delays.
    #[inline(always)]
    const fn doubled(&self, retry: u32) -> u64 {
        let (base, cap) = (self.base.truncated(), self.cap.truncated());
        let longest = if retry < base.leading_zeros() {
            base << retry
        } else {
            u64::MAX
        };
        if longest < cap { longest } else { cap }
    }

    /// In `[0, 1)`; not drawn where nothing depends on it.
    #[inline(always)]
    fn chance(&self, random: impl FnOnce() -> u64) -> f64 {
        match self.jitter {
            Jitter::None => 0.0,
            _ => unit(random()),
        }
    }

    #[inline(always)]
    fn jittered(&self, delay: Nanos, r: f64) -> Duration {
        let delay = delay.min(self.cap);
        self.jitter.apply(delay, self.cap, r).duration()
    }

    /// The jitter that holds: a shape may have a default of its own.
    pub(crate) const fn spread(&self) -> Jitter {
        match self.backoff {
            Backoff::ExpAboveFirst if !self.given.contains(Key::Jitter) => Jitter::Ratio(0.2),
            _ => self.jitter,
        }
    }

    /// The least and the most of `"exp_above_first"`, before the cap: the jitter leaves `first` as it is.
    const fn spread_growth(&self, retry: u32) -> (Nanos, Nanos) {
        let growth = backoff::exponential(Nanos(0.0), self.base, self.factor, retry);
        let (low, high) = self.spread().bounds(growth, Nanos(f64::INFINITY));
        (Nanos(self.first.0 + low.0), Nanos(self.first.0 + high.0))
    }

    #[cold]
    fn grown(&self, retry: u32, random: u64) -> Duration {
        let (low, high) = self.spread_growth(retry);
        // What overflows is the cap, and never the difference of two infinities.
        let delay = if high.0.is_finite() {
            low.0 + (high.0 - low.0) * unit(random)
        } else {
            high.0
        };
        Nanos(delay).min(self.cap).duration()
    }

    #[cold]
    fn decorrelated(&self, previous: Option<Duration>, random: u64) -> Duration {
        let previous = previous.map_or(self.base, Nanos::new);
        let high = if previous.0 > self.base.0 {
            previous
        } else {
            self.base
        };
        let delay = self.base.0 + (high.0 * 3.0 - self.base.0) * unit(random);
        Nanos(delay).min(self.cap).duration()
    }

    /// Whether retry number `retry` comes at once whatever the shape says.
    #[inline(always)]
    const fn is_fast(&self, retry: u32) -> bool {
        self.fast_first && retry == 0
    }

    /// Whether a delay depends on the one before it.
    #[inline]
    pub const fn looks_back(&self) -> bool {
        matches!(self.backoff, Backoff::Decorrelated)
    }
}

/// Returns the part of `longest` nanoseconds that 53 random bits say, to the nearest one.
#[inline(always)]
const fn drawn(longest: u64, random: u64) -> Duration {
    let product = ((random >> 11) as u128).wrapping_mul(longest as u128);
    Duration::from_nanos((product.wrapping_add(1 << 52) >> 53) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes at once has no bounds beside that, whatever the shape.
    #[test]
    fn a_first_retry_at_once_takes_no_time() {
        for shape in [
            Backoff::Decorrelated,
            Backoff::ExpAboveFirst,
            Backoff::Exp,
            Backoff::Fixed,
        ] {
            let policy = Values::new().backoff(shape).fast_first(true);
            assert_eq!(
                policy.delay_bounds(0),
                (Duration::ZERO, Duration::ZERO),
                "{shape:?}"
            );
            assert!(policy.delay_bounds(1).1 > Duration::ZERO, "{shape:?}");
        }
    }

    #[test]
    fn the_bounds_of_a_custom_shape_hold_whatever_it_answers() {
        for answer in [Duration::ZERO, Duration::from_secs(1), Duration::MAX] {
            // Leaked: a shape is a constant, and a test ends.
            let shape = Box::leak(Box::new(move |_: u32| answer));
            for jitter in [Jitter::None, Jitter::Full, Jitter::Ratio(0.5)] {
                let policy = Values::new().backoff(Backoff::Custom(shape)).jitter(jitter);
                let (least, most) = policy.delay_bounds(1);
                for random in [0, u64::MAX / 2, u64::MAX] {
                    let delay = policy.sample_delay(1, None, || random);
                    assert!((least..=most).contains(&delay), "{jitter:?} {delay:?}");
                }
            }
        }
    }

    #[test]
    fn growth_above_first_has_a_jitter_of_its_own_unless_one_is_given() {
        let shape = Values::new().backoff(Backoff::ExpAboveFirst);
        assert_eq!(shape.spread(), Jitter::Ratio(0.2));
        assert_eq!(shape.jitter(Jitter::Full).spread(), Jitter::Full);
        assert_eq!(shape.jitter(Jitter::None).spread(), Jitter::None);
        assert_eq!(Values::new().spread(), Values::new().jitter);
    }

    #[test]
    fn a_decorrelated_delay_after_a_fast_first_starts_from_base() {
        let base = Duration::from_millis(100);
        let policy = Values::new().backoff(Backoff::Decorrelated).base(base);
        for (policy, times) in [(policy, 9), (policy.fast_first(true), 3)] {
            let mut previous = None;
            for retry in 0..2 {
                previous = Some(policy.sample_delay(retry, previous, || u64::MAX));
            }
            // Rounded up: the random number is below 1.
            assert_eq!(previous, Some(times * base));
            assert_eq!(policy.delay_bounds(1), (base, times * base));
        }
    }

    /// Of "fixed" and "linear", too; the other delays keep their numbers.
    #[test]
    fn a_fast_first_comes_at_once_with_every_shape() {
        let (base, first) = (Duration::from_secs(1), Duration::from_secs(2));
        for shape in [
            Backoff::Fixed,
            Backoff::Linear,
            Backoff::Exp,
            Backoff::Fibonacci,
        ] {
            let usual = Values::new().backoff(shape).base(base).first(first);
            let usual = usual.jitter(Jitter::None);
            let fast = usual.fast_first(true);
            assert_eq!(fast.delay(0), Duration::ZERO);
            assert_eq!(fast.sample_delay(0, None, || 1), Duration::ZERO);
            for retry in 1..5 {
                assert_eq!(fast.delay(retry), usual.delay(retry), "{shape:?}");
                let drawn = fast.sample_delay(retry, None, || 1);
                assert_eq!(drawn, usual.delay(retry), "{shape:?}");
            }
        }
    }

    #[test]
    fn the_jitter_takes_its_share_of_every_delay() {
        fn second(_: u32) -> Duration {
            Duration::from_secs(1)
        }
        let (first, half) = (Duration::from_secs(1), Duration::from_millis(500));
        let shapes = [
            Backoff::Custom(&second),
            Backoff::Fixed,
            Backoff::Linear,
            Backoff::Exp,
            Backoff::Fibonacci,
        ];
        for shape in shapes {
            let policy = Values::new().backoff(shape).first(first);
            assert_eq!(policy.sample_delay(0, None, || 0), Duration::ZERO);
            assert_eq!(policy.sample_delay(0, None, || 1 << 63), half, "{shape:?}");
        }
    }

    #[test]
    fn what_grows_above_first_is_drawn_above_it() {
        let first = Duration::from_secs(1);
        let policy = Values::new().backoff(Backoff::ExpAboveFirst).first(first);
        for retry in 0..4 {
            let (least, most) = policy.delay_bounds(retry);
            assert!(least >= first);
            for random in [0, u64::MAX / 2, u64::MAX] {
                let delay = policy.sample_delay(retry, None, || random);
                assert!((least..=most).contains(&delay), "{retry} {delay:?}");
            }
        }
    }

    /// A function may answer with nothing; attempts without end still pause, up to the cap.
    #[test]
    fn attempts_without_end_pause() {
        fn nothing(_: u32) -> Duration {
            Duration::ZERO
        }
        let (delay, cap) = (Duration::from_millis(1), Duration::from_micros(10));
        let policy = Values::new().backoff(Backoff::Custom(&nothing));
        for (policy, least) in [
            (policy, Duration::ZERO),
            (policy.unlimited(), delay),
            (policy.unlimited().cap(cap), cap),
        ] {
            assert_eq!(policy.sample_delay(1, None, || u64::MAX), least);
        }
    }

    /// The default cap too, for whatever was drawn.
    #[test]
    fn no_delay_is_longer_than_the_cap() {
        fn hour(_: u32) -> Duration {
            Duration::from_secs(3600)
        }
        let short = Duration::from_millis(250);
        let default = Values::new().unlimited();
        let cap = default.cap.duration();
        for backoff in [
            Backoff::Linear,
            Backoff::Exp,
            Backoff::ExpAboveFirst,
            Backoff::Fibonacci,
            Backoff::Decorrelated,
            Backoff::Custom(&hour),
        ] {
            for (policy, cap) in [(default, cap), (default.cap(short), short)] {
                let policy = policy.backoff(backoff);
                for retry in [40, u32::MAX] {
                    let delay = policy.sample_delay(retry, Some(cap * 2), || u64::MAX);
                    assert!(delay <= cap, "{backoff:?} {delay:?}");
                }
            }
        }
    }
}
