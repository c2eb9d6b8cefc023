//! What can become of a submission.

use std::fmt;
use std::sync::Arc;

use crate::store::StoreError;
use crate::task::{State, TaskId};

/// A client could not submit a task or reach it, or the task did not succeed.
#[derive(Debug)]
#[non_exhaustive]
pub enum SubmitError {
    /// The store has an error.
    Store(Arc<StoreError>),
    /// A value cannot be written as JSON, or the JSON does not fit its type.
    Json(serde_json::Error),
    /// A value is larger than [`Client::max_payload`](crate::Client::max_payload).
    TooLarge(String),
    /// As many tasks wait in this queue as [`Client::max_pending`](crate::Client::max_pending) allows.
    QueueFull(String, u32),
    /// A schedule cannot be stored, or there is none of this name.
    Schedule(String),
    /// A queue cannot have this limit.
    Limit(String),
    /// Another number of tasks fits than was expected.
    NotExpected(String),
    /// A task cannot be forked from this step, or under this key.
    Fork(String),
    /// There is no task with this number.
    UnknownTask(TaskId),
    /// The task has no such step that has failed, or whose outcome is unknown.
    UnknownStep(TaskId),
    /// The state of the task does not allow it.
    NotAllowed(TaskId, State),
    /// The task ended in this state, with this error.
    Ended(TaskId, State, String),
}

impl fmt::Display for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Json(error) => write!(f, "the JSON does not fit: {error}"),
            Self::TooLarge(message)
            | Self::Schedule(message)
            | Self::Limit(message)
            | Self::NotExpected(message)
            | Self::Fork(message) => f.write_str(message),
            Self::QueueFull(queue, most) => write!(
                f,
                "{most} tasks wait in the queue `{queue}`, the most that it may have: submit later, start \
                 more workers, or raise `max_pending`"
            ),
            Self::UnknownTask(task) => write!(f, "there is no task {task}"),
            Self::UnknownStep(task) => write!(
                f,
                "task {task} has no such step that has failed, or of which nobody knows whether it was done"
            ),
            Self::NotAllowed(task, state) => {
                let hint = match state {
                    State::Parked => "resubmit it first, or give it up",
                    State::Pruned => "it has ended, and only its key is left",
                    state if state.is_final() => "it has ended",
                    _ => "it has not ended",
                };
                write!(
                    f,
                    "task {task} is {state}, which does not allow this: {hint}"
                )
            }
            Self::Ended(task, State::Pruned, _) => write!(
                f,
                "task {task} was pruned after its end, so nobody knows its result: only its key is left"
            ),
            Self::Ended(task, state, why) => write!(f, "task {task} ended as {state}: {why}"),
        }
    }
}

impl std::error::Error for SubmitError {}

impl From<Arc<StoreError>> for SubmitError {
    fn from(error: Arc<StoreError>) -> Self {
        Self::Store(error)
    }
}
