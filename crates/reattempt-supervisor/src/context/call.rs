//! The call of a step: the workflow asks for it, its body runs, and the store records it once.

use std::sync::Arc;

use super::arguments::{StepArguments, UndoArguments};
use super::body::{self, StepOutcome};
use super::commit_slot::{CommitSlot, Settled};
use super::failure::{StepError, StepFailure};
use super::journal::{Lookup, Stop, other_arguments};
use super::spec::StepSpec;
use super::step::Step;
use super::workflow_context::{Compensation, Place, Undo, UndoneStep, WorkflowContext};
use crate::identity::StepKey;
use crate::payload::{Codec, storable, too_large};
use crate::task::{Record, RecordKind};

/// Runs a step, or returns its recorded result. Not an `async fn`, so that steps are numbered in
/// the order of their calls.
pub(crate) fn call<T, F>(
    context: &WorkflowContext,
    (spec, is_transaction): (StepSpec, bool),
    codec: Codec<T>,
    arguments: serde_json::Result<StepArguments>,
    body: impl FnOnce(Arc<Step>) -> Result<F, String> + Send,
    undo: Option<impl UndoFn<T>>,
) -> impl Future<Output = Result<T, StepError>> + Send
where
    T: Send + Sync,
    F: Future<Output = Result<T, StepFailure>> + Send,
{
    let place = Place::new(context);
    let key = key_of(context, spec, &arguments);
    async move {
        let place = place; // all of it
        let call = Call::new(context, (place.seq, spec, is_transaction), key, arguments).await;
        let seq = call.seq;
        if context.is_undoing()
            && let Err(stop) = collect_undo(context, &call, codec, undo)
        {
            context.stop(stop).await;
        }
        let hash = call.arguments.hash.as_deref();
        let record = match context.look_up(seq, spec.name, hash).await {
            Lookup::Ended(record) => record,
            Lookup::New(Some(_)) if !spec.idempotent => {
                context.stop(ambiguous(seq, spec.name)).await
            }
            lookup => {
                let has_begun = matches!(lookup, Lookup::New(Some(_)));
                let (record, is_written) = run(context, &call, has_begun, codec, body).await;
                if is_written {
                    context.finish_committed(record).await
                } else if context.is_compensation() {
                    write_compensation(context, record).await
                } else {
                    context.finish(record).await
                }
            }
        };
        value_of(context, record, codec).await
    }
}

/// Returns the key of a call. Call it in the order of the calls.
pub(super) fn key_of(
    context: &WorkflowContext,
    spec: StepSpec,
    arguments: &serde_json::Result<StepArguments>,
) -> Result<StepKey, String> {
    let given = arguments.as_ref().ok().and_then(|given| given.key.clone());
    context.step_key(spec.name, given)
}

/// Returns what the workflow gets for a record.
pub(super) async fn value_of<T>(
    context: &WorkflowContext,
    record: Record,
    codec: Codec<T>,
) -> Result<T, StepError> {
    if record.kind == RecordKind::Failed {
        return Err(StepError::of(&record));
    }
    let result = record.result.as_deref().unwrap_or("null");
    Ok(match codec.read(result) {
        Ok(value) => value,
        Err(error) => context.stop(unreadable("result", &record, &error)).await,
    })
}

/// The call of a step, without its body.
pub(super) struct Call {
    pub(super) seq: i32,
    pub(super) key: StepKey,
    pub(super) spec: StepSpec,
    is_transaction: bool,
    pub(super) arguments: StepArguments,
}

