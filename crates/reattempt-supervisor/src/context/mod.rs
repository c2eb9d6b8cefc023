//! A task as its workflow sees it: steps, timers, signals, and a clock that shows the same time
//! when the workflow runs again.
//!
//! The floors, from the bottom: `journal`, `engine_calls`, `arguments` and `step`; `workflow_context`; `commit`,
//! `body`, `generations` and `wait`; `agent_timer`; `call` and `children`; `agents`.

mod agent_timer;
mod agents;
mod arguments;
mod body;
mod call;
mod children;
mod commit;
pub(crate) mod engine_calls;
mod generations;
pub(crate) mod journal;
mod lost;
pub(crate) mod poll;
mod step;
mod wait;
mod workflow_context;

pub use agent_timer::{AgentError, AgentTimer, agent_attempt, agent_timer};
pub(crate) use agents::call_agent;
pub use arguments::{StepArguments, UndoArguments};
pub(crate) use body::count_attempt;
pub use call::UndoFn;
pub(crate) use call::call;
pub(crate) use children::{Outcome, StartedChild};
pub use commit::{Committed, PendingCommit, RecordError};
pub use lost::{Lost, LostByContent, LostByNothing, LostBySource, LostByVerdict};
pub use step::{Step, StepError, StepFailure, StepSpec};
pub use workflow_context::{Compensation, CompensationFuture, WorkflowContext};
pub(crate) use workflow_context::{Inner, Limits, Undo, UndoneStep, stop_of};
