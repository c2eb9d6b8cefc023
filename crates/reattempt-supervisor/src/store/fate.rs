//! What becomes of a task that failed: one answer for workers, supervisors and stores.

use std::time::Duration;

use reattempt::Policy;

use super::Expired;
use crate::task::{Direction, Run, State};

/// How a task goes on after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fate {
    /// Its state.
    pub state: State,
    /// Which way it goes.
    pub direction: Direction,
    /// How often it has failed on this way.
    pub failures: i32,
    /// When it may be claimed again.
    pub delay: Duration,
}

impl Fate {
    /// After one more failure: again after a delay that grows; past `max_failures` what was done is undone, and if
    /// that has failed too often, an operator must look.
    pub fn of_failure(
        (direction, failures): (Direction, i32),
        max_failures: i32,
        delays: &Policy,
        random: u64,
    ) -> Self {
        if failures < max_failures {
            let nth = u32::try_from(failures).unwrap_or_default();
            return Self {
                state: State::Pending,
                direction,
                failures: failures.saturating_add(1),
                delay: delays.sample_delay(nth, None, || random),
            };
        }
        match direction {
            Direction::Forward => Self::undone(),
            Direction::Undoing | Direction::Cancelling => Self {
                state: State::Parked,
                direction,
                failures: failures.saturating_add(1),
                delay: Duration::ZERO,
            },
        }
    }

    /// Of a task that a supervisor found without an owner or without time.
    pub fn of_expired(run: &Run, expired: Expired, delays: &Policy, random: u64) -> Self {
        match expired {
            Expired::Task => Self::undone(),
            Expired::Owner | Expired::Step => Self::of_failure(
                (run.direction, run.failures),
                run.max_failures,
                delays,
                random,
            ),
        }
    }

    const fn undone() -> Self {
        Self {
            state: State::Pending,
            direction: Direction::Undoing,
            failures: 0,
            delay: Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reattempt::Jitter;

    const DELAYS: Policy = Policy::new()
        .base(Duration::from_secs(1))
        .cap(Duration::from_secs(3))
        .jitter(Jitter::None);

    #[test]
    fn a_task_that_fails_waits_longer_each_time_and_is_undone_in_the_end() {
        use Direction::{Forward, Undoing};
        let mut now = (Forward, 0);
        let mut seen = Vec::new();
        loop {
            let fate = Fate::of_failure(now, 3, &DELAYS, 0);
            seen.push((fate.direction, fate.failures, fate.delay.as_secs()));
            now = (fate.direction, fate.failures);
            if fate.state == State::Parked {
                break;
            }
        }
        assert_eq!(
            seen,
            [
                (Forward, 1, 1),
                (Forward, 2, 2),
                (Forward, 3, 3),
                (Undoing, 0, 0),
                (Undoing, 1, 1),
                (Undoing, 2, 2),
                (Undoing, 3, 3),
                (Undoing, 4, 0),
            ]
        );
    }
}
