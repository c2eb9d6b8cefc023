#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
// What can panic is mended or listed in `docs/panics.md`.
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

#[cfg(any(test, feature = "test-util"))]
pub mod conformance;
mod ends;
pub mod engine;
mod events;
mod flow;
#[cfg(feature = "page")]
pub mod page;
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
/// # Examples
///
/// ```
/// use reattempt_supervisor::{Flow, Memory, Scheduler, State, Step, StepError, SubmitError, Tasks, step, workflow};
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
///     Err("there is nothing left".to_owned())
/// }
///
/// #[workflow]
/// async fn order(flow: &Flow, what: String) -> Result<(), StepError> {
///     pay(flow, &what).await?;
///     ship(flow).await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tasks = Tasks::new(Memory::new());
/// let running = Scheduler::new(&tasks).register(order).with(Shop).start()?;
/// let task = tasks.submit(order("book".to_owned())).await?;
/// let ended = task.wait().await;
/// assert!(matches!(ended, Err(SubmitError::Ended(_, State::Compensated, _))));
/// running.stop(std::time::Duration::from_secs(1)).await;
/// # Ok(())
/// # }
/// ```
pub use reattempt_supervisor_macros::step;
/// # Examples
///
/// ```
/// use reattempt_supervisor::{Flow, Memory, Scheduler, Step, StepError, Tasks, step, workflow};
///
/// #[step]
/// async fn double(_step: &Step, number: u32) -> Result<u32, String> {
///     number.checked_mul(2).ok_or_else(|| format!("{number} is too large"))
/// }
///
/// #[workflow(name = "numbers", version = 2, complete_by = "3d", max_failures = 3)]
/// async fn sum(flow: &Flow, first: u32, second: u32) -> Result<u32, StepError> {
///     Ok(double(flow, first).await? + double(flow, second).await?)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tasks = Tasks::new(Memory::new());
/// let running = Scheduler::new(&tasks).register(sum).start()?;
/// let task = tasks.submit(sum(1, 2).key("once")).await?;
/// assert_eq!(task.wait().await?, 6);
/// running.stop(std::time::Duration::from_secs(1)).await;
/// # Ok(())
/// # }
/// ```
pub use reattempt_supervisor_macros::workflow;
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
pub use workflow::{Starts, Submission, Workflow, Written};
