//! A task as its workflow sees it: steps, timers, signals, and a clock that shows the same time
//! when the workflow runs again.
//!
//! The floors, from the bottom: `journal`, `engine_calls`, `arguments`, `spec`, `failure`, `started`, `attempts` and
//! `agent_timer`; `workflow_context`; `commit_slot`, `generations` and `wait`; `step`, `body` and `children`; `commit` and
//! `call`; `agents`.

mod agent_timer;
mod agents;
mod arguments;
mod attempts;
mod body;
mod call;
mod children;
mod commit;
mod commit_slot;
pub(crate) mod engine_calls;
mod failure;
mod generations;
pub(crate) mod journal;
mod lost;
pub(crate) mod poll;
mod spec;
mod started;
mod step;
mod wait;
mod workflow_context;

pub use agent_timer::{AgentError, AgentTimer};
pub(crate) use agents::call_agent;
pub use arguments::{StepArguments, UndoArguments};
pub(crate) use attempts::count_attempt;
pub use call::UndoFn;
pub(crate) use call::call;
pub(crate) use children::Outcome;
pub use commit::{Committed, PendingCommit, RecordError};
pub use failure::{StepError, StepFailure};
pub use lost::{Lost, LostByContent, LostByNothing, LostBySource, LostByVerdict};
pub use spec::StepSpec;
pub(crate) use started::StartedChild;
pub use step::{Step, agent_attempt, agent_timer};
pub use workflow_context::{Compensation, CompensationFuture, WorkflowContext};
pub(crate) use workflow_context::{Inner, Limits, Undo, UndoneStep, stop_of};
