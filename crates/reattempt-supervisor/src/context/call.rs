//! The call of a step: the workflow asks for it, an agent runs it, and the store records it once.

use std::sync::Arc;

use super::agent::{self, StepOutcome};
use super::journal::{Lookup, Stop};
use super::step::{Step, StepError, StepFailure, StepSpec};
use super::workflow_context::{Compensation, Place, Undo, WorkflowContext};
use crate::payload::{Codec, storable, too_large};
use crate::task::{Record, RecordKind};

/// Runs a step, or returns its recorded result. Not an `async fn`, so that steps are numbered in
/// the order of their calls.
pub(crate) fn call<T, F>(
    context: &WorkflowContext,
    spec: StepSpec,
    codec: Codec<T>,
    body: impl FnOnce(Arc<Step>) -> Result<F, String> + Send,
    undo: Option<impl FnOnce(T) -> Compensation + Send>,
) -> impl Future<Output = Result<T, StepError>> + Send
where
    T: Send + Sync,
    F: Future<Output = Result<T, StepFailure>> + Send,
{
    let place = Place::new(context);
    async move {
        let place = place; // all of it
        let seq = place.seq;
        if let Some(undo) = undo {
            collect_undo(context, seq, codec, undo).await;
        }
        let record = match context.look_up(seq, spec.name).await {
            Lookup::Ended(record) => record,
            Lookup::New(Some(_)) if !spec.idempotent => {
                context.stop(ambiguous(seq, spec.name)).await
            }
            _ => {
                let record = run_and_record(context, seq, spec, codec, body).await;
                if context.is_compensation() {
                    write_compensation(context, record).await
                } else {
                    context.finish(record).await
                }
            }
        };
        if record.kind == RecordKind::Failed {
            return Err(StepError::of(&record));
        }
        let result = record.result.as_deref().unwrap_or("null");
        Ok(match codec.read(result) {
            Ok(value) => value,
            Err(error) => context.stop(unreadable(&record, &error)).await,
        })
    }
}

/// Keeps the compensation of a finished step, if the task is undoing. It does so when the workflow
/// asks for the step: the workflow may end before it has its result.
async fn collect_undo<T>(
    context: &WorkflowContext,
    seq: i32,
    codec: Codec<T>,
    undo: impl FnOnce(T) -> Compensation,
) {
    let Some(record) = context.inner.journal().record_to_undo(seq).cloned() else {
        return;
    };
    match codec.read(record.result.as_deref().unwrap_or("null")) {
        Ok(value) => context.inner.undos().push(Undo {
            seq,
            ord: record.ord,
            name: record.name,
            compensation: undo(value),
        }),
        Err(error) => context.stop(unreadable(&record, &error)).await,
    }
}

/// Writes the record of a compensation that succeeded.
async fn write_compensation(context: &WorkflowContext, record: Record) -> Record {
    let is_undone = record.kind == RecordKind::Undone;
    if is_undone && context.write(record.clone()).await.is_none() {
        std::future::pending::<()>().await;
    }
    record
}

/// Runs a step and returns its record. A failure that is worth another attempt stops the task here
/// and leaves the step unfinished.
async fn run_and_record<T, F>(
    context: &WorkflowContext,
    seq: i32,
    spec: StepSpec,
    codec: Codec<T>,
    body: impl FnOnce(Arc<Step>) -> Result<F, String> + Send,
) -> Record
where
    T: Send + Sync,
    F: Future<Output = Result<T, StepFailure>> + Send,
{
    let active = context.active();
    if !spec.idempotent && !context.is_compensation() {
        let begun = context.new_record(seq, RecordKind::Begun, spec.name);
        if context.write(begun).await.is_none() {
            drop(active);
            return std::future::pending().await;
        }
    }
    let body = match body(Arc::new(context.step(seq))) {
        Ok(body) => body,
        Err(missing) => {
            drop(active);
            context.stop(Stop::Diverged(missing)).await
        }
    };
    let outcome = agent::run_step(context, spec, body).await;
    // From here on the step waits only for the end of the task, or for writes that count as active
    // themselves.
    drop(active);
    let (kind, attempts, result, error) = match outcome {
        StepOutcome::Done(value) => match codec.write(&value) {
            Ok(json) if json.len() > context.inner.max_payload => {
                let stop = oversized(seq, spec.name, json.len(), context.inner.max_payload);
                context.stop(stop).await
            }
            Ok(json) if context.is_compensation() => (RecordKind::Undone, 0, Some(json), None),
            Ok(json) => (RecordKind::Done, 0, Some(json), None),
            Err(error) => context.stop(unwritable(spec.name, &error)).await,
        },
        StepOutcome::Failed(message, attempts) => {
            (RecordKind::Failed, attempts, None, Some(message))
        }
        StepOutcome::Again(message) => context.stop(Stop::Failed(Some(seq), message)).await,
    };
    Record {
        attempts: i32::try_from(attempts).unwrap_or(i32::MAX),
        result,
        error: error.map(|error| storable(&error)),
        ..context.new_record(seq, kind, spec.name)
    }
}

/// The task stops because nobody knows whether a step ran that must not run twice.
fn ambiguous(seq: i32, name: &str) -> Stop {
    let message = format!(
        "step {seq} `{name}` may have run: its worker died in it, and `idempotent = false` says that it must not run twice; \
         find out whether it ran, then resubmit the task to run it again, or cancel the task"
    );
    Stop::Ambiguous(seq, message)
}

/// The task stops because the code cannot read a recorded result.
fn unreadable(record: &Record, error: &serde_json::Error) -> Stop {
    Stop::Diverged(format!(
        "the recorded result of step {} `{}` does not fit the type that the code has now ({error}); \
         raise the `version` of the workflow and let tasks of the old version finish with the old code",
        record.seq, record.name
    ))
}

/// The task stops because a result is too large to be recorded.
fn oversized(seq: i32, name: &str, size: usize, limit: usize) -> Stop {
    let what = format!("the result of step {seq} `{name}`");
    let fix = "; then resubmit the task, which runs the step again";
    Stop::Refused(too_large(&what, size, limit, fix).unwrap_or_default())
}

/// The task stops because a result cannot be recorded.
fn unwritable(name: &str, error: &serde_json::Error) -> Stop {
    Stop::Diverged(format!(
        "the result of step `{name}` cannot be written as JSON ({error})"
    ))
}
