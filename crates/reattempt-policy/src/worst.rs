//! The most that a policy can cost, so that it can be asserted when the program
//! is compiled.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;

use crate::backoff::Backoff;
use crate::duration::{Nanos, shorter};
use crate::values::Values;

/// The most that one call under a policy can cost; made by `Policy::worst_case`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorstCase {
    attempts: Option<u32>,
    total_delay: Option<Duration>,
    total_time: Option<Duration>,
}

impl WorstCase {
    /// Returns the number of attempts; `None` without a limit, or with `reset_after`.
    pub const fn attempts(&self) -> Option<u32> {
        self.attempts
    }

    /// Returns the longest time that all delays take together; `None` without a limit:
    /// `reset_after` lets them start anew as often as it takes.
    ///
    /// Delays that errors ask for do not count: each can be as long as the policy's
    /// `max_retry_after`, and 10 % more. Delays after errors of throttling count as others, although they start
    /// from `throttled_base`.
    pub const fn total_delay(&self) -> Option<Duration> {
        self.total_delay
    }

    /// Returns the longest time from the start of the call to the start of its last attempt; `None`
    /// if that depends on how long attempts take. With a `deadline` that cancels attempts, the call
    /// also ends then.
    pub const fn total_time(&self) -> Option<Duration> {
        self.total_time
    }
}

/// Delays that are added up one by one, and groups that the rest is parted into:
/// each delay of a group is taken to be as long as its last, which can only make
/// the sum too large.
const ADDED_UP: u32 = 256;

impl Values {
    /// Returns the most that one call can cost.
    pub const fn worst_case(&self) -> WorstCase {
        let total_delay = self.longest_sleeping();
        let trying = match (self.all_attempts(), self.timeout) {
            (Some(1), _) => Some(Duration::ZERO),
            (Some(max), Some(timeout)) => Some(timeout.saturating_mul(max.saturating_sub(1))),
            _ => None,
        };
        let total_time = match (total_delay, trying) {
            (Some(total_delay), Some(trying)) => Some(total_delay.saturating_add(trying)),
            _ => None,
        };
        let (total_delay, total_time) = (
            shortest(total_delay, self.deadline),
            shortest(total_time, self.deadline),
        );
        WorstCase {
            attempts: self.all_attempts(),
            total_delay,
            total_time,
        }
    }

    /// The number of attempts in all; a count that starts anew has no end.
    const fn all_attempts(&self) -> Option<u32> {
        match self.reset_after {
            Some(_) if self.max > 1 => None,
            _ => self.attempts(),
        }
    }

    const fn longest_sleeping(&self) -> Option<Duration> {
        // What it waits is its own affair.
        if self.decided && self.max > 1 {
            return None;
        }
        let Some(max) = self.all_attempts() else {
            return if self.backoff.is_none() {
                Some(Duration::ZERO)
            } else {
                None
            };
        };
        let retries = max.saturating_sub(1);
        let mut sum = Duration::ZERO;
        let mut retry = 0;
        while retry < retries && retry < ADDED_UP {
            let (_, longest) = self.delay_bounds(retry);
            sum = sum.saturating_add(longest);
            retry = retry.saturating_add(1);
        }
        if !self.never_falls() {
            let rest = retries.saturating_sub(retry);
            return Some(sum.saturating_add(self.cap.duration().saturating_mul(rest)));
        }
        let group = retries.saturating_sub(retry).div_ceil(ADDED_UP);
        while retry < retries {
            let next = retry.saturating_add(group);
            let next = if next < retries { next } else { retries };
            let (_, longest) = self.delay_bounds(next.saturating_sub(1));
            let count = next.saturating_sub(retry);
            sum = sum.saturating_add(longest.saturating_mul(count));
            retry = next;
        }
        Some(sum)
    }

    /// The least that the delays before `retries` retries take together.
    ///
    /// Beyond those that are added up one by one it can be too small, never too large; of delays that grow by
    /// the same step it is exact.
    pub(crate) const fn least_waiting(&self, retries: u32) -> Duration {
        let mut sum = Duration::ZERO;
        let mut retry = 0;
        while retry < retries && retry < ADDED_UP {
            let (least, _) = self.delay_bounds(retry);
            sum = sum.saturating_add(least);
            retry = retry.saturating_add(1);
        }
        let group = retries.saturating_sub(retry).div_ceil(ADDED_UP);
        while retry < retries {
            let rest = retries.saturating_sub(retry);
            let count = if group < rest { group } else { rest };
            let next = retry.saturating_add(count);
            let (first, _) = self.delay_bounds(retry);
            let (last, _) = self.delay_bounds(next.saturating_sub(1));
            let group = match self.backoff {
                // Equal steps; where the cap bends them the true sum is larger.
                Backoff::Linear => half(first.saturating_add(last).saturating_mul(count)),
                _ => shorter(first, last).saturating_mul(count),
            };
            sum = sum.saturating_add(group);
            retry = next;
        }
        sum
    }

    /// A delay before this retry that is so far from the least to the longest.
    pub(crate) const fn between(&self, retry: u32, share: f64) -> Duration {
        let (least, longest) = self.delay_bounds(retry);
        let spread = Nanos::new(longest.saturating_sub(least)).0;
        least.saturating_add(Nanos(spread * share).duration())
    }

    /// Whether no delay after the first two is shorter than the one before.
    const fn never_falls(&self) -> bool {
        match self.backoff {
            // A factor below 1 is refused, but not here.
            Backoff::Exp | Backoff::ExpAboveFirst => self.factor >= 1.0,
            _ => true,
        }
    }
}

