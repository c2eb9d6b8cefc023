#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
// Every possible panic is fixed or listed in `docs/panics.md`.
#![cfg_attr(
    not(test),
    warn(
        clippy::arithmetic_side_effects,
        clippy::disallowed_methods,
        clippy::get_unwrap,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_in_result
    )
)]

// The floors, from the bottom. A module imports only from floors below its own.
//
// 1. `time`, and `cron`, `resources`, `payload`, `transaction` on it
// 2. `task`: what a store keeps
// 3. `store`: the trait, its writes, its implementations, and submissions
// 4. `writer`, `running`, `local`, `events`
// 5. `context`: a task as its workflow sees it
// 6. `workflow`
// 7. `client`, `children`, `generations`
// 8. `operator`, `engine`, `page`, `replay`, and `private` for the expansions of the attributes
// 9. `schedule`, and `supervisor` on it
// 10. `scheduler`

mod cell;
mod children;
mod client;
mod context;
#[cfg(feature = "cron")]
mod cron;
pub mod engine;
mod events;
mod facts;
mod generations;
mod identity;
mod local;
mod misnamed;
mod operator;
#[cfg(feature = "page")]
pub mod page;
mod payload;
#[doc(hidden)]
pub mod private;
pub mod replay;
mod resources;
mod running;
#[cfg(feature = "cron")]
mod schedule;
mod scheduler;
pub mod store;
mod supervisor;
mod task;
mod time;
#[cfg(feature = "postgres")]
pub mod transaction;
mod workflow;
mod writer;

pub use children::{Child, ChildError};
pub use client::{Client, Ends, EndsError, Progress, SubmitError, TaskHandle};
pub use context::{
    AgentError, Committed, PendingCommit, RecordError, Step, StepError, WorkflowContext,
};
pub use events::{Event, StepEnding};
pub use operator::Operator;
pub use payload::Payload;
/// # Examples
///
/// ```
/// use reattempt_supervisor::{
///     Client, Memory, Scheduler, State, Step, StepError, SubmitError, WorkflowContext, step, workflow,
/// };
///
/// struct Shop;
///
/// #[step(retry(max = 3, base = "10ms", on(_)), complete_by = "30s", undo = refund)]
/// async fn pay(step: &Step, #[with] _shop: &Shop, what: &str) -> Result<String, String> {
///     Ok(format!("{what}, paid once: {}", !step.key().is_empty()))
/// }
///
/// #[step]
/// async fn refund(_step: &Step, what: &str, receipt: &String) -> Result<(), String> {
///     assert_eq!(*receipt, format!("{what}, paid once: true"));
///     Ok(())
/// }
///
/// #[step]
/// async fn ship(_step: &Step) -> Result<(), String> {
///     Err("out of stock".to_owned())
/// }
///
/// #[workflow]
/// async fn order(context: &WorkflowContext, what: String) -> Result<(), StepError> {
///     pay(context, &what).await?;
///     ship(context).await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new(Memory::new());
/// let scheduler = Scheduler::new(&client).register(order).with(Shop).start()?;
/// let task = client.submit(order("book".to_owned())).await?;
/// let result = task.wait().await;
/// assert!(matches!(result, Err(SubmitError::Ended(_, State::Compensated, _))));
/// scheduler.stop(std::time::Duration::from_secs(1)).await;
/// # Ok(())
/// # }
/// ```
pub use reattempt_supervisor_macros::step;
/// # Examples
///
/// ```
/// use reattempt_supervisor::{
///     Client, Memory, Scheduler, Step, StepError, WorkflowContext, step, workflow,
/// };
///
/// #[step]
/// async fn double(_step: &Step, number: u32) -> Result<u32, String> {
///     number.checked_mul(2).ok_or_else(|| format!("{number} is too large"))
/// }
///
/// #[workflow(name = "numbers", version = 2, complete_by = "3d", max_failures = 3)]
/// async fn sum(context: &WorkflowContext, first: u32, second: u32) -> Result<u32, StepError> {
///     Ok(double(context, first).await? + double(context, second).await?)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new(Memory::new());
/// let scheduler = Scheduler::new(&client).register(sum).start()?;
/// let task = client.submit(sum(1, 2).key("once")).await?;
/// assert_eq!(task.wait().await?, 6);
/// scheduler.stop(std::time::Duration::from_secs(1)).await;
/// # Ok(())
/// # }
/// ```
pub use reattempt_supervisor_macros::workflow;
#[cfg(feature = "cron")]
pub use schedule::Schedule;
pub use scheduler::{Scheduler, SchedulerHandle, SetupError};
pub use store::memory::Memory;
#[cfg(feature = "postgres")]
pub use store::postgres::Postgres;
pub use store::retention::Retention;
pub use store::schedules::Missed;
#[cfg(feature = "sqlite")]
pub use store::sqlite::Sqlite;
pub use store::submission::Submission;
pub use store::task_limit::TaskLimit;
pub use store::{Ending, Filter};
pub use supervisor::{Supervisor, SupervisorHandle};
pub use task::{
    Direction, FailingStep, Fence, Lease, NewTask, OnFailure, OperatorNote, Origin, Record,
    RecordKind, RunningStep, Signal, State, Task, TaskId, UnknownState, WorkerId,
};
pub use time::{ParseTimeError, Time};
pub use workflow::{Workflow, WorkflowFn};
