//! A task on its way forward.

use std::collections::VecDeque;
use std::fmt;
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use tokio::sync::oneshot;
use tokio::task::unconstrained;

use super::{Command, Compensations, Entry, Failure, Lent, Task, What, begun, said, started};
use crate::flow::Inner;
use crate::flow::journal::{Next, Stop};
use crate::flow::poll::{panicked, poll_once};
use crate::store::{Operation, Outcome, Standing};
use crate::task::{Direction, Fence, Record, Run, State};
use crate::time::Time;
use crate::workflow::{DEFAULT_QUEUE, Ended, Failure as WorkflowFailure, Runs, Workflow};
use crate::writer::{Jobs, Written};

const SIGNAL: &str = "signal ";

const ASTRAY: &str = "the workflow went on without having been told anything: it waits for something that is not recorded; have a step do that";

/// How often a workflow may wake itself before it must be told something.
const YIELDS: u32 = 10_000;

/// Knows whether it was woken.
struct Woken(AtomicBool, Waker);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
        self.1.wake_by_ref();
    }
}

/// A task of an engine, from its start to its end or until it goes back.
pub struct Execution {
    inner: Arc<Inner>,
    runs: Runs,
    workflow: Pin<Box<dyn Future<Output = Ended> + Send>>,
    jobs: Jobs,
    /// What has ended here and is to be recorded next.
    ready: VecDeque<(Record, oneshot::Sender<Written>)>,
    /// What was given out last, and who waits until it is recorded.
    given: Option<(Entry, oneshot::Sender<Written>)>,
    /// Whose end is recorded after it was decided that the task goes back: they do not go on.
    unheard: Vec<oneshot::Sender<Written>>,
    /// What was told, in that order.
    records: Vec<Record>,
    ended: Option<Command>,
    /// Why it goes back.
    back: Option<(Direction, String)>,
}

impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Execution")
            .field("task", &self.inner.run.id)
            .field("told", &self.records.len())
            .finish_non_exhaustive()
    }
}

impl Execution {
    /// A task at its start.
    pub fn new<W: Workflow>(task: Task, lent: &Lent) -> Self {
        let complete_by = task.complete_by.or(W::COMPLETE_BY);
        let run = Run {
            id: task.id,
            workflow: W::NAME.to_owned(),
            version: W::VERSION,
            queue: DEFAULT_QUEUE.to_owned(),
            priority: 0,
            key: task.key,
            state: State::Processing,
            direction: Direction::Forward,
            wake_at: task.began,
            complete_by: complete_by.map(|limit| task.began.after(limit)),
            step_by: None,
            owner: None,
            fence: Fence::default(),
            failures: 0,
            max_failures: W::MAX_FAILURES,
            cancel_asked: false,
            input: task.input,
            output: None,
            error: None,
            headers: task.headers,
            created_at: task.began,
            updated_at: task.began,
        };
        let (inner, jobs) = begun(run, Vec::new(), (task.salt, task.now), lent);
        Self {
            workflow: started(&inner, W::run),
            inner,
            runs: W::run,
            jobs,
            ready: VecDeque::new(),
            given: None,
            unheard: Vec::new(),
            records: Vec::new(),
            ended: None,
            back: None,
        }
    }

    /// What comes next, now that all was told that there is to tell.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if it is dropped.
    pub async fn next(&mut self) -> Command {
        poll_fn(|context| {
            self.poll_to_rest(context);
            Poll::Ready(self.command())
        })
        .await
    }

    fn command(&self) -> Command {
        let Some(mut paced) = self.inner.pace() else {
            return Command::Undo;
        };
        if self.back.is_some() {
            // What may have begun is brought to its end, for what was done must be known to be undone.
            let steps = paced.steps();
            return if steps.is_empty() {
                Command::Undo
            } else {
                Command::Run(steps.join(" | "))
            };
        }
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        if let Some(stop) = self.inner.journal().stopped() {
            return Command::Park(said(stop));
        }
        paced.name();
        let steps = paced.steps();
        if !steps.is_empty() {
            return Command::Run(steps.join(" | "));
        }
        if paced.waits().next().is_none() {
            let message = "the workflow waits for something else than its steps, timers and signals; have a step do that";
            return Command::Park(message.to_owned());
        }
        let mut signals: Vec<_> = paced
            .waits()
            .filter(|(_, _, wait)| wait.is_signal)
            .map(|(_, name, _)| name.to_owned())
            .collect();
        signals.sort();
        signals.dedup();
        let until = paced.waits().filter_map(|(_, _, wait)| wait.due).min();
        drop(paced);
        let named = |name: String| {
            let heard = self.inner.journal().count_heard(&name);
            let signal = name.strip_prefix(SIGNAL).unwrap_or(&name);
            (signal.to_owned(), heard)
        };
        Command::Wait {
            until: until.into_iter().chain(self.inner.run.complete_by).min(),
            signals: signals.into_iter().map(named).collect(),
        }
    }

