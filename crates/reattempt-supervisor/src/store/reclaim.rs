//! How a supervisor reclaims expired tasks.

use std::time::Duration;

use reattempt::Policy;

use super::expiry::{Expiry, Overdue};
use super::next_state::{Counts, NextState};
use crate::task::{Direction, FailingStep, State, Task, TaskId, WorkerId};
use crate::time::Time;

/// How a supervisor looks for expired tasks.
#[derive(Debug, Clone, Copy)]
pub struct Sweep {
    /// The largest number of tasks.
    pub limit: u32,
    /// The average interval between the sweeps of a supervisor. If no supervisor has swept for much
    /// longer, the store was out of order, and the sweep judges no lease before every worker could
    /// renew it.
    pub every: Duration,
    /// How long a task waits after its failures: the delays of this policy.
    pub delays: Policy,
    /// Whether it does nothing if another supervisor has swept within half of `every`. A store may ignore it.
    pub in_turn: bool,
}

/// An expired task that a supervisor has given back to its queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reclaimed {
    /// The task.
    pub task: TaskId,
    /// The name of its workflow.
    pub workflow: String,
    /// The part that had expired.
    pub expiry: Expiry,
    /// The worker that held the task.
    pub owner: Option<WorkerId>,
    /// Its new state.
    pub state: State,
    /// Its new direction.
    pub direction: Direction,
    /// Its failures and deaths.
    pub counts: Counts,
    /// The step whose time was over. The store sets the time.
    pub failing_step: Option<FailingStep>,
    /// The error of the task.
    pub error: String,
    /// How long it waits before workers may claim it again.
    pub delay: Duration,
}

impl Reclaimed {
    /// Describes a reclaimed task by its earlier state, the part that had expired, the step if it was
    /// one, and its next state.
    pub fn new(task: &Task, expiry: Expiry, overdue: Option<Overdue>, next: NextState) -> Self {
        let failing = |step: Overdue| FailingStep {
            direction: task.direction,
            seq: step.seq,
            failures: step.failures.saturating_add(1),
            error: expiry.message().to_owned(),
            at: Time::default(),
        };
        Self {
            failing_step: overdue.map(failing),
            task: task.id,
            workflow: task.workflow.clone(),
            expiry,
            owner: task.owner.clone(),
            state: next.state,
            direction: next.direction,
            counts: next.counts,
            error: match expiry {
                Expiry::Owner if next.state == State::Parked => format!(
                    "its worker died {} times in a row; look whether one of its steps ends the process, then \
                     resubmit the task or cancel it",
                    next.counts.deaths
                ),
                _ => expiry.message().to_owned(),
            },
            delay: next.delay,
        }
    }

    /// Returns the step that ended the task or turned it back.
    pub(crate) fn failed_seq(&self) -> Option<i32> {
        let step = self.failing_step.as_ref()?;
        let goes_on = self.state == State::Pending && self.direction == step.direction;
        (!goes_on).then_some(step.seq)
    }
}
