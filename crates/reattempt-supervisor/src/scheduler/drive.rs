//! Runs one task in this process, from its claim until it ends or the process gives it up.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use reattempt::Policy;

use super::changes::{
    change_after_final_failure, change_after_stop, change_to_parked, change_without_failure,
};
use super::history::{self, Known};
use super::undo::undo_all;
use crate::client::Shared;
use crate::context::journal::{Next, Stop};
use crate::context::poll::{poll_once, stop_of_panic};
use crate::context::{Inner, WorkflowContext};
use crate::events::Event;
use crate::local::{LocalEnding, LocalTask};
use crate::payload::{storable, too_large};
use crate::store::{Change, Expiry, NextGeneration, Wake, Write, WriteResult};
use crate::task::{Direction, State};
use crate::time::Time;
use crate::workflow::{RunFn, WorkflowError, WorkflowResult};
use crate::writer::{Reply, Seat};

/// The worker keeps an idle task this long before it sets the task aside.
const LINGER: Duration = Duration::from_secs(1);

/// The worker keeps a task with a long record for so long if it waits for children: they must not wake
/// it one by one.
const SPACING: Duration = Duration::from_millis(500);

/// How long a workflow may run without making its next recorded call.
const STALL: Duration = Duration::from_secs(10);

/// How long steps may go on beside a failure or a cancellation.
const ENDING: Duration = Duration::from_secs(30);

/// What a task uses of this process: a seat, and the entry through which others wait for its end.
pub(super) struct Slot {
    pub(super) seat: Seat,
    pub(super) local: Arc<LocalTask>,
}

/// Why the worker does not poll the workflow any more.
enum Pause {
    Ended(WorkflowResult),
    /// Until this time, or until so many children have ended.
    Idle(Option<Time>, Option<u32>),
    Continue(Box<NextGeneration>),
    Stop(Stop),
}

/// What the worker writes when it gives up a task.
enum LastWrite {
    Change(Change),
    Continue(Box<NextGeneration>),
}

/// Runs a task as far as it goes, and writes its new state.
pub(super) async fn drive(
    inner: Arc<Inner>,
    known: Known,
    run_fn: RunFn,
    shared: &Shared,
    delays: &Policy,
    slot: Slot,
) {
    let Slot { seat, local } = slot;
    if inner.task.cancel_requested && inner.task.direction == Direction::Forward {
        inner.cancel();
    }
    let last = tokio::select! {
        biased;
        () = inner.lost() => None,
        () = time_is_over(&inner) => {
            let message = Expiry::Task.message().to_owned();
            Some(LastWrite::Change(change_after_final_failure(&inner, message, None)))
        }
        last = run(&inner, known, run_fn, shared, delays) => last,
    };
    // The write below may let another task in.
    drop(seat);
    if let Some(last) = last {
        match last {
            LastWrite::Change(change) => write_change(&inner, change, shared, &local).await,
            LastWrite::Continue(next) => {
                Box::pin(continue_as_new(&inner, next, shared, &local)).await;
            }
        }
    } else if inner.journal().stop_reason() == Some(Stop::Unavailable) {
        let give_back = Write::GiveBack(vec![inner.lease]);
        // If the store does not take it, a heartbeat gives the task back.
        drop(shared.writer().send(give_back).await);
    } else {
        shared.writer().look();
        shared.emit(&lost_event(&inner));
    }
    local.set_running(false);
}

/// Runs a task until it ends or waits. Returns what becomes of it, or `None` if this worker does not hold
/// it any more.
async fn run(
    inner: &Arc<Inner>,
    known: Known,
    run_fn: RunFn,
    shared: &Shared,
    delays: &Policy,
) -> Option<LastWrite> {
    match history::load(inner, known, shared).await {
        Ok(()) => {}
        Err(Stop::Unavailable) => {
            inner.journal().stop(Stop::Unavailable);
            return None;
        }
        Err(stop) => {
            let change = change_after_stop(inner, stop, shared, delays).await;
            return change.map(LastWrite::Change);
        }
    }
    let is_forward = inner.task.direction == Direction::Forward;
    let change = match poll_workflow(inner, run_fn).await {
        Pause::Continue(next) => return Some(LastWrite::Continue(next)),
        Pause::Stop(stop) => change_after_stop(inner, stop, shared, delays).await,
        Pause::Ended(result) if is_forward => Some(change_after_end(inner, result)),
        Pause::Idle(due, ends) if is_forward => Some(change_to_waiting(inner, due, ends)),
        // Apart: what few tasks do would make the future of every task larger.
        Pause::Ended(_) | Pause::Idle(..) => Box::pin(undo_all(inner, shared, delays)).await,
    };
    change.map(LastWrite::Change)
}

