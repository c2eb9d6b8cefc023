//! The most that a policy can cost, so that it can be asserted when the program
//! is compiled.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;

use crate::duration::shorter;
use crate::policy::Policy;

/// The most that one call under a policy can cost; made by [`Policy::worst_case`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorstCase {
    attempts: Option<u32>,
    sleeping: Option<Duration>,
    wall: Option<Duration>,
}

impl WorstCase {
    /// The number of attempts; `None` without a limit.
    pub const fn attempts(&self) -> Option<u32> {
        self.attempts
    }

    /// The longest time that all delays take together; `None` without a limit.
    ///
    /// A delay that an error asks for is not counted: each can be as long as
    /// the policy's `patience`, and 10 % more.
    pub const fn sleeping(&self) -> Option<Duration> {
        self.sleeping
    }

    /// The longest time from the start of the call to the start of its last
    /// attempt, which with a `deadline` is also its end where the attempt is cut
    /// off; `None` when it depends on how long attempts take.
    pub const fn wall(&self) -> Option<Duration> {
        self.wall
    }
}

/// Delays that are added up one by one; the rest is taken to be as long as the
/// cap, which can only make the sum too large.
const ADDED_UP: u32 = 256;

impl Policy {
    /// The most that one call under this policy can cost.
    ///
    /// # Examples
    ///
    /// ```
    /// # use retry_runtime as reattempt;
    /// use reattempt::Policy;
    /// use std::time::Duration;
    ///
    /// const POLICY: Policy = Policy::new().max(4);
    /// const _: () = assert!(POLICY.worst_case().sleeping().unwrap().as_secs() < 1);
    ///
    /// let worst = POLICY.worst_case();
    /// assert_eq!(worst.attempts(), Some(4));
    /// assert_eq!(worst.sleeping(), Some(Duration::from_millis(700)));
    /// ```
    pub const fn worst_case(&self) -> WorstCase {
        let sleeping = self.longest_sleeping();
        let trying = match (self.attempts(), self.timeout) {
            (Some(1), _) => Some(Duration::ZERO),
            (Some(max), Some(timeout)) => Some(timeout.saturating_mul(max.saturating_sub(1))),
            _ => None,
        };
        let wall = match (sleeping, trying) {
            (Some(sleeping), Some(trying)) => Some(sleeping.saturating_add(trying)),
            _ => None,
        };
        let (sleeping, wall) = (
            shortest(sleeping, self.deadline),
            shortest(wall, self.deadline),
        );
        WorstCase {
            attempts: self.attempts(),
            sleeping,
            wall,
        }
    }

    const fn longest_sleeping(&self) -> Option<Duration> {
        // What it waits is its own affair.
        if self.decided && self.max > 1 {
            return None;
        }
        let Some(max) = self.attempts() else {
            return if self.shape.is_none() {
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
        let rest = retries.saturating_sub(retry);
        if rest > 0 && !self.shape.is_none() {
            sum = sum.saturating_add(self.cap.duration().saturating_mul(rest));
        }
        Some(sum)
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

    #[test]
    fn how_long_a_strategy_waits_nobody_knows() {
        let decided = Policy::new().decided();
        for policy in [decided, decided.max(4)] {
            let worst = policy.worst_case();
            assert_eq!((worst.sleeping(), worst.wall()), (None, None));
            let deadline = Duration::from_secs(3);
            let worst = policy.deadline(deadline).worst_case();
            assert_eq!(
                (worst.sleeping(), worst.wall()),
                (Some(deadline), Some(deadline))
            );
        }
        assert_eq!(decided.max(1).worst_case().sleeping(), Some(Duration::ZERO));
    }
}
