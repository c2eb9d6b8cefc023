//! One run of a workflow on its record, in which no step starts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use reattempt::Policy;

use super::history::History;
use crate::context::journal::{Next, Stop};
use crate::context::poll::{poll_once, stop_of_panic};
use crate::context::{Inner, Limits, WorkflowContext};
use crate::events::Observers;
use crate::payload::is_same_json;
use crate::resources::Resources;
use crate::running::RunningSteps;
use crate::task::{Direction, State, WorkerId};
use crate::time::Time;
use crate::workflow::{RunFn, WorkflowError, WorkflowResult};
use crate::writer::Writer;

/// How often a workflow may wake itself before it must have made its next call.
const YIELDS: u32 = 10_000;

/// Runs the workflow forward. Returns why the code does not fit the record.
pub(super) fn forward(history: &History, run_fn: RunFn) -> Option<String> {
    let pass = match Pass::run(history, Direction::Forward, run_fn) {
        Ok(pass) => pass,
        Err(message) => return Some(message),
    };
    // Only a processed task must end again, with the same result. Others may stop anywhere behind
    // their record.
    if history.state() != Some(State::Processed) {
        return pass.unfit_arguments();
    }
    match (pass.ended, history.output()) {
        (Some(Ok(output)), Some(recorded)) if is_same_json(&output, recorded) => None,
        (Some(Ok(_)), Some(_)) => {
            Some("the workflow returns another result than it did".to_owned())
        }
        (Some(Ok(_)), None) => None,
        (Some(Err(error)), _) => Some(format!(
            "the workflow fails, and it did not: {}",
            text_of(error)
        )),
        (None, _) if pass.continues => Some(
            "the workflow continues as new, and the task has ended; raise its `version` and let tasks of the old version finish with the old code"
                .to_owned(),
        ),
        (None, _) => Some(match pass.inner.first_new_call() {
            Some((seq, name)) => format!(
                "the workflow calls step {seq} `{name}`, which is not recorded, and the task has ended without it; raise its `version` and let \
                 tasks of the old version finish with the old code"
            ),
            None => {
                "the workflow does not end, and it did: it waits for something other than its steps"
                    .to_owned()
            }
        }),
    }
}

/// Undoes what is recorded, without running a compensation. Returns why the code cannot.
pub(super) fn undoing(history: &History, run_fn: RunFn) -> Option<String> {
    // A changed compensation shows only when a task turns back.
    match Pass::run(history, Direction::Undoing, run_fn) {
        Ok(pass) => pass.unfit_arguments(),
        Err(message) => Some(message),
    }
}

/// A workflow that has come to rest.
struct Pass {
    inner: Arc<Inner>,
    ended: Option<WorkflowResult>,
    /// Whether it continues as new.
    continues: bool,
}

impl Pass {
    /// Runs a workflow until it needs something that is not recorded.
    fn run(history: &History, direction: Direction, run_fn: RunFn) -> Result<Self, String> {
        let (writer, _) = Writer::to_engine();
        let limits = Limits {
            max_payload: usize::MAX,
            step_complete_by: None,
            delays: Policy::new(),
        };
        let Some(identity) = history.identity() else {
            return Err("its `identity` has no 32 hexadecimal digits; export it again".to_owned());
        };
        let inner = Inner::new(
            (history.to_task(direction), Time::default()),
            identity,
            writer,
            Resources::new(),
            limits,
            RunningSteps::new(WorkerId(String::new()), Observers::default()),
        );
        let inner = Arc::new(inner.for_replay());
        inner.load(history.to_records());
        let message = |stop: Stop| stop.message().to_owned();
        let rest = poll(&inner, run_fn).map_err(message)?;
        let continues = matches!(rest, Rest::Continues);
        let ended = match rest {
            Rest::Ended(result) => Some(result),
            Rest::Waits | Rest::Continues => None,
        };
        let is_json = matches!(ended, Some(Err(WorkflowError::Json(_))));
        if let Some(message) = inner.journal().missing_request().filter(|_| !is_json) {
            return Err(message);
        }
        Ok(Self {
            inner,
            ended,
            continues,
        })
    }

    fn unfit_arguments(self) -> Option<String> {
        match self.ended {
            Some(Err(WorkflowError::Json(message))) => Some(message),
            _ => None,
        }
    }
}

/// How a workflow has come to rest.
enum Rest {
    Ended(WorkflowResult),
    Continues,
    Waits,
}

/// A waker that remembers whether it was woken.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn poll(inner: &Arc<Inner>, run_fn: RunFn) -> Result<Rest, Stop> {
    let context = WorkflowContext::new(Arc::clone(inner));
    let mut workflow = run_fn(&context, &inner.task.input);
    let woken = Arc::new(Woken(AtomicBool::new(false)));
    let waker = Waker::from(Arc::clone(&woken));
    let mut cx = Context::from_waker(&waker);
    let mut yields = 0;
    loop {
        woken.0.store(false, Ordering::Relaxed);
        inner.journal().before_poll();
        match poll_once(workflow.as_mut(), &mut cx) {
            Err(panic) => return Err(stop_of_panic(&*panic)),
            Ok(Poll::Ready(ended)) => return Ok(Rest::Ended(ended)),
            Ok(Poll::Pending) => {}
        }
        let (next, wakers) = inner.journal().after_poll();
        for waker in wakers {
            waker.wake();
        }
        let is_woken = woken.0.load(Ordering::Relaxed) && yields < YIELDS;
        match next {
            Next::Again => {}
            Next::Stop(stop) | Next::Ending(stop) => return Err(stop),
            Next::Rest | Next::Idle(_) | Next::Stalled(_) if is_woken => {
                yields = u32::saturating_add(yields, 1);
            }
            Next::Rest | Next::Idle(_) => return Ok(Rest::Waits),
            Next::Continue => return inner.next_generation().map(|_| Rest::Continues),
            Next::Stalled(call) => {
                return Err(Stop::Diverged(format!(
                    "the workflow has not called {call}, which is recorded: its code has changed, or it waits for something other than its \
                     steps; raise its `version` and let tasks of the old version finish with the old code"
                )));
            }
        }
    }
}

fn text_of(error: WorkflowError) -> String {
    match error {
        WorkflowError::Returned(message) | WorkflowError::Json(message) => message,
    }
}
