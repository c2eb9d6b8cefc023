//! One task in the hands of this process, from its claim until it ends or is given up.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use reattempt::Policy;

use super::Here;
use crate::ends::{End, Ending};
use crate::events::Event;
use crate::flow::journal::{Next, Stop};
use crate::flow::poll::{panicked, poll_once};
use crate::flow::{Flow, Inner, StepError};
use crate::store::{Change, Fate, Operation, Outcome, Wake};
use crate::task::{Direction, State};
use crate::tasks::Shared;
use crate::time::Time;
use crate::workflow::{Ended, Failure, Runs};

/// A task that has nothing to do for longer than this is put away.
const LINGER: Duration = Duration::from_secs(1);

/// How long a workflow may do something else than ask for what is recorded next.
const STALL: Duration = Duration::from_secs(10);

/// Why the workflow is not polled any more.
enum Pause {
    Ended(Ended),
    Idle(Option<Time>),
    Stop(Stop),
}

/// Runs a task as far as it goes, and writes down how it stands then.
pub(super) async fn drive(
    inner: Arc<Inner>,
    runs: Runs,
    shared: &Shared,
    delays: &Policy,
    here: Here,
) {
    let Here { seat, end } = here;
    if inner.run.cancel_asked && inner.run.direction == Direction::Forward {
        inner.cancel();
    }
    let pause = poll_through(&inner, runs).await;
    let change = if inner.run.direction == Direction::Forward {
        after_forward(&inner, pause, delays)
    } else {
        match pause {
            Pause::Stop(stop) => after_stop(&inner, stop, delays),
            Pause::Ended(_) | Pause::Idle(_) => undo_all(&inner, delays).await,
        }
    };
    // What is written now may make room for another.
    drop(seat);
    if let Some(change) = change {
        finish(&inner, change, shared, &end).await;
    } else {
        shared.writer().look();
        shared.tell(&lost(&inner));
    }
    end.is_gone();
}

/// Polls the workflow, tells it what is recorded, and lets it go on until nothing runs any more.
async fn poll_through(inner: &Arc<Inner>, runs: Runs) -> Pause {
    let flow = Flow::new(Arc::clone(inner));
    let mut workflow = runs(&flow, &inner.run.input);
    let mut stall: Option<Pin<Box<tokio::time::Sleep>>> = None;
    poll_fn(|context| {
        loop {
            inner.journal().poll();
            match poll_once(workflow.as_mut(), context) {
                Err(panic) => return Poll::Ready(Pause::Stop(panicked(&*panic))),
                Ok(Poll::Ready(ended)) => {
                    let is_form = matches!(ended, Err(Failure::Form(_)));
                    return Poll::Ready(match inner.journal().left_over() {
                        Some(message) if !is_form => Pause::Stop(Stop::Diverged(message)),
                        _ => Pause::Ended(ended),
                    });
                }
                Ok(Poll::Pending) => {}
            }
            let (next, wakers) = inner.journal().polled();
            for waker in wakers {
                waker.wake();
            }
            let what = match next {
                Next::Again => {
                    stall = None;
                    continue;
                }
                Next::Rest => return Poll::Pending,
                Next::Stop(stop) => return Poll::Ready(Pause::Stop(stop)),
                Next::Idle(due) => {
                    let is_soon = due.is_some_and(|due| due.since(inner.store_now()) <= LINGER);
                    if is_soon && inner.run.direction == Direction::Forward {
                        return Poll::Pending;
                    }
                    return Poll::Ready(Pause::Idle(due));
                }
                Next::Stalled(what) => what,
            };
            let stall = stall.get_or_insert_with(|| Box::pin(tokio::time::sleep(STALL)));
            if stall.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            let message = format!(
                "the workflow has not asked for {what}, which is recorded, for {STALL:?}: its code has changed, or it waits for something else than \
                 its steps; raise its `version` and let tasks of the old one end with the old code"
            );
            return Poll::Ready(Pause::Stop(Stop::Diverged(message)));
        }
    })
    .await
}

fn after_forward(inner: &Inner, pause: Pause, delays: &Policy) -> Option<Change> {
    let standing = Change {
        state: State::Pending,
        direction: Direction::Forward,
        failures: inner.run.failures,
        wake: Wake::In(Duration::ZERO),
        output: None,
        error: None,
    };
    Some(match pause {
        Pause::Ended(Ok(output)) => Change {
            state: State::Processed,
            output: Some(output),
            ..standing
        },
        Pause::Ended(Err(Failure::Error(error))) => Change {
            direction: Direction::Undoing,
            failures: 0,
            error: Some(error),
            ..standing
        },
        Pause::Ended(Err(Failure::Form(error))) => parked(inner, error),
        Pause::Idle(due) => Change {
            state: State::Waiting,
            wake: Wake::At(due.unwrap_or(Time::NEVER), newest_signal(inner)),
            ..standing
        },
        Pause::Stop(stop) => return after_stop(inner, stop, delays),
    })
}

