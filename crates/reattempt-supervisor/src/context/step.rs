//! A step: its settings, its errors, and the task as its body sees it.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reattempt::{GiveUpReason, RetryError};

use super::agent_timer::Answer;
use super::commit::CommitSlot;
use crate::identity::StepKey;
use crate::task::{Fence, Record, TaskId};

/// What `#[step]` knows about its function. Only expansions create it.
#[derive(Debug, Clone, Copy)]
pub struct StepSpec {
    /// The name of the step.
    pub name: &'static str,
    /// How long the step may take in all.
    pub complete_by: Option<Duration>,
    /// Whether the step may run twice.
    pub idempotent: bool,
    /// The name of the step that undoes this one.
    pub undo: Option<&'static str>,
    /// The name of the step that undoes this one if its outcome is unknown.
    pub undo_unknown: Option<&'static str>,
}

impl StepSpec {
    /// Returns whether the start of the step is recorded before its body runs.
    pub(super) const fn records_start(&self) -> bool {
        // A step may run twice, so its start is not worth a write. These must be known to have
        // begun: an operator decides about the first, and the second is undone without an outcome.
        !self.idempotent || self.undo_unknown.is_some()
    }
}

/// The key of a step, which becomes a text when its body asks for it.
#[derive(Debug)]
pub(super) struct LazyKey {
    of: StepKey,
    suffix: &'static str,
    text: OnceLock<String>,
}

impl LazyKey {
    pub(super) const fn new(of: StepKey, suffix: &'static str) -> Self {
        Self {
            of,
            suffix,
            text: OnceLock::new(),
        }
    }
}

/// The task, as the body of a step sees it.
#[derive(Debug)]
pub struct Step {
    pub(super) task: TaskId,
    pub(super) fence: Fence,
    pub(super) key: LazyKey,
    /// Set if the step has `transaction`.
    pub(super) commit: Option<Arc<CommitSlot>>,
    /// Set while the policy of a step with `queue` decides.
    pub(super) answer: Option<Arc<Answer>>,
}

impl Step {
    /// Returns the key of this step for services that know idempotency keys: 32 hexadecimal digits, and
    /// `-undo` or `-undo-unknown` in a compensation. All attempts of the step in all processes have the same
    /// key, and no other step has it.
    ///
    /// It comes from the store, the workflow, the key of the task and the name of the step, with the place among the
    /// calls of that name or the `key` that the step was given: a task that a failover has lost has the same keys
    /// when it is submitted again and makes its calls in the same order.
    pub fn key(&self) -> &str {
        self.key
            .text
            .get_or_init(|| format!("{}{}", self.key.of, self.key.suffix))
    }

    /// Returns the fence of the task, which grows whenever the task changes hands. A service that
    /// remembers the highest fence it has seen can refuse a process that has lost its task and does
    /// not know it yet.
    pub const fn fence(&self) -> Fence {
        self.fence
    }

    /// Returns the number of the task.
    pub const fn task(&self) -> TaskId {
        self.task
    }
}

/// A step that failed for good. When the workflow runs again, it gets the same error.
///
/// Failures that are worth another attempt do not reach the workflow: the step runs again later, if
/// need be in another process, until the task has failed `max_failures` times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepError {
    step: String,
    message: String,
    attempts: u32,
}

impl StepError {
    /// Returns the name of the step.
    pub fn step(&self) -> &str {
        &self.step
    }

    /// Returns the text of the last error.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the number of attempts.
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Returns the error of a step that has failed for good.
    pub(super) fn of(record: &Record) -> Self {
        Self {
            step: record.name.clone(),
            message: record.error.clone().unwrap_or_default(),
            attempts: record.attempts.unsigned_abs(),
        }
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step `{}` failed: {}", self.step, self.message)
    }
}

impl std::error::Error for StepError {}

/// Converts the error of [`WorkflowContext::signal`](crate::WorkflowContext::signal): the signal
/// has a value of another type.
impl From<serde_json::Error> for StepError {
    fn from(error: serde_json::Error) -> Self {
        Self {
            step: "signal".to_owned(),
            message: error.to_string(),
            attempts: 1,
        }
    }
}

/// Why the attempts of a step ended.
#[derive(Debug)]
pub struct StepFailure {
    pub(super) message: String,
    pub(super) attempts: u32,
    /// Why the attempts ended, if a later one may succeed.
    pub(super) retry_reason: Option<GiveUpReason>,
}

impl StepFailure {
    /// Returns the failure of a single attempt, which is final.
    pub(crate) fn last(error: &impl fmt::Display) -> Self {
        Self {
            // With all causes, where the error is one of `anyhow` or `eyre`.
            message: format!("{error:#}"),
            attempts: 1,
            retry_reason: None,
        }
    }

    /// Lets the step run again later.
    pub(crate) fn again(self) -> Self {
        Self {
            retry_reason: Some(GiveUpReason::Attempts),
            ..self
        }
    }

    /// Returns the failure of all attempts.
    pub(crate) fn gave_up<E: fmt::Display>(error: &RetryError<E>) -> Self {
        let message = match error.last() {
            Some(last) => format!("{last:#}"),
            None => error.to_string(),
        };
        let is_final = matches!(
            error.reason(),
            GiveUpReason::Permanent
                | GiveUpReason::NotIdempotent
                | GiveUpReason::RetryForbidden
                | GiveUpReason::Strategy
        );
        Self {
            message,
            attempts: error.attempts(),
            retry_reason: (!is_final).then_some(error.reason()),
        }
    }
}
