//! For adapters: runs a task on an engine that keeps its record elsewhere, as Restate and Temporal
//! do.
//!
//! An engine has a journal for each task, with the commands and their results. After a crash it
//! runs the code again from the start, and answers commands from the journal as long as it has
//! results. [`Execution`] returns the next command, and does nothing outside a command. Its
//! commands depend on the results that it got, and on nothing else. An adapter is a loop:
//!
//! ```text
//! let mut execution = Execution::new::<W>(task, &resources);
//! loop {
//!     match execution.next().await {
//!         // An entry of the journal: executed once, or read.
//!         Command::Run(name) => match engine.run(name, execution.run()).await {
//!             Recorded(entry) => execution.apply(entry),
//!             FailedTooOften(error) => execution.fail(error),
//!             Cancelled => execution.cancel(),
//!         },
//!         Command::Wait { until, signals } => match engine.wait(until, signals).await {
//!             Due => execution.apply_due_timer(),
//!             // At the time that the journal has for it.
//!             Signal(name, payload, at) => execution.apply_signal(&name, payload, at),
//!             Cancelled => execution.cancel(),
//!         },
//!         Command::Complete(output) => return Ok(output),
//!         Command::Undo => break,
//!         Command::Fail(message) => return Err(message), // run it again later
//!         Command::Park(message) => return Err(message), // wait for an operator
//!         Command::Refuse(message) => return Err(message), // final
//!     }
//! }
//! let mut undo = execution.compensations(&resources).await?;
//! while let Some(name) = undo.next() {
//!     let entry = engine.run(name, undo.run()).await?;
//!     undo.apply(&entry);
//! }
//! Err(undo.error())
//! ```
//!
//! Steps that a workflow runs at the same time are one command: [`Execution::run`] lets all of them
//! run until the first has ended, and the journal gets that one. The others go on in the next
//! command. So an engine whose commands run one after the other does not have to know about `join!`
//! and `select!`. The workflow gets a signal that comes while steps run when they are done.

// The floors, from the bottom: `command` and `entry`; `start`; `compensations`; `execution`.

mod command;
mod compensations;
mod entry;
mod execution;
mod start;

pub use crate::resources::Resources;
pub use command::{Command, EngineError, EngineTask};
pub use compensations::Compensations;
pub use entry::Entry;
pub use execution::Execution;

use crate::store::StoreError;
use crate::store::submission::Submission;
use crate::task::NewTask;

/// Returns the task of a submission, for the client of an engine. The task has a random key if the
/// caller gave none.
///
/// # Errors
///
/// Fails if the arguments cannot be written as JSON.
pub fn new_task<W>(submission: Submission<W>) -> Result<NewTask, StoreError> {
    submission.into_new_task()
}
