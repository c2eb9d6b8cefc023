//! For adapters: how a task runs on an engine that keeps its record elsewhere, as Restate and Temporal do.
//!
//! An engine has a journal for each task: commands, and what came of them. After a crash it runs the code again from the start, and
//! answers commands from the journal as long as it has answers. [`Execution`] says what the next command is, and does nothing that is
//! not one; what it says depends on what it was told, and on nothing else. An adapter is a loop:
//!
//! ```text
//! let mut execution = Execution::new::<W>(task, &lent);
//! loop {
//!     match execution.next().await {
//!         // An entry of the journal: executed once, or read.
//!         Command::Run(name) => match engine.run(name, execution.run()).await {
//!             Recorded(entry) => execution.tell(entry),
//!             FailedTooOften(error) => execution.fail(error),
//!             Cancelled => execution.cancel(),
//!         },
//!         Command::Wait { until, signals } => match engine.wait(until, signals).await {
//!             Due => execution.due(),
//!             // At the moment that the journal has for it.
//!             Signal(name, payload, at) => execution.signalled(&name, payload, at),
//!             Cancelled => execution.cancel(),
//!         },
//!         Command::Complete(output) => return Ok(output),
//!         Command::Undo => break,
//!         Command::Fail(message) => return Err(message), // to be run again, later
//!         Command::Park(message) => return Err(message), // somebody must look at it
//!         Command::Refuse(message) => return Err(message), // for good
//!     }
//! }
//! let mut undo = execution.compensations(&lent).await?;
//! while let Some(name) = undo.next() {
//!     let entry = engine.run(name, undo.run()).await?;
//!     undo.tell(&entry);
//! }
//! Err(undo.error())
//! ```
//!
//! What runs at the same time in a workflow is one command: [`Execution::run`] lets all of it run until the first of it has ended, which is
//! what the journal gets; the others go on in the next command. So an engine whose commands come one after the other does not have to
//! know of `join!` and `select!`. A signal that comes while steps run is heard when they are done.

mod compensations;
mod execution;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::flow::journal::Stop;
use crate::flow::{Flow, Inner};
use crate::resources::Resources;
use crate::store::{Claimed, StoreError};
use crate::task::{Fence, Kind, NewRun, Record, Run, RunId};
use crate::time::Time;
use crate::workflow::{Ended, Runs, Submission, Workflow};
use crate::writer::{Jobs, Writer};

pub use compensations::Compensations;
pub use execution::Execution;

/// A task of an engine.
#[derive(Debug, Clone)]
pub struct Task {
    /// A number that the engine gives no other task; what [`Flow::id`](crate::Flow::id) answers.
    pub id: RunId,
    /// More that makes it unique, so that keys of steps are: of it and `id`.
    pub salt: u64,
    /// The key it was submitted with.
    pub key: String,
    /// Its arguments, a JSON array.
    pub input: String,
    /// What goes along, as a JSON object.
    pub headers: Option<String>,
    /// When it began; the same whenever it runs again.
    pub began: Time,
    /// The clock of the engine.
    pub now: Time,
    /// How long it may take in all; `None` leaves it to the workflow.
    pub complete_by: Option<Duration>,
}

/// What the steps of the tasks of an engine are given, see [`Scheduler::with`](crate::Scheduler::with).
#[derive(Debug, Default)]
pub struct Lent(pub(crate) Arc<Resources>);

impl Lent {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What parameters of steps with `#[with]` of this type are given, in executions that begin from here on.
    pub fn insert<T: Send + Sync + 'static>(&mut self, resource: T) {
        Arc::make_mut(&mut self.0).insert(resource);
    }
}

/// What a task is submitted with, for the client of an engine; with a key of its own where none was given.
///
/// # Errors
///
/// Arguments that cannot be written as JSON.
pub fn submitted<W: Workflow>(submission: Submission<W>) -> Result<NewRun, StoreError> {
    submission.into_new()
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// [`Execution::run`], under this name, is the next entry of the journal.
    Run(String),
    /// Nothing runs until then, or until one of these signals comes.
    Wait {
        /// `None` if there is no timer.
        until: Option<Time>,
        /// The names of the signals, each with how many of it were heard.
        signals: Vec<(String, usize)>,
    },
    /// It is done, and this is what it answers, as JSON.
    Complete(String),
    /// What was done is to be undone, see [`Execution::compensations`].
    Undo,
    /// It failed in a way that is worth another try: it is to be run again from the start, some time later.
    Fail(String),
    /// It cannot go on before somebody has mended something.
    Park(String),
    /// It was submitted with arguments that are none of its workflow, and has done nothing: it ends.
    Refuse(String),
}

/// Why there is nothing to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It is worth another try, later; if that fails too often, see [`Execution::fail`].
    Failed(String),
    /// It cannot go on before somebody has mended something.
    Parked(String),
}

/// What the journal of an engine keeps of one command, as JSON or another form of serde.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    seq: i32,
    name: String,
    what: What,
    /// In microseconds since 1970.
    at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum What {
    /// A step that must not run twice is about to.
    Begun,
    /// With its answer, as JSON.
    Done(Option<String>),
    Failed {
        error: String,
        attempts: i32,
    },
    Undone,
    /// The task was not done by its `complete_by`.
    Expired,
}

impl Entry {
    fn of(record: Record, now: Time) -> Self {
        let what = match record.kind {
            Kind::Begun => What::Begun,
            Kind::Undone => What::Undone,
            Kind::Done => What::Done(record.result),
            Kind::Failed => What::Failed {
                error: record.error.unwrap_or_default(),
                attempts: record.attempts,
            },
        };
        Self {
            seq: record.seq,
            name: record.name,
            what,
            at: now.as_micros(),
        }
    }

    /// As the `nth` record of its task.
    fn into_record(self, nth: usize) -> Record {
        let (kind, result, error, attempts) = match self.what {
            What::Begun => (Kind::Begun, None, None, 0),
            What::Done(result) => (Kind::Done, result, None, 0),
            What::Failed { error, attempts } => (Kind::Failed, None, Some(error), attempts),
            What::Undone | What::Expired => (Kind::Undone, None, None, 0),
        };
        Record {
            seq: self.seq,
            kind,
            ord: i32::try_from(nth).unwrap_or(i32::MAX),
            name: self.name,
            attempts,
            result,
            error,
            due_at: None,
            at: Time::from_micros(self.at),
            fence: Fence::default(),
        }
    }
}

/// A task in the hands of an engine, with what is known of it.
fn begun(
    run: Run,
    history: Vec<Record>,
    (salt, now): (u64, Time),
    lent: &Lent,
) -> (Arc<Inner>, Jobs) {
    let (writer, jobs) = Writer::to_engine();
    let claimed = Claimed {
        run,
        history,
        signals: Vec::new(),
        now,
    };
    let inner = Inner::new(claimed, salt, writer, Arc::clone(&lent.0)).paced();
    (Arc::new(inner), jobs)
}

fn started(inner: &Arc<Inner>, runs: Runs) -> Pin<Box<dyn Future<Output = Ended> + Send>> {
    let flow = Flow::new(Arc::clone(inner));
    Box::pin(async move { runs(&flow, &flow.inner.run.input).await })
}

fn said(stop: Stop) -> String {
    match stop {
        Stop::Diverged(message) | Stop::Ambiguous(message) | Stop::Failed(message) => message,
        Stop::Cancelled | Stop::Lost => "it was cancelled".to_owned(),
    }
}
