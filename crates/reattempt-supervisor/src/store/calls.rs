//! Calls of steps that agents run: other programs, which know nothing but four functions of the database.

use std::time::Duration;

use super::StoreError;
use crate::task::Lease;

/// A call of a step, as it is offered to agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCall {
    /// The task and its fence.
    pub lease: Lease,
    /// The number of the call in its task.
    pub seq: i32,
    /// The queue of the agents.
    pub queue: String,
    /// The name of the step.
    pub step: String,
    /// The key of the step, the same for all attempts.
    pub key: String,
    /// The arguments, a JSON array.
    pub input: String,
    /// A hash of the arguments; `None` if the step does not compare them.
    pub args_hash: Option<String>,
    /// The headers of the task, a JSON object.
    pub headers: Option<String>,
    /// How long an attempt may take.
    pub limit: Option<Duration>,
}

/// What agents have said about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallStatus {
    /// The attempt, which rises whenever the call is offered again or withdrawn.
    pub attempt: i32,
    /// What became of the attempt.
    pub state: CallState,
    /// How many attempts have failed before, since the call was offered by a new run of its step.
    pub failures: i32,
    /// How many agents in a row have said nothing in time before.
    pub deaths: i32,
    /// Whether this look has offered it.
    pub is_new: bool,
    /// The name of the step with which it was offered.
    pub step: String,
    /// The hash of the arguments with which it was offered.
    pub args_hash: Option<String>,
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallState {
    /// No agent has taken it, or one works on it.
    Open,
    /// The agent has let its time pass.
    Silent,
    /// The agent has used up the whole `complete_by` of the step.
    Overdue,
    /// The agent has finished it, with this result as JSON.
    Finished(String),
    /// The attempt has failed.
    Failed(AgentFailure),
    /// Agents cannot take it.
    Withdrawn,
}

/// Why an attempt has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFailure {
    /// The error.
    pub error: String,
    /// The name of the verdict.
    pub verdict: String,
    /// The delay that the agent has asked for.
    pub delay: Option<Duration>,
}

/// What follows an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextOffer {
    /// Agents may take the call again after this delay.
    In(Duration),
    /// The same; it is the first attempt of a new run of the step.
    Anew,
    /// Agents may not take it.
    Never,
}

/// Returns the error of a store that has no agents.
pub(super) fn without_agents() -> StoreError {
    StoreError::lasting(
        "a step with `queue` waits for agents, and this store has none; use a PostgreSQL store without a codec, or drop `queue`",
    )
}
