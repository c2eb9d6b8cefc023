//! The delays that Restate supports: they grow by one factor up to a cap, without jitter.

use std::fmt;
use std::time::Duration;

use reattempt::Policy;
use restate_sdk::context::RunRetryPolicy;

/// The delays of a policy that Restate can wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Delays {
    first: Duration,
    factor: f64,
    cap: Duration,
}

/// After this many failures the delay of every sensible policy is its cap.
const ENOUGH: u32 = 1_000;

/// How many delays `of` compares.
const COMPARED: u32 = 64;

impl Delays {
    /// Converts the delays of a policy.
    ///
    /// # Errors
    ///
    /// Fails if Restate cannot wait these delays.
    pub(crate) fn of(policy: &Policy) -> Result<Self, DelaysError> {
        let delay = |nth, random| policy.sample_delay(nth, None, || random);
        if (0..COMPARED).any(|nth| delay(nth, 0) != delay(nth, u64::MAX)) {
            return Err(DelaysError(
                "they have jitter, which Restate does not support; add `.jitter(Jitter::None)`",
            ));
        }
        let [first, second, cap] = [0, 1, ENOUGH].map(|nth| delay(nth, 0));
        if first.is_zero() {
            return Err(DelaysError("the first is zero; add a `.base(...)`"));
        }
        let factor = if second == cap {
            cap.as_secs_f64() / first.as_secs_f64()
        } else {
            second.as_secs_f64() / first.as_secs_f64()
        };
        let delays = Self { first, factor, cap };
        let is_same = |nth: u32| {
            let (ours, theirs) = (delay(nth, 0).as_secs_f64(), delays.nth(nth).as_secs_f64());
            (ours - theirs).abs() <= 0.002 * ours + 1e-6
        };
        if !(0..COMPARED).all(is_same) {
            return Err(DelaysError(
                "they do not grow by one factor, as those of Restate do; use the backoff `exp` or `fixed`",
            ));
        }
        Ok(delays)
    }

    /// Returns the delay after the `nth` failure.
    fn nth(&self, nth: u32) -> Duration {
        let grown = self.first.as_secs_f64() * self.factor.powf(f64::from(nth));
        if grown >= self.cap.as_secs_f64() {
            return self.cap;
        }
        Duration::from_secs_f64(grown)
    }

    /// Returns a policy that retries for ever.
    pub(crate) fn for_ever(&self) -> RunRetryPolicy {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a factor of seven digits is one"
        )]
        let factor = self.factor as f32;
        RunRetryPolicy::new()
            .initial_delay(self.first)
            .exponentiation_factor(factor)
            .max_delay(self.cap)
    }

    /// Returns a policy that allows this many failures.
    pub(crate) fn up_to(&self, failures: u32) -> RunRetryPolicy {
        self.for_ever().max_attempts(failures.saturating_add(1))
    }
}

/// Restate cannot wait the delays of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelaysError(&'static str);

impl fmt::Display for DelaysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Restate cannot wait these delays between failures: {}",
            self.0
        )
    }
}

impl std::error::Error for DelaysError {}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use super::*;
    use reattempt::{Backoff, Jitter};

    const PLAIN: Policy = Policy::new()
        .base(Duration::from_millis(100))
        .cap(Duration::from_secs(5))
        .jitter(Jitter::None);

    #[test]
    fn delays_that_grow_by_one_factor_are_converted() {
        let delays = Delays::of(&PLAIN.factor(3.0)).unwrap();
        assert_eq!(delays.first, Duration::from_millis(100));
        assert_eq!(delays.cap, Duration::from_secs(5));
        assert!((delays.factor - 3.0).abs() < 1e-6);
        assert_eq!(delays.nth(2), Duration::from_millis(900));
        assert_eq!(delays.nth(9), Duration::from_secs(5));
        let constant = Delays::of(&PLAIN.backoff(Backoff::Fixed)).unwrap();
        assert!((constant.factor - 1.0).abs() < 1e-6);
        let two = PLAIN.cap(Duration::from_millis(150));
        assert_eq!(Delays::of(&two).unwrap().nth(1), Duration::from_millis(150));
    }

    #[test]
    fn other_delays_are_refused_by_name() {
        let message = |policy: Policy| Delays::of(&policy).unwrap_err().to_string();
        assert!(message(PLAIN.jitter(Jitter::Full)).ends_with("add `.jitter(Jitter::None)`"));
        assert!(message(PLAIN.backoff(Backoff::Linear)).contains("do not grow by one factor"));
        assert!(message(PLAIN.fast_first(true)).contains("the first is zero"));
    }
}
