//! How a task continues after a failure: workers, supervisors and stores share this decision.

use std::time::Duration;

use reattempt::Policy;

use super::expiry::Expiry;
use crate::task::{Direction, OnFailure, State, Task};

/// How a task continues after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextState {
    /// Its state.
    pub state: State,
    /// Its direction.
    pub direction: Direction,
    /// The number of failures in this direction.
    pub failures: i32,
    /// How long it waits before workers may claim it again.
    pub delay: Duration,
}

impl NextState {
    /// Returns how a task continues after one more failure.
    ///
    /// * Up to `max_failures` failures, it runs again after a growing delay.
    /// * After that it has failed for good: see [`after_final_failure`](Self::after_final_failure).
    /// * If undoing has failed as often, it is parked for an operator.
    pub fn after_failure(
        (direction, failures): (Direction, i32),
        max_failures: i32,
        on_failure: OnFailure,
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
            Direction::Forward => Self::after_final_failure(on_failure),
            Direction::Undoing | Direction::Cancelling => Self {
                state: State::Parked,
                direction,
                failures: failures.saturating_add(1),
                delay: Duration::ZERO,
            },
        }
    }

    /// Returns how an expired task continues.
    pub fn after_expiry(task: &Task, expiry: Expiry, delays: &Policy, random: u64) -> Self {
        match expiry {
            Expiry::Task => Self::after_final_failure(task.on_failure),
            Expiry::Owner | Expiry::Step => Self::after_failure(
                (task.direction, task.failures),
                task.max_failures,
                task.on_failure,
                delays,
                random,
            ),
        }
    }

    /// Returns how a task continues that went forward and has failed for good: it turns back and
    /// undoes its steps, or stays as it is.
    pub const fn after_final_failure(on_failure: OnFailure) -> Self {
        let (state, direction) = match on_failure {
            OnFailure::Undo => (State::Pending, Direction::Undoing),
            OnFailure::Keep => (State::Error, Direction::Forward),
        };
        Self {
            state,
            direction,
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
            let next = NextState::after_failure(now, 3, OnFailure::Undo, &DELAYS, 0);
            seen.push((next.direction, next.failures, next.delay.as_secs()));
            now = (next.direction, next.failures);
            if next.state == State::Parked {
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
