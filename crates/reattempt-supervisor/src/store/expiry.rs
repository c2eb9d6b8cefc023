//! Finds expired tasks.

use std::time::Duration;

use crate::task::{Direction, State, Task, WorkerId};
use crate::time::Time;

/// How much later than a worker a supervisor acts, for the `complete_by` of what runs: the worker
/// should end it first.
pub const GRACE: Duration = Duration::from_secs(1);

/// The part of a task that has expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Expiry {
    /// The lease of its worker.
    Owner,
    /// The `complete_by` of a step.
    Step,
    /// The `complete_by` of the task.
    Task,
}

/// A step whose time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overdue {
    /// The number of the call.
    pub seq: i32,
    /// How often it had failed before in the direction of its task.
    pub failures: i32,
}

impl Expiry {
    /// Returns the text for the error of the task.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Owner => "its worker did not renew its lease in time",
            Self::Step => "a step was not done by its `complete_by`",
            Self::Task => "the task was not done by its `complete_by`",
        }
    }
}

/// Returns the part of a task that has expired at `now`, if any. `due` is the earliest limit of its running steps.
/// After an outage no task that a worker holds is judged: the worker may wait to record a step, or the end of the
/// task, that was in time.
pub(crate) fn find_expiry(
    task: &Task,
    due: Option<Time>,
    now: Time,
    may_judge: bool,
    is_alive: impl FnOnce(&WorkerId) -> bool,
) -> Option<Expiry> {
    let is_over = |by: Option<Time>| by.is_some_and(|by| by < now);
    let is_held = task.state == State::Processing;
    let grace = if is_held { GRACE } else { Duration::ZERO };
    let complete_by = task.complete_by.map(|by| by.after(grace));
    if task.state.is_final() || is_held && !may_judge {
        None
    // First, because a death is not a failure of the task. If its time is over, too, the next sweep
    // finds it in its queue.
    } else if is_held && !task.owner.as_ref().is_some_and(is_alive) {
        Some(Expiry::Owner)
    // Before its steps: another run of an overdue step would be in vain. A task that is undone has
    // no limit.
    } else if task.direction == Direction::Forward && is_over(complete_by) {
        Some(Expiry::Task)
    } else if is_held && (is_over(due) || is_over(task.step_by)) {
        Some(Expiry::Step)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::processing_task;

    const NOW: Time = Time::from_micros(100_000_000);

    /// A worker should end it first, and only a supervisor can end a task without a worker.
    #[test]
    fn a_supervisor_waits_for_the_grace_of_a_task_that_is_held() {
        for (state, late, expiry) in [
            (State::Pending, Duration::ZERO, None),
            (State::Pending, Duration::from_micros(1), Some(Expiry::Task)),
            (State::Processing, Duration::from_micros(1), None),
            (State::Processing, GRACE, None),
            (
                State::Processing,
                GRACE + Duration::from_micros(1),
                Some(Expiry::Task),
            ),
        ] {
            let task = Task {
                state,
                owner: Some(WorkerId("one".to_owned())),
                complete_by: Some(NOW),
                ..processing_task()
            };
            let found = find_expiry(&task, None, NOW.after(late), true, |_| true);
            assert_eq!(found, expiry, "{state:?} {late:?}");
        }
    }
}
