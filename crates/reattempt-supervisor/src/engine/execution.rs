//! A task that runs forward.

use std::collections::VecDeque;
use std::fmt;
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use tokio::sync::oneshot;
use tokio::task::unconstrained;

use super::command::{Command, EngineError, EngineTask};
use super::compensations::Compensations;
use super::entry::{Entry, What};
use super::start::{prepare_task, start_workflow};
use crate::context::Inner;
use crate::context::journal::{Next, Stop};
use crate::context::poll::{poll_once, stop_of_panic};
use crate::identity::Identity;
use crate::resources::Resources;
use crate::store::{LeaseStatus, Salt, Write, WriteResult};
use crate::task::{Direction, NewTask, Record, State, Task};
use crate::time::Time;
use crate::workflow::{RunFn, Workflow, WorkflowError, WorkflowResult, new_task};
use crate::writer::{Jobs, Reply};

/// Names of signals start with this in the record.
const SIGNAL: &str = "signal ";

const UNRECORDED: &str = "the workflow went on without a recorded result: it waits for something other than its steps, timers and signals; move that into a step";

/// How often a workflow may wake itself before it needs a result.
const YIELDS: u32 = 10_000;

/// A waker that remembers whether it was woken.
struct Woken(AtomicBool, Waker);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
        self.1.wake_by_ref();
    }
}

/// A task of an engine, from its start until it ends or turns back.
pub struct Execution {
    inner: Arc<Inner>,
    run_fn: RunFn,
    workflow: Pin<Box<dyn Future<Output = WorkflowResult> + Send>>,
    jobs: Jobs,
    /// The outcomes that have come up here and are not in the journal yet.
    ready: VecDeque<(Record, oneshot::Sender<Reply>)>,
    /// The entry that [`run`](Self::run) returned last, and the step that waits until it is in the
    /// journal.
    offered: Option<(Entry, oneshot::Sender<Reply>)>,
    /// The steps that ended after the task turned back: they do not continue.
    ignored: Vec<oneshot::Sender<Reply>>,
    /// The records of the applied entries, in their order.
    records: Vec<Record>,
    ended: Option<Command>,
    /// The direction in which the task turned back, and why.
    turned_back: Option<(Direction, String)>,
}

impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Execution")
            .field("task", &self.inner.task.id)
            .field("records", &self.records.len())
            .finish_non_exhaustive()
    }
}

impl Execution {
    /// Starts a task.
    pub fn new<W: Workflow>(task: EngineTask, resources: &Resources) -> Self {
        let (salt, now) = (Salt::from_u128(task.salt.into()), task.now);
        let new = NewTask {
            complete_by: task.complete_by.or(W::COMPLETE_BY),
            headers: task.headers,
            ..new_task::<W>(task.key, task.input)
        };
        let task = Task {
            state: State::Processing,
            ..Task::new(task.id, new, task.started_at)
        };
        let identity = Identity::of(&task, salt);
        let (inner, jobs) = prepare_task(task, Vec::new(), (identity, now), resources);
        Self {
            workflow: start_workflow(&inner, W::run),
            inner,
            run_fn: W::run,
            jobs,
            ready: VecDeque::new(),
            offered: None,
            ignored: Vec::new(),
            records: Vec::new(),
            ended: None,
            turned_back: None,
        }
    }

