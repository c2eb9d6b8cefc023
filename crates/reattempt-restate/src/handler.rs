//! Runs one task on Restate: each command of its execution is an entry of the journal.

use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use reattempt_supervisor::engine::{
    Command, Compensations, EngineError, EngineTask, Entry, Execution, Resources,
};
use reattempt_supervisor::{State, TaskId, Time};
use restate_sdk::context::{
    DurableFuture, DurableFuturesUnordered, RunFuture as _, RunRetryPolicy,
};
use restate_sdk::endpoint::{ContextInternal, InputMetadata};
use restate_sdk::errors::{HandlerError, HandlerResult, TerminalError};
use restate_sdk::serde::Json;

use crate::delays::Delays;
use crate::signal::{SignalValue, promise_name, read_clock};
use crate::wire::{COMPLETE_BY, HEADERS};

/// The code with which Restate reports a cancellation.
const CANCELLED: u16 = 409;

/// The code for arguments that do not fit.
const BAD_REQUEST: u16 = 400;

/// A workflow that this process serves.
#[derive(Clone, Copy)]
pub(crate) struct ServedWorkflow {
    pub(crate) execution: fn(EngineTask, &Resources) -> Execution,
    pub(crate) max_failures: u32,
}

/// A call of the handler `run`.
pub(crate) struct Invocation {
    pub(crate) input: Vec<u8>,
    pub(crate) metadata: InputMetadata,
}

/// Runs a task from the start, with the results that the journal has. Returns the result of the
/// workflow, as JSON.
pub(crate) async fn run_task(
    context: &ContextInternal,
    invocation: Invocation,
    served: ServedWorkflow,
    delays: Delays,
    resources: &Resources,
) -> HandlerResult<Vec<u8>> {
    let started_at = Time::from_micros(read_clock(context).await?);
    let task = engine_task(invocation, started_at)?;
    let mut execution = (served.execution)(task, resources);
    loop {
        match execution.next().await {
            Command::Run(name) => {
                let entry = JournalEntry {
                    name: &name,
                    policy: delays.up_to(served.max_failures),
                    // A task that has turned back gives the step up, so that the other steps are
                    // undone.
                    gives_up: execution.has_turned_back(),
                };
                match record_entry(context, entry, execution.run()).await? {
                    Ok(entry) => execution.apply(entry),
                    Err(error) => turn_back(&mut execution, &error),
                }
            }
            Command::Wait { until, signals } => match wait(context, until, &signals).await {
                Ok(None) => execution.apply_due_timer(),
                Ok(Some((name, value))) => {
                    execution.apply_signal(&name, value.payload.to_string(), value.at());
                }
                Err(error) => turn_back(&mut execution, &error),
            },
            Command::Complete(output) => return Ok(output.into_bytes()),
            Command::Undo => break,
            Command::Fail(message) | Command::Park(message) => return Err(message.into()),
            Command::Refuse(message) => {
                return Err(TerminalError::new_with_code(BAD_REQUEST, message).into());
            }
        }
    }
    let undo = execution
        .compensations(resources)
        .await
        .map_err(handler_error)?;
    Err(undo_all(context, undo, delays).await?.into())
}

/// Converts a call into a task.
fn engine_task(invocation: Invocation, started_at: Time) -> HandlerResult<EngineTask> {
    let Invocation { input, metadata } = invocation;
    let input = String::from_utf8(input)
        .map_err(|_| TerminalError::new_with_code(BAD_REQUEST, "the arguments are not UTF-8"))?;
    let header = |name: &str| metadata.headers.get(name).cloned();
    let complete_by = match header(COMPLETE_BY) {
        None => None,
        Some(millis) => Some(Duration::from_millis(millis.parse().map_err(|_| {
            let message = format!("the header `{COMPLETE_BY}` takes milliseconds, not `{millis}`");
            TerminalError::new_with_code(BAD_REQUEST, message)
        })?)),
    };
    let invocation = metadata.invocation_id.as_bytes();
    Ok(EngineTask {
        id: TaskId((hash(b"id", invocation) >> 1).cast_signed()),
        salt: hash(b"salt", invocation),
        key: metadata.key,
        input,
        headers: header(HEADERS),
        started_at,
        now: Time::of_this_machine(),
        complete_by,
    })
}

