//! One task on Restate: each command of its execution is an entry of the journal.

use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use reattempt_supervisor::engine::{Command, Compensations, Entry, Execution, Failure, Lent, Task};
use reattempt_supervisor::{RunId, State, Time};
use restate_sdk::context::{
    DurableFuture, DurableFuturesUnordered, RunFuture as _, RunRetryPolicy,
};
use restate_sdk::endpoint::{ContextInternal, InputMetadata};
use restate_sdk::errors::{HandlerError, HandlerResult, TerminalError};
use restate_sdk::serde::Json;

use crate::delays::Delays;
use crate::signal::{Kept, now, promise};
use crate::wire::{COMPLETE_BY, HEADERS};

/// What Restate says when somebody cancels.
const CANCELLED: u16 = 409;

const BAD_REQUEST: u16 = 400;

/// A workflow as it is served.
#[derive(Clone, Copy)]
pub(crate) struct Served {
    pub(crate) execution: fn(Task, &Lent) -> Execution,
    pub(crate) max_failures: u32,
}

/// What Restate was asked to run.
pub(crate) struct Invocation {
    pub(crate) input: Vec<u8>,
    pub(crate) metadata: InputMetadata,
}

/// From the start, with what the journal knows.
pub(crate) async fn run(
    context: &ContextInternal,
    invocation: Invocation,
    served: Served,
    delays: Delays,
    lent: &Lent,
) -> HandlerResult<Vec<u8>> {
    let began = now(context).await?;
    let task = task(invocation, Time::from_micros(began))?;
    let mut execution = (served.execution)(task, lent);
    loop {
        match execution.next().await {
            Command::Run(name) => {
                let entry = Named {
                    name: &name,
                    policy: delays.up_to(served.max_failures),
                    // Of a task that goes back it is given up, so that the others are undone.
                    gives_up: execution.goes_back(),
                };
                match recorded(context, entry, execution.run()).await? {
                    Ok(entry) => execution.tell(entry),
                    Err(error) => given_up(&mut execution, &error),
                }
            }
            Command::Wait { until, signals } => match waited(context, until, &signals).await {
                Ok(None) => execution.due(),
                Ok(Some((name, kept))) => {
                    execution.signalled(&name, kept.payload.to_string(), kept.at());
                }
                Err(error) => given_up(&mut execution, &error),
            },
            Command::Complete(output) => return Ok(output.into_bytes()),
            Command::Undo => break,
            Command::Fail(message) | Command::Park(message) => return Err(message.into()),
            Command::Refuse(message) => {
                return Err(TerminalError::new_with_code(BAD_REQUEST, message).into());
            }
        }
    }
    let undo = execution.compensations(lent).await.map_err(said)?;
    Err(undone(context, undo, delays).await?.into())
}

fn task(invocation: Invocation, began: Time) -> HandlerResult<Task> {
    let Invocation { input, metadata } = invocation;
    let input = String::from_utf8(input)
        .map_err(|_| TerminalError::new_with_code(BAD_REQUEST, "the arguments are no text"))?;
    let header = |name: &str| metadata.headers.get(name).cloned();
    let complete_by = match header(COMPLETE_BY) {
        None => None,
        Some(millis) => Some(Duration::from_millis(millis.parse().map_err(|_| {
            let message = format!("the header `{COMPLETE_BY}` has milliseconds, not `{millis}`");
            TerminalError::new_with_code(BAD_REQUEST, message)
        })?)),
    };
    let invocation = metadata.invocation_id.as_bytes();
    Ok(Task {
        id: RunId((hash(b"id", invocation) >> 1).cast_signed()),
        salt: hash(b"salt", invocation),
        key: metadata.key,
        input,
        headers: header(HEADERS),
        began,
        now: Time::of_this_machine(),
        complete_by,
    })
}

/// The same in every process and release: keys of steps are made of it.
///
/// # Source
///
/// FNV-1a of 64 bits, as the IETF draft "The FNV Non-Cryptographic Hash Algorithm" has it.
fn hash(of: &[u8], text: &[u8]) -> u64 {
    let bytes = of.iter().chain(text);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// An entry of the journal that is to be.
struct Named<'a> {
    name: &'a str,
    policy: RunRetryPolicy,
    /// Whether what cannot go on is a failure of the entry.
    gives_up: bool,
}

/// Has it made, or reads it. The outer error ends this run of the handler: somebody has to mend something.
async fn recorded(
    context: &ContextInternal,
    entry: Named<'_>,
    work: impl Future<Output = Result<Entry, Failure>> + Send,
) -> HandlerResult<Result<Entry, TerminalError>> {
    let Named {
        name,
        policy,
        gives_up,
    } = entry;
    let parked = Mutex::new(None);
    let run = context
        .run(|| async {
            match work.await {
                Ok(entry) => Ok(Json(entry)),
                Err(Failure::Failed(message)) => Err(message.into()),
                Err(Failure::Parked(message)) if gives_up => {
                    Err(TerminalError::new(message).into())
                }
                Err(Failure::Parked(message)) => {
                    *parked.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
                    pending().await
                }
            }
        })
        .retry_policy(policy)
        .name(name);
    let mut run = pin!(run);
    poll_fn(|task| {
        if let Poll::Ready(outcome) = run.as_mut().poll(task) {
            return Poll::Ready(Ok(outcome.map(Json::into_inner)));
        }
        let parked = parked.lock().unwrap_or_else(PoisonError::into_inner).take();
        parked.map_or(Poll::Pending, |message| Poll::Ready(Err(message.into())))
    })
    .await
}

fn given_up(execution: &mut Execution, error: &TerminalError) {
    if error.code() == CANCELLED {
        execution.cancel();
    } else {
        execution.fail(error.message().to_owned());
    }
}

/// A signal, or a timer with nothing to say.
type Waiting<'a> =
    Pin<Box<dyn DurableFuture<Output = Result<Option<Json<Kept>>, TerminalError>> + Send + 'a>>;

/// Until the moment has come (`None`), or the first of these signals.
async fn waited(
    context: &ContextInternal,
    until: Option<Time>,
    signals: &[(String, usize)],
) -> Result<Option<(String, Kept)>, TerminalError> {
    let promises: Vec<_> = signals
        .iter()
        .map(|(name, nth)| promise(name, *nth))
        .collect();
    let mut first = DurableFuturesUnordered::new();
    for promise in &promises {
        let told = context.promise::<Json<Kept>>(promise);
        let told: Waiting<'_> = Box::pin(told.map_ok(Some));
        first.push(told);
    }
    if let Some(until) = until {
        let timer = context.sleep(until.since(Time::of_this_machine()));
        first.push(Box::pin(timer.map_ok(|()| None)));
    }
    let Some((nth, heard)) = first.next().await? else {
        return Ok(None);
    };
    let name = signals.get(nth).map(|(name, _)| name.clone());
    Ok(name.zip(heard?.map(Json::into_inner)))
}

/// Undoes what was done; what the caller is told then.
async fn undone(
    context: &ContextInternal,
    mut undo: Compensations,
    delays: Delays,
) -> HandlerResult<TerminalError> {
    while let Some(name) = undo.next() {
        let entry = Named {
            name: &name,
            policy: delays.for_ever(),
            gives_up: false,
        };
        match recorded(context, entry, undo.run()).await? {
            Ok(entry) => undo.tell(&entry),
            // It goes back already.
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

fn said(failure: Failure) -> HandlerError {
    match failure {
        Failure::Failed(message) | Failure::Parked(message) => message.into(),
    }
}