const fn half(duration: Duration) -> Duration {
    match duration.checked_div(2) {
        Some(half) => half,
        None => Duration::ZERO, // not by 2
    }
}

/// The shorter of two limits, of which each may be none.
const fn shortest(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(shorter(one, other)),
        (None, limit) | (limit, None) => limit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jitter::Jitter;

    const MS: Duration = Duration::from_millis(1);

    const MOST: Values = Values::new().max(4_000_000_000).factor(1.5);

    /// Delays one by one, however many.
    fn one_by_one(policy: &Values, retries: u32) -> Duration {
        (0..retries)
            .map(|retry| policy.delay_bounds(retry).1)
            .fold(Duration::ZERO, Duration::saturating_add)
    }

    #[test]
    fn delays_far_on_are_no_longer_than_they_are() {
        let policy = Values::new().base(MS.saturating_mul(100));
        let policy = policy.jitter(Jitter::None).budgeted();
        let at_cap = MS.saturating_mul(30);
        for (policy, slack) in [
            (policy.backoff(Backoff::Fixed), 0),
            (policy.backoff(Backoff::Fixed).jitter(Jitter::Ratio(0.2)), 0),
            (policy.backoff(Backoff::Fixed).first(MS), 0),
            (policy.backoff(Backoff::Fixed).fast_first(true), 0),
            (policy.backoff(Backoff::None), 0),
            (policy.backoff(Backoff::Exp), 0),
            (policy.backoff(Backoff::Exp).base(MS).factor(1.001), 100),
            (policy.backoff(Backoff::Fibonacci), 0),
            (policy.backoff(Backoff::ExpAboveFirst), 0),
            (policy.backoff(Backoff::Decorrelated), 0),
            (policy.backoff(Backoff::Linear).cap(at_cap), 0),
            (policy.backoff(Backoff::Linear).base(MS), 100),
        ] {
            for max in [256, 257, 258, 500, 513, 514, 5_000] {
                let total = policy.max(max).worst_case().total_delay();
                let total = total.unwrap_or_default();
                let true_sum = one_by_one(&policy, max - 1);
                let allowed = true_sum.checked_div(slack).unwrap_or_default();
                let rounding = Duration::from_nanos(max.into());
                assert!(total + rounding >= true_sum, "{policy:?}: {total:?}");
                assert!(
                    total <= true_sum + allowed + rounding,
                    "{max} {policy:?}: {total:?}, {true_sum:?}"
                );
            }
        }
        let fixed = policy.backoff(Backoff::Fixed).max(500);
        assert_eq!(fixed.worst_case().total_delay(), Some(MS * 49_900));
        // It is a constant, too.
        const { assert!(MOST.worst_case().total_delay().is_some()) };
    }

    #[test]
    fn the_least_is_never_too_large_and_exact_for_equal_steps() {
        let policy = Values::new().base(MS).cap(Duration::from_secs(20));
        let policy = policy.jitter(Jitter::Equal).budgeted();
        for policy in [
            policy.backoff(Backoff::Fixed),
            policy.backoff(Backoff::Fixed).first(MS * 9),
            policy.backoff(Backoff::Linear),
            policy.backoff(Backoff::Linear).cap(MS * 300),
            policy.backoff(Backoff::Exp).factor(1.001),
            policy.backoff(Backoff::Fibonacci),
            policy.backoff(Backoff::Decorrelated),
        ] {
            for retries in [0, 1, 255, 256, 257, 500, 513, 5_000] {
                let true_sum: Duration =
                    (0..retries).map(|retry| policy.delay_bounds(retry).0).sum();
                let least = policy.least_waiting(retries);
                assert!(least <= true_sum, "{policy:?}: {least:?}, {true_sum:?}");
                let is_bent =
                    matches!(policy.backoff, Backoff::Exp) || policy.cap.duration() == MS * 300;
                assert!(
                    is_bent || least == true_sum,
                    "{policy:?}: {least:?}, {true_sum:?}"
                );
                assert!(least + true_sum / 20 >= true_sum, "{policy:?}: {least:?}");
            }
        }
    }

    #[test]
    fn delays_of_which_nothing_is_known_take_the_cap() {
        let policy = Values::new().max(1_001).cap(MS);
        let custom = policy.backoff(Backoff::Custom(&|_: u32| Duration::ZERO));
        assert_eq!(custom.worst_case().total_delay(), Some(MS * 1_000));
    }

    #[test]
    fn how_long_a_strategy_waits_nobody_knows() {
        let decided = Values::new().decided();
        for policy in [decided, decided.max(4)] {
            let worst = policy.worst_case();
            assert_eq!((worst.total_delay(), worst.total_time()), (None, None));
            let deadline = Duration::from_secs(3);
            let worst = policy.deadline(deadline).worst_case();
            assert_eq!(
                (worst.total_delay(), worst.total_time()),
                (Some(deadline), Some(deadline))
            );
        }
        assert_eq!(
            decided.max(1).worst_case().total_delay(),
            Some(Duration::ZERO)
        );
    }

    #[test]
    fn debug_names_what_the_methods_answer() {
        let worst = Values::new()
            .max(2)
            .base(Duration::from_secs(1))
            .worst_case();
        assert_eq!(
            format!("{worst:?}"),
            "WorstCase { attempts: Some(2), total_delay: Some(1s), total_time: None }"
        );
    }
}