/// Waits until the task may not go forward any more.
async fn time_is_over(inner: &Inner) {
    match inner.time_left() {
        Some(left) => tokio::time::sleep(left).await,
        None => std::future::pending().await,
    }
}

/// Polls the workflow until nothing of it runs any more.
async fn poll_workflow(inner: &Arc<Inner>, run_fn: RunFn) -> Pause {
    let context = WorkflowContext::new(Arc::clone(inner));
    let mut workflow = run_fn(&context, &inner.task.input);
    let mut stall: Option<Pin<Box<tokio::time::Sleep>>> = None;
    let mut ending: Option<Pin<Box<tokio::time::Sleep>>> = None;
    let mut spacing: Option<Pin<Box<tokio::time::Sleep>>> = None;
    let mut cancelled = pin!(inner.cancelled());
    let mut is_cancelled = false;
    poll_fn(|cx| {
        // Only to be woken: the journal knows.
        is_cancelled = is_cancelled || cancelled.as_mut().poll(cx).is_ready();
        loop {
            inner.journal().before_poll();
            match poll_once(workflow.as_mut(), cx) {
                Err(panic) => return Poll::Ready(Pause::Stop(stop_of_panic(&*panic))),
                Ok(Poll::Ready(result)) => {
                    let is_json = matches!(result, Err(WorkflowError::Json(_)));
                    return Poll::Ready(match inner.journal().missing_request() {
                        Some(message) if !is_json => Pause::Stop(Stop::Diverged(message)),
                        _ => Pause::Ended(result),
                    });
                }
                Ok(Poll::Pending) => {}
            }
            let (next, wakers) = inner.journal().after_poll();
            for waker in wakers {
                waker.wake();
            }
            let call = match next {
                Next::Again => {
                    stall = None;
                    continue;
                }
                Next::Rest => return Poll::Pending,
                Next::Stop(stop) => return Poll::Ready(Pause::Stop(stop)),
                // A step that is recorded before the worker gives up the task does not run again.
                Next::Ending(stop) => {
                    let ending = ending.get_or_insert_with(|| Box::pin(tokio::time::sleep(ENDING)));
                    return ending.as_mut().poll(cx).map(|()| Pause::Stop(stop));
                }
                Next::Idle(due) => {
                    let is_soon = due.is_some_and(|due| due.since(inner.store_now()) <= LINGER);
                    if is_soon && inner.task.direction == Direction::Forward {
                        return Poll::Pending;
                    }
                    // Each wake reads the whole record, so the worker collects some ends of
                    // children first.
                    if inner.journal().is_slow_to_wake() {
                        let left = SPACING.saturating_sub(inner.claimed_at().elapsed());
                        let pause = spacing.get_or_insert_with(|| Box::pin(tokio::time::sleep(left)));
                        if pause.as_mut().poll(cx).is_pending() {
                            return Poll::Pending;
                        }
                    }
                    let ends = inner.journal().awaited_ends();
                    return Poll::Ready(Pause::Idle(due, ends));
                }
                Next::Continue => {
                    return Poll::Ready(match inner.next_generation() {
                        Ok(next) => Pause::Continue(Box::new(next)),
                        Err(stop) => Pause::Stop(stop),
                    });
                }
                Next::Stalled(call) => call,
            };
            let stall = stall.get_or_insert_with(|| Box::pin(tokio::time::sleep(STALL)));
            if stall.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            let message = format!(
                "the workflow has not called {call}, which is recorded, for {STALL:?}: its code has changed, or it waits for something other than \
                 its steps; raise its `version` and let tasks of the old version finish with the old code"
            );
            return Poll::Ready(Pause::Stop(Stop::Diverged(message)));
        }
    })
    .await
}

