//! The task as the body of a step sees it.

use std::sync::{Arc, OnceLock};

use super::agent_timer::{AgentError, AgentTimer, Answer};
use super::commit_slot::CommitSlot;
use super::workflow_context::{UndoneStep, WorkflowContext};
use crate::identity::StepKey;
use crate::task::{Fence, TaskId};

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

impl WorkflowContext {
    /// Returns what the body of a step sees.
    pub(super) fn step(&self, key: StepKey) -> Step {
        let suffix = match &self.undone_step {
            None => "",
            Some(UndoneStep { is_unknown, .. }) if *is_unknown => "-undo-unknown",
            Some(_) => "-undo",
        };
        Step {
            task: self.inner.lease.task,
            fence: self.inner.lease.fence,
            commit: None,
            answer: None,
            key: LazyKey::new(key, suffix),
        }
    }
}

/// Returns what agents have said in the next attempt.
///
/// # Errors
///
/// The error of the attempt. As long as there is none, it does not return.
pub async fn agent_attempt<T>(step: &Step) -> Result<T, AgentError> {
    match step.answer.as_ref().and_then(|answer| answer.next_error()) {
        Some(error) => Err(error),
        None => std::future::pending().await,
    }
}

/// Returns the timer of this step.
pub fn agent_timer(step: &Step) -> AgentTimer {
    AgentTimer(step.answer.clone())
}
