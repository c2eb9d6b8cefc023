//! How a step fails: its error, as the workflow sees it, and why its attempts ended.

use crate::task::Record;
use reattempt::{GiveUpReason, RetryError};
use std::fmt;

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
