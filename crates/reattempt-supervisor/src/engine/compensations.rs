//! A task that undoes its steps.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use super::command::EngineError;
use super::entry::Entry;
use super::start::{prepare_task, start_workflow};
use crate::context::journal::{Next, Stop};
use crate::context::poll::{poll_once, stop_of_panic};
use crate::context::{CompensationFuture, Inner, Undo, WorkflowContext};
use crate::identity::Identity;
use crate::resources::Resources;
use crate::store::Write;
use crate::task::{Direction, OnFailure, Record, State, Task};
use crate::time::Time;
use crate::workflow::RunFn;
use crate::writer::Jobs;

/// The compensations of a task, the last first.
pub struct Compensations {
    inner: Arc<Inner>,
    jobs: Jobs,
    undos: Vec<Undo>,
    current: Option<Current>,
    state: State,
}

/// The compensation that runs.
struct Current {
    seq: i32,
    name: String,
    future: CompensationFuture,
    /// Set when the compensation has ended.
    entry: Option<Entry>,
}

impl fmt::Debug for Compensations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compensations")
            .field("task", &self.inner.task.id)
            .field("left", &self.undos.len())
            .finish_non_exhaustive()
    }
}

impl Compensations {
    /// Runs the workflow once more, as far as its records reach, to collect the compensations of
    /// its steps.
    pub(super) async fn of(
        task: Task,
        records: Vec<Record>,
        outside: (Identity, Time),
        run_fn: RunFn,
        resources: &Resources,
    ) -> Result<Self, EngineError> {
        let direction = task.direction;
        let is_kept = direction == Direction::Undoing && task.on_failure == OnFailure::Keep;
        let (inner, jobs) = prepare_task(task, records, outside, resources);
        let mut workflow = start_workflow(&inner, run_fn);
        let stop = poll_fn(|cx| {
            loop {
                inner.journal().before_poll();
                let polled = match poll_once(workflow.as_mut(), cx) {
                    Err(panic) => return Poll::Ready(Some(stop_of_panic(&*panic))),
                    Ok(polled) => polled,
                };
                let (next, wakers) = inner.journal().after_poll();
                for waker in wakers {
                    waker.wake();
                }
                match next {
                    Next::Stop(stop) => return Poll::Ready(Some(stop)),
                    Next::Again if polled.is_pending() => {}
                    _ => return Poll::Ready(None),
                }
            }
        })
        .await;
        drop(workflow);
        let missing = inner.journal().missing_request();
        match stop.or(missing.map(Stop::Diverged)) {
            None => {}
            Some(Stop::Failed(_, message)) => return Err(EngineError::Failed(message)),
            Some(stop) => return Err(EngineError::Parked(stop.message().to_owned())),
        }
        let mut undos = std::mem::take(&mut *inner.undos());
        if is_kept {
            undos.clear();
        }
        undos.sort_by_key(|undo| undo.ord);
        Ok(Self {
            state: direction.final_state(!undos.is_empty()),
            inner,
            jobs,
            undos,
            current: None,
        })
    }

    /// Returns the name of the next compensation, or `None` if all are done.
    pub fn next(&self) -> Option<String> {
        let current = self.current.as_ref().map(|current| &current.name);
        let name = current.or_else(|| self.undos.last().map(|undo| &undo.name))?;
        Some(format!("undo {name}"))
    }

    /// Runs the next compensation.
    ///
    /// # Errors
    ///
    /// Fails if the compensation failed. Then the task must run again later, from the start.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the next call continues the compensation.
    pub async fn run(&mut self) -> Result<Entry, EngineError> {
        if self.current.is_none()
            && let Some(undo) = self.undos.pop()
        {
            let context = WorkflowContext::new(Arc::clone(&self.inner));
            self.current = Some(Current {
                seq: undo.step.seq,
                name: undo.name,
                future: (undo.compensation)(context.for_compensation(undo.step)),
                entry: None,
            });
        }
        poll_fn(|cx| self.poll(cx)).await
    }

    /// Polls the current compensation until it has an entry or an error.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Entry, EngineError>> {
        let failed = |message: String| Poll::Ready(Err(EngineError::Failed(message)));
        let Some(current) = &mut self.current else {
            return failed("there is nothing left to undo".to_owned());
        };
        if let Some(entry) = &current.entry {
            return Poll::Ready(Ok(entry.clone()));
        }
        let polled = match poll_once(current.future.as_mut(), cx) {
            Err(panic) => return failed(stop_of_panic(&*panic).message().to_owned()),
            Ok(polled) => polled,
        };
        while let Some((write, _)) = self.jobs.next() {
            if let Write::Record(_, record) = write {
                let entry = Entry::of(*record, self.inner.store_now());
                current.entry = Some(entry.clone());
                return Poll::Ready(Ok(entry));
            }
        }
        if let Some(stop) = self.inner.journal().stop_reason() {
            return Poll::Ready(Err(EngineError::Parked(stop.message().to_owned())));
        }
        let calls = self.inner.engine_calls();
        if let Some(message) = calls.and_then(|calls| Some(calls.failure()?.to_owned())) {
            return failed(message);
        }
        let error = match ready!(polled) {
            Ok(()) => "its compensation ended without a record".to_owned(),
            Err(error) => error.to_string(),
        };
        let Current { seq, name, .. } = current;
        failed(format!("step {seq} `{name}` could not be undone: {error}"))
    }

    /// Applies an entry of the journal, which was recorded now or in an earlier run of the task.
    pub fn apply(&mut self, entry: &Entry) {
        self.current.take_if(|current| current.seq == entry.seq);
        self.undos.retain(|undo| undo.step.seq != entry.seq);
    }

    /// Returns the state of the task when all compensations are done.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Returns why the task is undone.
    pub fn error(&self) -> &str {
        self.inner.task.error.as_deref().unwrap_or_default()
    }
}