/// Hashes a text to the same number in every process and release: the keys of steps depend on it.
///
/// # Source
///
/// FNV-1a with 64 bits, as in the IETF draft "The FNV Non-Cryptographic Hash Algorithm".
fn hash(of: &[u8], text: &[u8]) -> u64 {
    let bytes = of.iter().chain(text);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The name and the retries of an entry of the journal.
struct JournalEntry<'a> {
    name: &'a str,
    policy: RunRetryPolicy,
    /// Whether a parked step fails the entry.
    gives_up: bool,
}

/// Executes an entry of the journal, or reads it. The outer error ends this run of the handler:
/// somebody has to fix its cause.
async fn record_entry(
    context: &ContextInternal,
    entry: JournalEntry<'_>,
    work: impl Future<Output = Result<Entry, EngineError>> + Send,
) -> HandlerResult<Result<Entry, TerminalError>> {
    let JournalEntry {
        name,
        policy,
        gives_up,
    } = entry;
    let parked = Mutex::new(None);
    let run = context
        .run(|| async {
            match work.await {
                Ok(entry) => Ok(Json(entry)),
                Err(EngineError::Failed(message)) => Err(message.into()),
                Err(EngineError::Parked(message)) if gives_up => {
                    Err(TerminalError::new(message).into())
                }
                Err(EngineError::Parked(message)) => {
                    *parked.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
                    pending().await
                }
            }
        })
        .retry_policy(policy)
        .name(name);
    let mut run = pin!(run);
    poll_fn(|cx| {
        if let Poll::Ready(result) = run.as_mut().poll(cx) {
            return Poll::Ready(Ok(result.map(Json::into_inner)));
        }
        let parked = parked.lock().unwrap_or_else(PoisonError::into_inner).take();
        parked.map_or(Poll::Pending, |message| Poll::Ready(Err(message.into())))
    })
    .await
}

/// Turns a task back after a cancellation or too many failures.
fn turn_back(execution: &mut Execution, error: &TerminalError) {
    if error.code() == CANCELLED {
        execution.cancel();
    } else {
        execution.fail(error.message().to_owned());
    }
}

/// A signal, or `None` for a timer.
type Waiting<'a> = Pin<
    Box<dyn DurableFuture<Output = Result<Option<Json<SignalValue>>, TerminalError>> + Send + 'a>,
>;

/// Waits until this time (`None`), or for the first of these signals.
async fn wait(
    context: &ContextInternal,
    until: Option<Time>,
    signals: &[(String, usize)],
) -> Result<Option<(String, SignalValue)>, TerminalError> {
    let promises: Vec<_> = signals
        .iter()
        .map(|(name, nth)| promise_name(name, *nth))
        .collect();
    let mut first = DurableFuturesUnordered::new();
    for promise in &promises {
        let signal = context.promise::<Json<SignalValue>>(promise);
        let signal: Waiting<'_> = Box::pin(signal.map_ok(Some));
        first.push(signal);
    }
    if let Some(until) = until {
        let timer = context.sleep(until.since(Time::of_this_machine()));
        first.push(Box::pin(timer.map_ok(|()| None)));
    }
    let Some((nth, value)) = first.next().await? else {
        return Ok(None);
    };
    let name = signals.get(nth).map(|(name, _)| name.clone());
    Ok(name.zip(value?.map(Json::into_inner)))
}

/// Undoes the finished steps. Returns the error for the caller.
async fn undo_all(
    context: &ContextInternal,
    mut undo: Compensations,
    delays: Delays,
) -> HandlerResult<TerminalError> {
    while let Some(name) = undo.next() {
        let entry = JournalEntry {
            name: &name,
            policy: delays.for_ever(),
            gives_up: false,
        };
        match record_entry(context, entry, undo.run()).await? {
            Ok(entry) => undo.apply(&entry),
            // The task has turned back already.
            Err(error) if error.code() == CANCELLED => {}
            Err(error) => return Err(error.into()),
        }
    }
    let code = if undo.state() == State::Cancelled {
        CANCELLED
    } else {
        500
    };
    let message = format!("the task is {}: {}", undo.state(), undo.error());
    Ok(TerminalError::new_with_code(code, message))
}

fn handler_error(error: EngineError) -> HandlerError {
    match error {
        EngineError::Failed(message) | EngineError::Parked(message) => message.into(),
    }
}
