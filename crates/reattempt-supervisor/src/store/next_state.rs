//! How a task continues after a failure: workers, supervisors and stores share this decision.

use std::time::Duration;

use reattempt::Policy;

use super::expiry::{Expiry, Overdue};
use crate::task::{Direction, FailingStep, OnFailure, State, Task};

/// After so many deaths of its workers in a row, a task is a suspect: one of its steps may end the
/// process. The statements of the stores have the same number.
pub(crate) const SUSPECT_DEATHS: i32 = 2;

/// A task is parked when its workers have died more often than this.
pub(crate) const MAX_DEATHS: i32 = 20;

/// How often a task has failed, and how often its workers have died, since its last progress.
///
/// Only outcomes of steps are progress: a step was done, failed for good, or was undone. Nothing is
/// written when a task makes progress. The next failure compares the places of the outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// The number of failures in a row.
    pub failures: i32,
    /// How many workers have died in a row while they held the task.
    pub deaths: i32,
    /// The place of the newest outcome at the last failure or death; -1 if there was none.
    pub failed_ord: i32,
}

impl Counts {
    /// The counts of a task without failures.
    pub const NONE: Self = Self {
        failures: 0,
        deaths: 0,
        failed_ord: -1,
    };

    /// Returns the counts in the store.
    pub const fn of(task: &Task) -> Self {
        Self {
            failures: task.failures,
            deaths: task.deaths,
            failed_ord: task.failed_ord,
        }
    }

    /// Returns the counts of a task whose newest outcome has the place `progress`.
    #[must_use]
    pub const fn after(self, progress: i32) -> Self {
        // No write resets the counts when a task makes progress: that would be one more write for
        // each step. The next failure sees that the newest outcome has moved.
        if progress <= self.failed_ord {
            return self;
        }
        Self {
            failures: 0,
            deaths: 0,
            failed_ord: progress,
        }
    }
}

/// A failure of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// The failures and deaths of the task before it, since the newest outcome.
    pub counts: Counts,
    /// How often the step that failed had failed before, in this direction. `None` if it was not a
    /// step that failed.
    pub step_failures: Option<i32>,
}

impl Failure {
    /// Returns what an expired task had before, whose newest outcome has the place `progress`.
    pub(crate) fn before(task: &Task, progress: i32, overdue: Option<Overdue>) -> Self {
        Self {
            counts: Counts::of(task).after(progress),
            step_failures: overdue.map(|step| step.failures),
        }
    }
}

/// Returns how often a step has failed in this direction.
pub(crate) fn failures_of(failing: &[FailingStep], direction: Direction, seq: i32) -> i32 {
    let same = |step: &&FailingStep| (step.direction, step.seq) == (direction, seq);
    failing.iter().find(same).map_or(0, |step| step.failures)
}

/// How a task continues after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextState {
    /// Its state.
    pub state: State,
    /// Its direction.
    pub direction: Direction,
    /// Its failures and deaths.
    pub counts: Counts,
    /// How long it waits before workers may claim it again.
    pub delay: Duration,
}

impl NextState {
    /// Returns how a task continues after one more failure.
    ///
    /// * Up to `max_failures` failures, it runs again after a growing delay. The failures of the
    ///   step count, or the failures of the task in a row if it was not a step that failed.
    /// * After that it has failed for good: see [`after_final_failure`](Self::after_final_failure).
    /// * If undoing has failed as often, it is parked for an operator.
    pub fn after_failure(task: &Task, failure: Failure, delays: &Policy, random: u64) -> Self {
        let before = failure.counts;
        let counts = Counts {
            failures: before.failures.saturating_add(1),
            ..before
        };
        // A step that never works must end its task, whatever makes progress beside it. So its own
        // failures count, and those of the task in a row only for other code, such as a panic.
        let earlier = failure.step_failures.unwrap_or(before.failures);
        let next = Self {
            state: State::Pending,
            direction: task.direction,
            counts,
            delay: delay(earlier, delays, random),
        };
        if earlier < task.max_failures {
            return next;
        }
        match task.direction {
            Direction::Forward => Self::after_final_failure(task.on_failure, before.failed_ord),
            // There is nothing further back to which the task could turn.
            Direction::Undoing | Direction::Cancelling => next.parked(),
        }
    }

