//! A task on its way back.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use super::{Entry, Failure, Lent, begun, said, started};
use crate::flow::journal::{Next, Stop};
use crate::flow::poll::{panicked, poll_once};
use crate::flow::{Flow, Inner, Undo, Undoing};
use crate::store::Operation;
use crate::task::{Record, Run, State};
use crate::time::Time;
use crate::workflow::Runs;
use crate::writer::Jobs;

/// What is to be undone of a task, the last first.
pub struct Compensations {
    inner: Arc<Inner>,
    jobs: Jobs,
    undos: Vec<Undo>,
    /// The last of them, under way; what is to be recorded of it, once it is done.
    current: Option<Current>,
    state: State,
}

struct Current {
    seq: i32,
    name: String,
    undoing: Undoing,
    entry: Option<Entry>,
}

impl std::fmt::Debug for Compensations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compensations")
            .field("task", &self.inner.run.id)
            .field("left", &self.undos.len())
            .finish_non_exhaustive()
    }
}

impl Compensations {
    /// The workflow runs once more, as far as it had come, and its steps say how they are undone.
    pub(super) async fn of(
        run: Run,
        records: Vec<Record>,
        outside: (u64, Time),
        runs: Runs,
        lent: &Lent,
    ) -> Result<Self, Failure> {
        let direction = run.direction;
        let (inner, jobs) = begun(run, records, outside, lent);
        let mut workflow = started(&inner, runs);
        let stop = poll_fn(|context| {
            loop {
                inner.journal().poll();
                let polled = match poll_once(workflow.as_mut(), context) {
                    Err(panic) => return Poll::Ready(Some(panicked(&*panic))),
                    Ok(polled) => polled,
                };
                let (next, wakers) = inner.journal().polled();
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
        let missing = inner.journal().left_over();
        match stop.or(missing.map(Stop::Diverged)) {
            None => {}
            Some(Stop::Failed(message)) => return Err(Failure::Failed(message)),
            Some(stop) => return Err(Failure::Parked(said(stop))),
        }
        let mut undos = std::mem::take(&mut *inner.undos());
        undos.sort_by_key(|undo| undo.ord);
        Ok(Self {
            state: direction.end(!undos.is_empty()),
            inner,
            jobs,
            undos,
            current: None,
        })
    }

    /// The name of what is to be undone next; `None` if all is.
    pub fn next(&self) -> Option<String> {
        let current = self.current.as_ref().map(|current| &current.name);
        let name = current.or_else(|| self.undos.last().map(|undo| &undo.name))?;
        Some(format!("undo {name}"))
    }

    /// Undoes it.
    ///
    /// # Errors
    ///
    /// The compensation failed: all of it is to be run again, later.
    ///
    /// # Cancel safety
    ///
    /// The compensation goes on when this is called again.
    pub async fn run(&mut self) -> Result<Entry, Failure> {
        if self.current.is_none()
            && let Some(undo) = self.undos.pop()
        {
            let flow = Flow::new(Arc::clone(&self.inner));
            self.current = Some(Current {
                seq: undo.seq,
                name: undo.name,
                undoing: (undo.run)(flow.undoing(undo.seq)),
                entry: None,
            });
        }
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Entry, Failure>> {
        let failed = |message: String| Poll::Ready(Err(Failure::Failed(message)));
        let Some(current) = &mut self.current else {
            return failed("there is nothing left to undo".to_owned());
        };
        if let Some(entry) = &current.entry {
            return Poll::Ready(Ok(entry.clone()));
        }
        let polled = match poll_once(current.undoing.as_mut(), context) {
            Err(panic) => return failed(said(panicked(&*panic))),
            Ok(polled) => polled,
        };
        while let Some((operation, _)) = self.jobs.next() {
            if let Operation::Record(_, record) = operation {
                let entry = Entry::of(*record, self.inner.store_now());
                current.entry = Some(entry.clone());
                return Poll::Ready(Ok(entry));
            }
        }
        if let Some(stop) = self.inner.journal().stopped() {
            return Poll::Ready(Err(Failure::Parked(said(stop))));
        }
        let failure = self.inner.pace();
        if let Some(message) = failure.and_then(|paced| Some(paced.failure()?.to_owned())) {
            return failed(message);
        }
        let error = match ready!(polled) {
            Ok(()) => "its compensation ended without a record".to_owned(),
            Err(error) => error.to_string(),
        };
        let Current { seq, name, .. } = current;
        failed(format!("step {seq} `{name}` could not be undone: {error}"))
    }

    /// It was undone, now or in another life of the task.
    pub fn tell(&mut self, entry: &Entry) {
        self.current.take_if(|current| current.seq == entry.seq);
        self.undos.retain(|undo| undo.seq != entry.seq);
    }

    /// How the task ends when all is undone.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Why it went back.
    pub fn error(&self) -> &str {
        self.inner.run.error.as_deref().unwrap_or_default()
    }
}