    /// Lets what is asked for run until the first of it has ended, or a timer is due.
    ///
    /// # Errors
    ///
    /// A step gave up, or cannot go on. What ran beside it comes to its end first.
    ///
    /// # Cancel safety
    ///
    /// Steps are dropped with the execution, not with this.
    pub async fn run(&mut self) -> Result<Entry, Failure> {
        let wakers = match self.inner.pace() {
            None => Vec::new(),
            Some(mut paced) => {
                paced.allow();
                paced.take_held()
            }
        };
        for waker in wakers {
            waker.wake();
        }
        let mut timer: Option<Pin<Box<tokio::time::Sleep>>> = None;
        poll_fn(|context| {
            let next = self.poll(context);
            if let Some(entry) = self.give() {
                return Poll::Ready(Ok(entry));
            }
            if let Some(failure) = self.failure(next) {
                return Poll::Ready(Err(failure));
            }
            let due = self.next_due().filter(|_| self.back.is_none());
            let Some(due) = due.map(|(due, _)| due) else {
                return Poll::Pending;
            };
            let left = due.since(self.inner.store_now());
            let timer = timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(left)));
            if !left.is_zero() && timer.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            Poll::Ready(Ok(self.at_due()))
        })
        .await
    }

    /// Why nothing more will end here.
    fn failure(&self, next: Next) -> Option<Failure> {
        if let Next::Stop(stop) = next {
            return Some(Failure::Parked(said(stop)));
        }
        match &self.ended {
            Some(Command::Fail(message)) => return Some(Failure::Failed(message.clone())),
            Some(_) => return Some(Failure::Parked(ASTRAY.to_owned())),
            None => {}
        }
        let is_active = self.inner.journal().active() > self.unheard.len();
        let paced = self.inner.pace()?;
        let message = paced.failure().filter(|_| !is_active)?;
        Some(Failure::Failed(message.to_owned()))
    }

    /// The first that has ended here and that somebody still wants; again, if nobody was told that it is recorded.
    fn give(&mut self) -> Option<Entry> {
        if let Some((entry, reply)) = &self.given
            && !reply.is_closed()
        {
            return Some(entry.clone());
        }
        while let Some((record, reply)) = self.ready.pop_front() {
            if !reply.is_closed() {
                let entry = Entry::of(record, self.inner.store_now());
                self.given = Some((entry.clone(), reply));
                return Some(entry);
            }
        }
        None
    }

    /// The timer that is due first; `None` in its place for the task itself.
    fn next_due(&self) -> Option<(Time, Option<i32>)> {
        let paced = self.inner.pace()?;
        let waits = paced.waits();
        let timers = waits.filter_map(|(seq, _, wait)| Some((wait.due?, Some(seq))));
        let whole = self.inner.run.complete_by.map(|by| (by, None));
        timers.chain(whole).min()
    }

    /// What is to be recorded at the moment of the timer that is due first.
    fn at_due(&self) -> Entry {
        let (due, seq) = self.next_due().unwrap_or((Time::default(), None));
        let name = seq.and_then(|seq| Some(self.inner.pace()?.get(seq)?.name.clone()));
        Entry {
            seq: seq.unwrap_or(-1),
            name: name.unwrap_or_default(),
            what: match seq {
                Some(_) => What::Done(None),
                None => What::Expired,
            },
            at: due.as_micros(),
        }
    }

    /// An entry is in the journal: it was recorded now, or in another life of the task.
    pub fn tell(&mut self, entry: Entry) {
        if entry.what == What::Expired {
            let limit = self.inner.run.complete_by.unwrap_or_default();
            let message = format!("it was not done by {limit}, its `complete_by`");
            return self.turn(Direction::Undoing, message);
        }
        let at = Time::from_micros(entry.at);
        let given = self.given.take_if(|(given, _)| *given == entry);
        let is_begun = entry.what == What::Begun;
        let record = entry.into_record(self.records.len());
        let seq = record.seq;
        if let Some(message) = self.unexpected(&record) {
            self.inner.journal().stop(Stop::Diverged(message));
            return;
        }
        if is_begun {
            self.inner.journal().began(record);
        } else {
            if let Some(mut paced) = self.inner.pace() {
                paced.closed(seq);
            }
            self.records.push(record.clone());
            if self.back.is_some() {
                self.unheard.extend(given.map(|(_, reply)| reply));
                return;
            }
            let mut journal = self.inner.journal();
            journal.ended(record);
            journal.written(seq, at);
        }
        if let Some((_, reply)) = given {
            let standing = Standing {
                now: at,
                cancel_asked: false,
            };
            // It may have been dropped in between.
            let _ = reply.send(Ok(Outcome::Held(standing)));
        }
        let held = self.inner.pace().map(|mut paced| paced.take_held());
        for waker in held.into_iter().flatten() {
            waker.wake();
        }
    }

    fn unexpected(&self, record: &Record) -> Option<String> {
        let paced = self.inner.pace()?;
        let open = paced.get(record.seq);
        if open.is_some_and(|open| open.name == record.name) {
            return None;
        }
        let now = open.map_or("nothing".to_owned(), |open| format!("`{}`", open.name));
        Some(format!(
            "step {} was `{}` when it was recorded and is {now} now: the code of the workflow has changed; put the old code back",
            record.seq, record.name
        ))
    }

    /// The moment of [`Command::Wait`] has come.
    pub fn due(&mut self) {
        let entry = self.at_due();
        self.tell(entry);
    }

    /// A signal of [`Command::Wait`] has come, with this JSON.
    pub fn signalled(&mut self, signal: &str, payload: String, at: Time) {
        let name = format!("{SIGNAL}{signal}");
        let seq = self.inner.pace().and_then(|paced| {
            let mut waits = paced.waits();
            waits.find_map(|(seq, of, wait)| (wait.is_signal && of == name).then_some(seq))
        });
        if let Some(seq) = seq {
            self.tell(Entry {
                seq,
                name,
                what: What::Done(Some(payload)),
                at: at.as_micros(),
            });
        }
    }

    /// Whether it was cancelled, came too late or failed.
    pub fn goes_back(&self) -> bool {
        self.back.is_some()
    }

    /// Somebody wants it cancelled: nothing new begins.
    pub fn cancel(&mut self) {
        self.turn(Direction::Cancelling, "it was cancelled".to_owned());
    }

    /// A command of it has failed too often: what runs is given up.
    pub fn fail(&mut self, error: String) {
        if let Some(mut paced) = self.inner.pace() {
            paced.give_up();
        }
        self.turn(Direction::Undoing, error);
    }

    fn turn(&mut self, direction: Direction, error: String) {
        self.back.get_or_insert((direction, error));
    }

    /// What is to be undone, after [`Command::Undo`].
    ///
    /// # Errors
    ///
    /// It cannot be told, because the code has changed.
    pub async fn compensations(self, lent: &Lent) -> Result<Compensations, Failure> {
        let nothing = (Direction::Undoing, String::new());
        let (direction, error) = self.back.unwrap_or(nothing);
        let run = Run {
            direction,
            error: Some(error),
            ..self.inner.run.clone()
        };
        let outside = (self.inner.salt, self.inner.store_now());
        Compensations::of(run, self.records, outside, self.runs, lent).await
    }

    /// Polls the workflow until there is nothing more for it to hear.
    fn poll(&mut self, context: &mut Context<'_>) -> Next {
        while self.ended.is_none() {
            self.inner.journal().poll();
            match poll_once(self.workflow.as_mut(), context) {
                Err(panic) => {
                    self.ended = Some(Command::Fail(said(panicked(&*panic))));
                    self.workflow = Box::pin(pending());
                }
                Ok(Poll::Ready(ended)) => self.end(ended),
                Ok(Poll::Pending) => {}
            }
            self.take_jobs();
            let (next, wakers) = self.inner.journal().polled();
            for waker in wakers {
                waker.wake();
            }
            if next != Next::Again {
                return next;
            }
        }
        Next::Rest
    }

    /// The same, and as long as the workflow wakes itself: in another life it may be polled more often, and must come to the same point.
    fn poll_to_rest(&mut self, context: &mut Context<'_>) {
        let woken = Arc::new(Woken(AtomicBool::new(true), context.waker().clone()));
        let waker = Waker::from(Arc::clone(&woken));
        for _ in 0..YIELDS {
            if !woken.0.swap(false, Ordering::Relaxed) {
                return;
            }
            let mut polling = unconstrained(poll_fn(|context| {
                self.poll(context);
                Poll::Ready(())
            }));
            let _ = Pin::new(&mut polling).poll(&mut Context::from_waker(&waker));
        }
    }

    fn end(&mut self, ended: Ended) {
        self.ended = Some(match ended {
            Ok(output) => Command::Complete(output),
            Err(WorkflowFailure::Form(message)) if self.records.is_empty() => {
                Command::Refuse(message)
            }
            Err(WorkflowFailure::Form(message)) => Command::Park(message),
            Err(WorkflowFailure::Error(error)) => {
                self.turn(Direction::Undoing, error);
                Command::Undo
            }
        });
    }

    fn take_jobs(&mut self) {
        while let Some((operation, reply)) = self.jobs.next() {
            if let Operation::Record(_, record) = operation {
                self.ready.push_back((*record, reply));
            }
        }
    }
}