/// Makes the compensation of a step from its recorded arguments, and from its result if it was done.
/// `None` if the step has no such compensation.
pub trait UndoFn<T>:
    FnOnce(Option<T>, &mut UndoArguments<'_>) -> serde_json::Result<Option<Compensation>> + Send
{
}

impl<T, U> UndoFn<T> for U where
    U: FnOnce(Option<T>, &mut UndoArguments<'_>) -> serde_json::Result<Option<Compensation>> + Send
{
}

/// Keeps the compensation of a step that was done, or whose outcome is unknown. It does so when the
/// workflow asks for the step: the workflow may end before it has its result.
pub(super) fn collect_undo<T>(
    context: &WorkflowContext,
    call: &Call,
    codec: Codec<T>,
    undo: Option<impl UndoFn<T>>,
) -> Result<(), Stop> {
    let Call {
        seq,
        key,
        spec,
        arguments,
        ..
    } = call;
    let record = context.inner.journal().record_to_undo(*seq).cloned();
    // Where the names differ, the journal stops the task.
    let Some(record) = record.filter(|record| record.name == spec.name) else {
        return Ok(());
    };
    let is_unknown = record.kind == RecordKind::Begun;
    let undo_now = if is_unknown {
        spec.undo_unknown
    } else {
        spec.undo
    };
    match (record.undo.as_deref(), undo_now) {
        (Some(recorded), now) if now != Some(recorded) => {
            return Err(missing_undo(&record, recorded, now));
        }
        (None, None) if is_unknown => return Err(ambiguous(*seq, spec.name)),
        (None, None) => return Ok(()),
        // The record has no arguments, so those of now must be the same.
        (None, Some(_))
            if record.args.is_none()
                && record.args_hash.is_some()
                && record.args_hash != arguments.hash =>
        {
            return Err(Stop::Diverged(other_arguments(*seq, spec.name)));
        }
        _ => {}
    }
    let value = match record.result.as_deref() {
        _ if is_unknown => None,
        result => Some(
            codec
                .read(result.unwrap_or("null"))
                .map_err(|error| unreadable("result", &record, &error))?,
        ),
    };
    let json = record.args.as_deref().unwrap_or(&arguments.json);
    let compensation = match undo {
        Some(undo) => UndoArguments::new(json).and_then(|mut json| undo(value, &mut json)),
        None => Ok(None),
    };
    let compensation = compensation.map_err(|error| unreadable("arguments", &record, &error))?;
    let step = UndoneStep {
        seq: *seq,
        key: Some(key.clone()),
        is_unknown,
    };
    context
        .inner
        .undos()
        .extend(compensation.map(|compensation| Undo {
            step,
            ord: record.ord,
            name: record.name,
            compensation,
        }));
    Ok(())
}

/// Writes the record of a compensation that succeeded.
async fn write_compensation(context: &WorkflowContext, record: Record) -> Record {
    let is_undone = record.kind == RecordKind::Undone;
    if is_undone && context.write(record.clone()).await.is_none() {
        std::future::pending::<()>().await;
    }
    record
}

/// Runs a step. Returns its record, and whether its transaction has written it. A failure that is worth another
/// attempt stops the task here and leaves the step unfinished.
async fn run<T, F>(
    context: &WorkflowContext,
    call: &Call,
    has_begun: bool,
    codec: Codec<T>,
    body: impl FnOnce(Arc<Step>) -> Result<F, String> + Send,
) -> (Record, bool)
where
    T: Send + Sync,
    F: Future<Output = Result<T, StepFailure>> + Send,
{
    let (seq, spec) = (call.seq, call.spec);
    let recorded = spec.undo.or(spec.undo_unknown);
    let (size, limit) = (call.arguments.json.len(), context.inner.limits.max_payload);
    if recorded.is_some() && size > limit {
        context
            .stop(oversized("arguments", seq, spec.name, (size, limit)))
            .await;
    }
    let active = context.active();
    if spec.records_start() && !has_begun && !context.is_compensation() {
        let begun = call.record(context, RecordKind::Begun, spec.undo_unknown);
        context.inner.journal().note_undoable(&begun);
        if context.write(begun).await.is_none() {
            drop(active);
            return std::future::pending().await;
        }
    }
    let commit = call.is_transaction.then(|| call.commit(context));
    let handle = Step {
        commit: commit.clone(),
        ..context.step(call.key.clone())
    };
    let body = match body(Arc::new(handle)) {
        Ok(body) => body,
        Err(missing) => {
            drop(active);
            context.stop(Stop::Diverged(missing)).await
        }
    };
    let outcome = body::run_step(context, seq, spec, commit.as_deref(), body).await;
    // From here on the step waits only for the end of the task, or for writes that count as active
    // themselves.
    drop(active);
    let outcome = match (outcome, &commit) {
        (StepOutcome::Stopped(stop), commit) => {
            if let Some(commit) = commit {
                commit.settle();
            }
            context.stop(stop).await
        }
        (outcome, None) => outcome,
        // What became of the transaction counts, not what the step says of it.
        (outcome, Some(commit)) => match (commit.settle(), outcome) {
            (Settled::Done(record), _) => return (record, true),
            (Settled::RolledBack, outcome) if !matches!(outcome, StepOutcome::Done(..)) => outcome,
            _ => context.stop(commit.unsettled()).await,
        },
    };
    let (kind, attempts, result, error) = match outcome {
        StepOutcome::Done(value, attempts) => match codec.write(&value) {
            Ok(json) if json.len() > context.inner.limits.max_payload => {
                let stop = oversized(
                    "result",
                    seq,
                    spec.name,
                    (json.len(), context.inner.limits.max_payload),
                );
                context.stop(stop).await
            }
            Ok(json) if context.is_compensation() => {
                (RecordKind::Undone, attempts, Some(json), None)
            }
            Ok(json) => (RecordKind::Done, attempts, Some(json), None),
            Err(error) => context.stop(unwritable("result", spec.name, &error)).await,
        },
        StepOutcome::Failed(message, attempts) => {
            (RecordKind::Failed, attempts, None, Some(message))
        }
        StepOutcome::Again(message) => context.stop(Stop::Failed(Some(seq), message)).await,
        StepOutcome::Stopped(stop) => context.stop(stop).await,
    };
    let undo = spec.undo.filter(|_| kind == RecordKind::Done);
    let record = Record {
        attempts: i32::try_from(attempts).unwrap_or(i32::MAX),
        result,
        error: error.map(|error| storable(&error)),
        ..call.record(context, kind, undo)
    };
    (record, false)
}

impl Call {
    /// Returns the call, or stops the task if its key or its arguments are wrong.
    pub(super) async fn new(
        context: &WorkflowContext,
        (seq, spec, is_transaction): (i32, StepSpec, bool),
        key: Result<StepKey, String>,
        arguments: serde_json::Result<StepArguments>,
    ) -> Self {
        let key = match key {
            Ok(key) => key,
            Err(message) => context.stop(Stop::Diverged(message)).await,
        };
        match arguments {
            Ok(arguments) => Self {
                seq,
                key,
                spec,
                is_transaction,
                arguments,
            },
            Err(error) => {
                context
                    .stop(unwritable("arguments", spec.name, &error))
                    .await
            }
        }
    }

    /// Returns the slot for the transaction of this call.
    fn commit(&self, context: &WorkflowContext) -> Arc<CommitSlot> {
        let kind = if context.is_compensation() {
            RecordKind::Undone
        } else {
            RecordKind::Done
        };
        let undo = self.spec.undo.filter(|_| kind == RecordKind::Done);
        let limit = self.spec.complete_by;
        let limit = limit.or(context.inner.limits.step_complete_by);
        let empty = context.placeless_record(self.seq, kind, self.spec.name);
        CommitSlot::new(context, self.fill(empty, undo), limit)
    }

    /// Returns a record of this call. It has the arguments if the step may have to be undone.
    pub(super) fn record(
        &self,
        context: &WorkflowContext,
        kind: RecordKind,
        undo: Option<&'static str>,
    ) -> Record {
        self.fill(context.new_record(self.seq, kind, self.spec.name), undo)
    }

    fn fill(&self, record: Record, undo: Option<&'static str>) -> Record {
        Record {
            args_hash: self.arguments.hash.clone(),
            args: (undo
                .or(self.spec.undo)
                .filter(|_| record.kind != RecordKind::Failed))
            .map(|_| self.arguments.json.clone()),
            undo: undo.map(str::to_owned),
            ..record
        }
    }
}

/// Returns the stop for a step of unknown outcome that must not run twice.
pub(super) fn ambiguous(seq: i32, name: &str) -> Stop {
    let message = format!(
        "step {seq} `{name}` may have run: its worker died in it, and `idempotent = false` says that it must not run twice; find out \
         whether it ran, then say so: `resolve` step {seq} as not done, or as done with its result, or undo it"
    );
    Stop::Ambiguous(seq, message)
}

/// Returns the stop for a step that the code cannot undo as its record says.
fn missing_undo(record: &Record, recorded: &str, now: Option<&str>) -> Stop {
    let Record { seq, name, .. } = record;
    let now = now.map_or("has none".to_owned(), |now| format!("has `{now}`"));
    Stop::Diverged(format!(
        "step {seq} `{name}` is to be undone by `{recorded}`, as its record says, and the code {now} now: nothing more was undone; \
         restore the old code and resubmit the task"
    ))
}

/// Returns the stop for a record that the code cannot read.
fn unreadable(what: &str, record: &Record, error: &serde_json::Error) -> Stop {
    Stop::Diverged(format!(
        "the recorded {what} of step {} `{}` cannot be read as the type that the code has now ({error}); \
         if an operator gave it, `resolve` the step again; otherwise raise the `version` of the workflow and let tasks of the old \
         version finish with the old code",
        record.seq, record.name
    ))
}

/// Returns the stop for a value that is too large to be recorded.
pub(super) fn oversized(what: &str, seq: i32, name: &str, (size, limit): (usize, usize)) -> Stop {
    let what = format!("the {what} of step {seq} `{name}`");
    let fix = "; then resubmit the task, which runs the step again";
    Stop::Refused(too_large(&what, size, limit, fix).unwrap_or_default())
}

/// Returns the stop for a value that cannot be recorded.
fn unwritable(what: &str, name: &str, error: &serde_json::Error) -> Stop {
    Stop::Diverged(format!(
        "the {what} of step `{name}` cannot be written as JSON ({error})"
    ))
}
