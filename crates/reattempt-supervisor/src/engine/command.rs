//! A task of an engine, and its commands.

use std::time::Duration;

use crate::task::TaskId;
use crate::time::Time;

/// A task of an engine.
#[derive(Debug, Clone)]
pub struct EngineTask {
    /// A number that no other task of the engine has.
    /// [`WorkflowContext::id`](crate::WorkflowContext::id) returns it.
    pub id: TaskId,
    /// A number that makes the keys of steps unique, together with `key`: no other task of the engine has both.
    pub salt: u64,
    /// The key with which it was submitted.
    pub key: String,
    /// Its arguments, a JSON array.
    pub input: String,
    /// The headers of the submission, a JSON object.
    pub headers: Option<String>,
    /// The time of its start; the same whenever it runs again.
    pub started_at: Time,
    /// The time of the engine.
    pub now: Time,
    /// How long it may take in all; `None` takes the limit of the workflow.
    pub complete_by: Option<Duration>,
}

/// The next command of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Make [`Execution::run`](super::Execution::run) the next entry of the journal, under this
    /// name.
    Run(String),
    /// Wait until this time, or until one of these signals comes. Nothing runs meanwhile.
    Wait {
        /// The time; `None` if there is no timer.
        until: Option<Time>,
        /// The names of the signals, and how many of each the workflow has received.
        signals: Vec<(String, usize)>,
    },
    /// Complete the task with this result, as JSON.
    Complete(String),
    /// Undo the finished steps, see [`Execution::compensations`](super::Execution::compensations).
    Undo,
    /// Run the task again later, from the start: it failed with this message.
    Fail(String),
    /// Let the task wait until an operator has fixed the problem in this message.
    Park(String),
    /// End the task: its arguments do not fit its workflow, and it has done nothing.
    Refuse(String),
}

/// Why an execution has no entry for the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineError {
    /// A later attempt may succeed. If there are too many failures, see
    /// [`Execution::fail`](super::Execution::fail).
    Failed(String),
    /// The task waits until an operator has fixed the problem in this message.
    Parked(String),
}