/// `None` if it is not ours any more.
fn after_stop(inner: &Inner, stop: Stop, delays: &Policy) -> Option<Change> {
    match stop {
        Stop::Lost => None,
        Stop::Diverged(message) | Stop::Ambiguous(message) => Some(parked(inner, message)),
        Stop::Failed(message) => Some(failed(inner, message, delays)),
        Stop::Cancelled => Some(Change {
            state: State::Pending,
            direction: Direction::Cancelling,
            failures: 0,
            wake: Wake::In(Duration::ZERO),
            output: None,
            error: Some("it was cancelled".to_owned()),
        }),
    }
}

fn failed(inner: &Inner, message: String, delays: &Policy) -> Change {
    let run = &inner.run;
    let now = (run.direction, run.failures);
    let fate = Fate::of_failure(now, run.max_failures, delays, rand::random());
    Change {
        state: fate.state,
        direction: fate.direction,
        failures: fate.failures,
        wake: Wake::In(fate.delay),
        output: None,
        error: Some(message),
    }
}

fn parked(inner: &Inner, message: String) -> Change {
    Change {
        state: State::Parked,
        direction: inner.run.direction,
        failures: inner.run.failures,
        wake: Wake::In(Duration::ZERO),
        output: None,
        error: Some(message),
    }
}

fn newest_signal(inner: &Inner) -> i64 {
    inner.signals().last().map_or(0, |signal| signal.id)
}

/// Undoes what was done, the last first. `None` if the task is not ours any more.
async fn undo_all(inner: &Arc<Inner>, delays: &Policy) -> Option<Change> {
    if let Some(message) = inner.journal().left_over() {
        return Some(parked(inner, message));
    }
    let mut undos = std::mem::take(&mut *inner.undos());
    undos.sort_by_key(|undo| undo.ord);
    let was_undone = inner.journal().has_undone() || !undos.is_empty();
    let flow = Flow::new(Arc::clone(inner));
    while let Some(undo) = undos.pop() {
        let undoing = (undo.run)(flow.undoing(undo.seq));
        match undo_one(inner, undoing).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                let message = format!(
                    "step {} `{}` could not be undone: {error}",
                    undo.seq, undo.name
                );
                return Some(failed(inner, message, delays));
            }
            Err(stop) => return after_stop(inner, stop, delays),
        }
    }
    Some(Change {
        state: inner.run.direction.end(was_undone),
        direction: inner.run.direction,
        failures: inner.run.failures,
        wake: Wake::In(Duration::ZERO),
        output: None,
        error: None,
    })
}

async fn undo_one(
    inner: &Inner,
    undoing: impl Future<Output = Result<(), StepError>>,
) -> Result<Result<(), StepError>, Stop> {
    let mut undoing = pin!(undoing);
    poll_fn(|context| match poll_once(undoing.as_mut(), context) {
        Err(panic) => Poll::Ready(Err(panicked(&*panic))),
        Ok(Poll::Ready(undone)) => Poll::Ready(Ok(undone)),
        Ok(Poll::Pending) => match inner.journal().stopped() {
            Some(stop) => Poll::Ready(Err(stop)),
            None => Poll::Pending,
        },
    })
    .await
}

/// Writes down how the task stands now, and tells of it.
async fn finish(inner: &Inner, change: Change, shared: &Shared, end: &End) {
    let event = told(inner, &change);
    let ended = change.state.is_final().then(|| Ending {
        state: change.state,
        output: change.output.clone(),
        error: change.error.clone().or_else(|| inner.run.error.clone()),
    });
    let written = shared
        .writer()
        .send(Operation::Change(inner.hold, Box::new(change)))
        .await;
    match written {
        Ok(Outcome::Held(_)) => {
            if let Some(ended) = ended {
                end.tell(ended);
            }
            if let Some(event) = event {
                shared.tell(&event);
            }
        }
        Ok(_) => shared.tell(&lost(inner)),
        // The writer has told of it; the lease runs out.
        Err(_) => {}
    }
}

fn lost(inner: &Inner) -> Event {
    Event::Lost {
        run: inner.run.id,
        workflow: inner.run.workflow.clone(),
    }
}

fn told(inner: &Inner, change: &Change) -> Option<Event> {
    let run = inner.run.id;
    let workflow = inner.run.workflow.clone();
    let error = change.error.clone().or_else(|| inner.run.error.clone());
    match change.state {
        state if state.is_final() => {
            let error = error.filter(|_| state != State::Processed);
            Some(Event::Ended {
                run,
                workflow,
                state,
                error,
            })
        }
        State::Pending if change.direction != inner.run.direction => Some(Event::TurnedBack {
            run,
            workflow,
            error: error.unwrap_or_default(),
        }),
        State::Pending => Some(Event::Failed {
            run,
            workflow,
            failures: change.failures,
            delay: match change.wake {
                Wake::In(delay) => delay,
                Wake::At(..) => Duration::ZERO,
            },
            error: error.unwrap_or_default(),
        }),
        _ => None,
    }
}