/// Returns the new state of a task whose workflow has ended.
fn change_after_end(inner: &Inner, result: WorkflowResult) -> Change {
    match result {
        Ok(output) if output.len() > inner.limits.max_payload => {
            let what = format!("the result of workflow `{}`", inner.task.workflow);
            let (size, limit) = (output.len(), inner.limits.max_payload);
            let fix = "; then resubmit the task, which does not run its finished steps again";
            change_to_parked(
                inner,
                too_large(&what, size, limit, fix).unwrap_or_default(),
            )
        }
        Ok(output) => Change {
            output: Some(output),
            ..change_without_failure(inner, State::Processed)
        },
        Err(WorkflowError::Returned(error)) => {
            let failed_seq = inner.journal().failed_seq(&error);
            change_after_final_failure(inner, error, failed_seq)
        }
        Err(WorkflowError::Json(error)) => change_to_parked(inner, error),
    }
}

/// Returns the state of a task that waits until this time, or until so many children have ended.
fn change_to_waiting(inner: &Inner, due: Option<Time>, ends: Option<u32>) -> Change {
    let (at, seen) = (due.unwrap_or(Time::NEVER), inner.newest_signal());
    Change {
        wake: match ends {
            Some(ends) => Wake::Children { at, seen, ends },
            None => Wake::At(at, seen),
        },
        ..change_without_failure(inner, State::Waiting)
    }
}

/// Writes the new state of a task, and emits an event. If the store refuses the change for good, the
/// task is parked with the reason.
async fn write_change(inner: &Inner, change: Change, shared: &Shared, local: &LocalTask) {
    let mut change = Change {
        error: change.error.map(|error| storable(&error)),
        ..change
    };
    let mut result = send_change(inner, &change, shared).await;
    if let Err(error) = &result
        && !error.is_passing()
    {
        let message = format!(
            "the store refuses its new state `{}`: {error}",
            change.state
        );
        change = change_to_parked(inner, storable(&message));
        result = send_change(inner, &change, shared).await;
    }
    match result {
        Ok(WriteResult::Written(_)) => {
            if change.state.is_final() {
                let own = inner.task.error.clone();
                local.publish(LocalEnding {
                    state: change.state,
                    output: change.output.clone(),
                    error: change.error.clone().or(own),
                });
            }
            if let Some(event) = event_of(inner, &change) {
                shared.emit(&event);
            }
        }
        Ok(_) => shared.emit(&lost_event(inner)),
        // The writer has emitted an event, and a heartbeat gives the task back.
        Err(_) => {}
    }
}

/// Begins the next generation of a task. If the store refuses it for good, the task is parked with the reason.
async fn continue_as_new(
    inner: &Inner,
    next: Box<NextGeneration>,
    shared: &Shared,
    local: &LocalTask,
) {
    let generation = next.generation;
    let write = Write::Continue(inner.lease, next);
    match shared.writer().send(write).await {
        Ok(WriteResult::Written(_)) => shared.emit(&Event::Continued {
            task: inner.task.id,
            workflow: inner.task.workflow.clone(),
            generation,
        }),
        Ok(_) => shared.emit(&lost_event(inner)),
        Err(error) if !error.is_passing() => {
            let message = format!("the store refuses its next generation: {error}");
            write_change(inner, change_to_parked(inner, message), shared, local).await;
        }
        // The writer has emitted an event, and a heartbeat gives the task back.
        Err(_) => {}
    }
}

async fn send_change(inner: &Inner, change: &Change, shared: &Shared) -> Reply {
    let change = Write::Change(inner.lease, Box::new(change.clone()));
    shared.writer().send(change).await
}

fn lost_event(inner: &Inner) -> Event {
    Event::Lost {
        task: inner.task.id,
        workflow: inner.task.workflow.clone(),
    }
}

/// Returns the event of a change.
fn event_of(inner: &Inner, change: &Change) -> Option<Event> {
    let task = inner.task.id;
    let workflow = inner.task.workflow.clone();
    let error = change.error.clone().or_else(|| inner.task.error.clone());
    match change.state {
        state if state.is_final() => {
            let error = error.filter(|_| state != State::Processed);
            Some(Event::Ended {
                task,
                workflow,
                state,
                error,
            })
        }
        State::Pending if change.direction != inner.task.direction => Some(Event::TurnedBack {
            task,
            workflow,
            error: error.unwrap_or_default(),
        }),
        State::Pending => Some(Event::Failed {
            task,
            workflow,
            failures: change
                .failing_step
                .as_ref()
                .map_or(change.counts.failures, |step| step.failures),
            delay: match change.wake {
                Wake::In(delay) => delay,
                Wake::At(..) | Wake::Children { .. } => Duration::ZERO,
            },
            error: error.unwrap_or_default(),
        }),
        _ => None,
    }
}
