//! A step: asked for by the workflow, done by an agent, written down once.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::agent::Fault;
use super::journal::{Asked, Stop};
use super::{Flow, Place, agent};
use crate::private::Form;
use crate::task::{Fence, Kind, Record, RunId};

/// What `#[step]` knows of its function. Not to be made by hand.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Its name.
    pub name: &'static str,
    /// How long it may take in all.
    pub complete_by: Option<Duration>,
    /// Whether it may run twice.
    pub idempotent: bool,
}

/// What the body of a step sees of its task.
#[derive(Debug)]
pub struct Step {
    pub(super) run: RunId,
    pub(super) fence: Fence,
    pub(super) key: String,
}

impl Step {
    /// The same for every attempt of this step, in every process, and different for any other: what a service that
    /// knows idempotency keys is given.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Grows whenever the task changes hands: who keeps the highest that it has seen can refuse a process that has lost its task and
    /// does not know it yet.
    pub const fn fence(&self) -> Fence {
        self.fence
    }

    /// The number of the task.
    pub const fn run(&self) -> RunId {
        self.run
    }
}

/// A step that failed for good: an error that is not to be retried, as the workflow hears it, also when it runs again.
///
/// Failures that are worth another attempt do not reach the workflow: the step is run again, later and on another
/// worker if need be, until the task has failed `max_failures` times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepError {
    step: String,
    message: String,
    attempts: u32,
}

impl StepError {
    /// The name of the step.
    pub fn step(&self) -> &str {
        &self.step
    }

    /// What the error said of itself.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// How many attempts there were.
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    fn of(record: &Record) -> Self {
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

/// A signal that carries something else than what is waited for.
impl From<serde_json::Error> for StepError {
    fn from(error: serde_json::Error) -> Self {
        Self {
            step: "signal".to_owned(),
            message: error.to_string(),
            attempts: 1,
        }
    }
}

/// How to undo a step that was done.
pub(crate) struct Undo {
    pub(crate) seq: i32,
    pub(crate) ord: i32,
    pub(crate) name: String,
    pub(crate) run: Compensation,
}

pub(crate) type Undoing = Pin<Box<dyn Future<Output = Result<(), StepError>> + Send>>;

pub(crate) type Compensation = Box<dyn FnOnce(Flow) -> Undoing + Send>;

/// What a call of a `#[step]` does: in the order of the calls, so this is no `async fn`.
pub(crate) fn call<T, F>(
    flow: &Flow,
    spec: Spec,
    form: Form<T>,
    body: impl FnOnce(Arc<Step>) -> Result<F, String> + Send,
    undo: Option<impl FnOnce(T) -> Compensation + Send>,
) -> impl Future<Output = Result<T, StepError>> + Send
where
    T: Send + Sync,
    F: Future<Output = Result<T, Fault>> + Send,
{
    let place = Place::new(flow);
    async move {
        let place = place; // all of it
        let seq = place.seq;
        if let Some(undo) = undo {
            collect(flow, seq, form, undo).await;
        }
        let record = match flow.ask(seq, spec.name).await {
            Asked::Ended(record) => record,
            Asked::New(Some(_)) if !spec.idempotent => flow.stop(ambiguous(seq, spec.name)).await,
            _ => {
                let record = done(flow, seq, spec, form, body).await;
                match flow.undoes {
                    None => flow.end(record).await,
                    Some(_) => written(flow, record).await,
                }
            }
        };
        if record.kind == Kind::Failed {
            return Err(StepError::of(&record));
        }
        let result = record.result.as_deref().unwrap_or("null");
        Ok(match (form.read)(result) {
            Ok(value) => value,
            Err(error) => flow.stop(unreadable(&record, &error)).await,
        })
    }
}

/// Keeps how to undo a step that was done, of a task that goes back. It does so when the step is asked for: a workflow may end
/// without having heard how.
async fn collect<T>(flow: &Flow, seq: i32, form: Form<T>, undo: impl FnOnce(T) -> Compensation) {
    let Some(record) = flow.inner.journal().to_undo(seq).cloned() else {
        return;
    };
    match (form.read)(record.result.as_deref().unwrap_or("null")) {
        Ok(value) => flow.inner.undos().push(Undo {
            seq,
            ord: record.ord,
            name: record.name,
            run: undo(value),
        }),
        Err(error) => flow.stop(unreadable(&record, &error)).await,
    }
}

/// A compensation that is on disk.
async fn written(flow: &Flow, record: Record) -> Record {
    let is_undone = record.kind == Kind::Undone;
    if is_undone && flow.write(record.clone()).await.is_none() {
        std::future::pending::<()>().await;
    }
    record
}

/// Has an agent do it. What is worth another attempt ends the task here, not the step.
async fn done<T, F>(
    flow: &Flow,
    seq: i32,
    spec: Spec,
    form: Form<T>,
    body: impl FnOnce(Arc<Step>) -> Result<F, String> + Send,
) -> Record
where
    T: Send + Sync,
    F: Future<Output = Result<T, Fault>> + Send,
{
    let active = flow.active();
    if !spec.idempotent && flow.undoes.is_none() {
        let begun = flow.record(seq, Kind::Begun, spec.name);
        if flow.write(begun).await.is_none() {
            drop(active);
            return std::future::pending().await;
        }
    }
    let key = match flow.undoes {
        None => flow.inner.key(seq),
        Some(_) => format!("{}-undo", flow.inner.key(seq)),
    };
    let step = Arc::new(Step {
        run: flow.inner.hold.run,
        fence: flow.inner.hold.fence,
        key,
    });
    let body = match body(step) {
        Ok(body) => body,
        Err(missing) => {
            drop(active);
            flow.stop(Stop::Diverged(missing)).await
        }
    };
    let ended = agent::run(flow, spec, body).await;
    // From here on nothing is waited for but the end of the task, or what counts by itself.
    drop(active);
    let (kind, attempts, result, error) = match ended {
        agent::Ended::Done(value) => match (form.write)(&value) {
            Ok(json) => (Kind::Done, 0, Some(json), None),
            Err(error) => flow.stop(unwritable(spec.name, &error)).await,
        },
        agent::Ended::Failed(message, attempts) => (Kind::Failed, attempts, None, Some(message)),
        agent::Ended::Again(message) => flow.stop(Stop::Failed(message)).await,
    };
    let kind = match (kind, flow.undoes) {
        (Kind::Done, Some(_)) => Kind::Undone,
        (kind, _) => kind,
    };
    Record {
        attempts: i32::try_from(attempts).unwrap_or(i32::MAX),
        result,
        error,
        ..flow.record(seq, kind, spec.name)
    }
}

fn ambiguous(seq: i32, name: &str) -> Stop {
    Stop::Ambiguous(format!(
        "step {seq} `{name}` may have been executed: its worker ended in it, and `idempotent = false` says that it must not run twice; \
         look whether it was, then resubmit the task to run it, or cancel it"
    ))
}

fn unreadable(record: &Record, error: &serde_json::Error) -> Stop {
    Stop::Diverged(format!(
        "what step {} `{}` answered is recorded, but not in the form that the code has now ({error}); \
         raise the `version` of the workflow and let tasks of the old one end with the old code",
        record.seq, record.name
    ))
}

fn unwritable(name: &str, error: &serde_json::Error) -> Stop {
    Stop::Diverged(format!(
        "the answer of step `{name}` cannot be written as JSON ({error})"
    ))
}