    /// Returns the next command. Apply all entries that the journal has before you call this.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Command {
        poll_fn(|cx| {
            self.poll_to_rest(cx);
            Poll::Ready(self.command())
        })
        .await
    }

    /// Decides on the next command.
    fn command(&self) -> Command {
        let Some(mut calls) = self.inner.engine_calls() else {
            return Command::Undo;
        };
        if self.turned_back.is_some() {
            // Steps that may have started run to their end: only a recorded step can be undone.
            let steps = calls.named_steps();
            return if steps.is_empty() {
                Command::Undo
            } else {
                Command::Run(steps.join(" | "))
            };
        }
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        if let Some(stop) = self.inner.journal().stop_reason() {
            return Command::Park(stop.message().to_owned());
        }
        calls.name_steps();
        let steps = calls.named_steps();
        if !steps.is_empty() {
            return Command::Run(steps.join(" | "));
        }
        if calls.waits().next().is_none() {
            let message = "the workflow waits for something other than its steps, timers and signals; move that into a step";
            return Command::Park(message.to_owned());
        }
        let mut signals: Vec<_> = calls
            .waits()
            .filter(|(_, _, wait)| wait.is_signal)
            .map(|(_, name, _)| name.to_owned())
            .collect();
        signals.sort();
        signals.dedup();
        let until = calls.waits().filter_map(|(_, _, wait)| wait.due).min();
        drop(calls);
        let named = |name: String| {
            let received = self.inner.journal().count_received(&name);
            let signal = name.strip_prefix(SIGNAL).unwrap_or(&name);
            (signal.to_owned(), received)
        };
        Command::Wait {
            until: until.into_iter().chain(self.inner.task.complete_by).min(),
            signals: signals.into_iter().map(named).collect(),
        }
    }

    /// Lets the open steps run until the first has ended, or a timer is due.
    ///
    /// # Errors
    ///
    /// Fails if a step gave up or cannot continue. The steps beside it run to their end first.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the steps stay alive: they belong to the execution.
    pub async fn run(&mut self) -> Result<Entry, EngineError> {
        let wakers = match self.inner.engine_calls() {
            None => Vec::new(),
            Some(mut calls) => {
                calls.allow_named_steps();
                calls.take_wakers()
            }
        };
        for waker in wakers {
            waker.wake();
        }
        let mut timer: Option<Pin<Box<tokio::time::Sleep>>> = None;
        poll_fn(|cx| {
            let next = self.poll(cx);
            if let Some(entry) = self.next_entry() {
                return Poll::Ready(Ok(entry));
            }
            if let Some(error) = self.error(next) {
                return Poll::Ready(Err(error));
            }
            let due = self.next_due().filter(|_| self.turned_back.is_none());
            let Some(due) = due.map(|(due, _)| due) else {
                return Poll::Pending;
            };
            let left = due.since(self.inner.store_now());
            let timer = timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(left)));
            if !left.is_zero() && timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            Poll::Ready(Ok(self.due_entry()))
        })
        .await
    }

    /// Returns an error if no more step will end here.
    fn error(&self, next: Next) -> Option<EngineError> {
        if let Next::Stop(stop) = next {
            return Some(EngineError::Parked(stop.message().to_owned()));
        }
        match &self.ended {
            Some(Command::Fail(message)) => return Some(EngineError::Failed(message.clone())),
            Some(_) => return Some(EngineError::Parked(UNRECORDED.to_owned())),
            None => {}
        }
        let is_active = self.inner.journal().active() > self.ignored.len();
        let calls = self.inner.engine_calls()?;
        let message = calls.failure().filter(|_| !is_active)?;
        Some(EngineError::Failed(message.to_owned()))
    }

    /// Returns the entry of the first outcome that the workflow still wants; the same entry again
    /// until it is applied.
    fn next_entry(&mut self) -> Option<Entry> {
        if let Some((entry, reply)) = &self.offered
            && !reply.is_closed()
        {
            return Some(entry.clone());
        }
        while let Some((record, reply)) = self.ready.pop_front() {
            if !reply.is_closed() {
                let entry = Entry::of(record, self.inner.store_now());
                self.offered = Some((entry.clone(), reply));
                return Some(entry);
            }
        }
        None
    }

    /// Returns the first due time and the number of its timer, or `None` in place of the number for
    /// the task itself.
    fn next_due(&self) -> Option<(Time, Option<i32>)> {
        let calls = self.inner.engine_calls()?;
        let waits = calls.waits();
        let timers = waits.filter_map(|(seq, _, wait)| Some((wait.due?, Some(seq))));
        let whole = self.inner.task.complete_by.map(|by| (by, None));
        timers.chain(whole).min()
    }

    /// Returns the entry of the timer that is due first.
    fn due_entry(&self) -> Entry {
        let (due, seq) = self.next_due().unwrap_or((Time::default(), None));
        let name = seq.and_then(|seq| Some(self.inner.engine_calls()?.get(seq)?.name.clone()));
        Entry {
            seq: seq.unwrap_or(-1),
            name: name.unwrap_or_default(),
            what: match seq {
                Some(_) => What::Done(None),
                None => What::Expired,
            },
            at: due.as_micros(),
            args_hash: None,
            args: None,
            undo: None,
        }
    }

    /// Applies an entry of the journal, which was recorded now or in an earlier run of the task.
    pub fn apply(&mut self, entry: Entry) {
        if entry.what == What::Expired {
            let limit = self.inner.task.complete_by.unwrap_or_default();
            let message = format!("it was not done by {limit}, its `complete_by`");
            return self.turn_back(Direction::Undoing, message);
        }
        let at = Time::from_micros(entry.at);
        let offered = self.offered.take_if(|(offered, _)| *offered == entry);
        let is_begun = entry.what == What::Begun;
        let record = entry.into_record(self.records.len());
        let seq = record.seq;
        if let Some(message) = self.mismatch(&record) {
            self.inner.journal().stop(Stop::Diverged(message));
            return;
        }
        if is_begun {
            self.inner.journal().add_begun(record);
        } else {
            if let Some(mut calls) = self.inner.engine_calls() {
                calls.close(seq);
            }
            self.records.push(record.clone());
            if self.turned_back.is_some() {
                self.ignored.extend(offered.map(|(_, reply)| reply));
                return;
            }
            let mut journal = self.inner.journal();
            journal.add_unwritten(record);
            journal.mark_written(seq, at);
        }
        if let Some((_, reply)) = offered {
            let status = LeaseStatus {
                now: at,
                cancel_requested: false,
            };
            // The step may have been dropped in between.
            let _ = reply.send(Ok(WriteResult::Written(status)));
        }
        let calls = self.inner.engine_calls();
        let wakers = calls.map(|mut calls| calls.take_wakers());
        for waker in wakers.into_iter().flatten() {
            waker.wake();
        }
    }

    /// Returns a message if the record does not fit the open call with its number.
    fn mismatch(&self, record: &Record) -> Option<String> {
        let calls = self.inner.engine_calls()?;
        let open = calls.get(record.seq);
        if open.is_some_and(|open| open.name == record.name) {
            return None;
        }
        let now = open.map_or("nothing".to_owned(), |open| format!("`{}`", open.name));
        Some(format!(
            "step {} was `{}` when it was recorded and is {now} now: the code of the workflow has changed; restore the old code",
            record.seq, record.name
        ))
    }

    /// Applies that the time of [`Command::Wait`] has come.
    pub fn apply_due_timer(&mut self) {
        let entry = self.due_entry();
        self.apply(entry);
    }

    /// Applies a signal of [`Command::Wait`] that came at this time, with this JSON.
    pub fn apply_signal(&mut self, signal: &str, payload: String, at: Time) {
        let name = format!("{SIGNAL}{signal}");
        let seq = self.inner.engine_calls().and_then(|calls| {
            let mut waits = calls.waits();
            waits.find_map(|(seq, of, wait)| (wait.is_signal && of == name).then_some(seq))
        });
        if let Some(seq) = seq {
            self.apply(Entry {
                seq,
                name,
                what: What::Done(Some(payload)),
                at: at.as_micros(),
                args_hash: None,
                args: None,
                undo: None,
            });
        }
    }

    /// Returns whether the task was cancelled, came too late or failed.
    pub fn has_turned_back(&self) -> bool {
        self.turned_back.is_some()
    }

    /// Cancels the task: no new step starts.
    pub fn cancel(&mut self) {
        self.turn_back(Direction::Cancelling, "it was cancelled".to_owned());
    }

    /// Gives up the command that runs, because it has failed too often.
    pub fn fail(&mut self, error: String) {
        if let Some(mut calls) = self.inner.engine_calls() {
            calls.give_up();
        }
        self.turn_back(Direction::Undoing, error);
    }

    fn turn_back(&mut self, direction: Direction, error: String) {
        self.turned_back.get_or_insert((direction, error));
    }

    /// Returns the compensations, after [`Command::Undo`].
    ///
    /// # Errors
    ///
    /// Fails if the code has changed and does not fit the record.
    pub async fn compensations(self, resources: &Resources) -> Result<Compensations, EngineError> {
        let nothing = (Direction::Undoing, String::new());
        let (direction, error) = self.turned_back.unwrap_or(nothing);
        let task = Task {
            direction,
            error: Some(error),
            ..self.inner.task.clone()
        };
        let outside = (self.inner.identity, self.inner.store_now());
        Compensations::of(task, self.records, outside, self.run_fn, resources).await
    }

    /// Polls the workflow until it has got all results.
    fn poll(&mut self, cx: &mut Context<'_>) -> Next {
        while self.ended.is_none() {
            self.inner.journal().before_poll();
            match poll_once(self.workflow.as_mut(), cx) {
                Err(panic) => {
                    self.ended = Some(Command::Fail(stop_of_panic(&*panic).message().to_owned()));
                    self.workflow = Box::pin(pending());
                }
                Ok(Poll::Ready(ended)) => self.end(ended),
                Ok(Poll::Pending) => {}
            }
            self.take_jobs();
            let (next, wakers) = self.inner.journal().after_poll();
            for waker in wakers {
                waker.wake();
            }
            if next != Next::Again {
                return next;
            }
        }
        Next::Rest
    }

    /// Polls also as long as the workflow wakes itself: a later run may poll it more often, and
    /// must come to the same point.
    fn poll_to_rest(&mut self, cx: &mut Context<'_>) {
        let woken = Arc::new(Woken(AtomicBool::new(true), cx.waker().clone()));
        let waker = Waker::from(Arc::clone(&woken));
        for _ in 0..YIELDS {
            if !woken.0.swap(false, Ordering::Relaxed) {
                return;
            }
            let mut polling = unconstrained(poll_fn(|cx| {
                self.poll(cx);
                Poll::Ready(())
            }));
            let _ = Pin::new(&mut polling).poll(&mut Context::from_waker(&waker));
        }
    }

    /// Turns the result of the workflow into the last command.
    fn end(&mut self, ended: WorkflowResult) {
        self.ended = Some(match ended {
            Ok(output) => Command::Complete(output),
            Err(WorkflowError::Json(message)) if self.records.is_empty() => {
                Command::Refuse(message)
            }
            Err(WorkflowError::Json(message)) => Command::Park(message),
            Err(WorkflowError::Returned(error)) => {
                self.turn_back(Direction::Undoing, error);
                Command::Undo
            }
        });
    }

    /// Moves new records from the writer to `ready`.
    fn take_jobs(&mut self) {
        while let Some((write, reply)) = self.jobs.next() {
            if let Write::Record(_, record) = write {
                self.ready.push_back((*record, reply));
            }
        }
    }
}