    /// Returns how an expired task continues, with what it and its overdue step had before.
    ///
    /// The death of its worker is not its failure: the task runs again after a growing delay. If one
    /// worker after the other dies, it is parked, and nothing is undone.
    pub fn after_expiry(
        task: &Task,
        expiry: Expiry,
        failure: Failure,
        delays: &Policy,
        random: u64,
    ) -> Self {
        match expiry {
            Expiry::Task => Self::after_final_failure(task.on_failure, failure.counts.failed_ord),
            Expiry::Step => Self::after_failure(task, failure, delays, random),
            // A process may die for any reason. Undoing work because of a deployment would be
            // wrong, so deaths are counted apart, and never turn a task back.
            Expiry::Owner => {
                let before = failure.counts;
                let deaths = before.deaths.saturating_add(1);
                let next = Self {
                    state: State::Pending,
                    direction: task.direction,
                    counts: Counts { deaths, ..before },
                    delay: delay(before.deaths, delays, random),
                };
                if deaths > MAX_DEATHS {
                    next.parked()
                } else {
                    next
                }
            }
        }
    }

    /// Returns how a task continues that went forward and has failed for good: it turns back and
    /// undoes its steps, or stays as it is. It has no failures then, because it runs other code.
    pub const fn after_final_failure(on_failure: OnFailure, progress: i32) -> Self {
        let (state, direction) = match on_failure {
            OnFailure::Undo => (State::Pending, Direction::Undoing),
            OnFailure::Keep => (State::Error, Direction::Forward),
        };
        Self {
            state,
            direction,
            counts: Counts {
                failed_ord: progress,
                ..Counts::NONE
            },
            delay: Duration::ZERO,
        }
    }

    const fn parked(self) -> Self {
        Self {
            state: State::Parked,
            delay: Duration::ZERO,
            ..self
        }
    }
}

/// Returns how long a task waits after it has failed `earlier` times and once more.
fn delay(earlier: i32, delays: &Policy, random: u64) -> Duration {
    let nth = u32::try_from(earlier).unwrap_or_default();
    delays.sample_delay(nth, None, || random)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::processing_task;
    use reattempt::Jitter;

    const DELAYS: Policy = Policy::new()
        .unlimited()
        .base(Duration::from_secs(1))
        .cap(Duration::from_secs(3))
        .jitter(Jitter::None);

    fn apply(task: &mut Task, next: NextState) {
        task.state = next.state;
        task.direction = next.direction;
        task.failures = next.counts.failures;
        task.deaths = next.counts.deaths;
        task.failed_ord = next.counts.failed_ord;
    }

    /// Lets a task fail, and returns its new direction, its failures, and the seconds it waits.
    fn fail(task: &mut Task, progress: i32, step_failures: Option<i32>) -> (Direction, i32, u64) {
        let failure = Failure {
            counts: Counts::of(task).after(progress),
            step_failures,
        };
        let next = NextState::after_failure(task, failure, &DELAYS, 0);
        apply(task, next);
        (next.direction, next.counts.failures, next.delay.as_secs())
    }

    #[test]
    fn a_task_that_fails_waits_longer_each_time_and_is_undone_in_the_end() {
        use Direction::{Forward, Undoing};
        let mut task = processing_task();
        let mut seen = Vec::new();
        while task.state != State::Parked {
            seen.push(fail(&mut task, -1, None));
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

    #[test]
    fn progress_starts_the_count_of_the_task_anew() {
        let mut task = processing_task();
        for round in 0..100 {
            for nth in 1..=3 {
                assert_eq!(fail(&mut task, round, None).1, nth);
            }
        }
        assert_eq!(fail(&mut task, 99, None).0, Direction::Undoing);
    }

    #[test]
    fn a_step_that_fails_again_and_again_ends_its_task_whatever_else_makes_progress() {
        let mut task = processing_task();
        for earlier in 0..3 {
            let seen = fail(&mut task, 10 + earlier, Some(earlier));
            assert_eq!((seen.0, seen.1), (Direction::Forward, 1));
        }
        assert_eq!(fail(&mut task, 20, Some(3)).0, Direction::Undoing);
        // A first failure of a step is its first, however often others have failed.
        task.failures = 9;
        assert_eq!(fail(&mut task, 20, Some(0)), (Direction::Undoing, 10, 1));
    }

    fn after_death(task: &Task, progress: i32) -> NextState {
        let before = Failure::before(task, progress, None);
        NextState::after_expiry(task, Expiry::Owner, before, &DELAYS, 0)
    }

    #[test]
    fn deaths_are_not_failures_and_never_undo_a_task() {
        let mut task = processing_task();
        task.failures = 2;
        for nth in 1..=MAX_DEATHS {
            let next = after_death(&task, -1);
            apply(&mut task, next);
            assert_eq!((task.state, task.deaths), (State::Pending, nth));
        }
        let last = after_death(&task, -1);
        assert_eq!(
            (last.state, last.direction, last.counts.failures),
            (State::Parked, Direction::Forward, 2)
        );
        // Progress resets them.
        let other = after_death(&task, 0);
        assert_eq!((other.state, other.counts.deaths), (State::Pending, 1));
    }
}
