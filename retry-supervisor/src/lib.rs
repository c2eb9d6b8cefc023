//! Durable tasks for [`reattempt`].
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(test, feature = "test-util"))]
pub mod conformance;
mod ends;
mod events;
mod flow;
#[doc(hidden)]
pub mod private;
mod resources;
mod scheduler;
pub mod store;
mod supervisor;
mod task;
mod tasks;
mod time;
mod workflow;
mod writer;

pub use events::Event;
pub use flow::{Flow, Step, StepError};
pub use retry_macros::{step, workflow};
pub use scheduler::{Running, Scheduler, SetupError};
pub use store::memory::Memory;
#[cfg(feature = "postgres")]
pub use store::postgres::Postgres;
#[cfg(feature = "sqlite")]
pub use store::sqlite::Sqlite;
pub use supervisor::{Supervisor, Watching};
pub use task::{
    Direction, Fence, Hold, Kind, NewRun, Record, Run, RunId, Signal, State, UnknownState, WorkerId,
};
pub use tasks::{Progress, SubmitError, Task, Tasks};
pub use time::Time;
pub use workflow::{Starts, Submission, Workflow};
