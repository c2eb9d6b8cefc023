//! The context of a workflow, and the task behind it in this process.

use std::collections::HashSet;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use reattempt::Policy;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::engine_calls::{EngineCalls, Wait};
use super::failure::StepError;
use super::journal::{Journal, Lookup, Stop};
use super::started::StartedChild;
use crate::identity::{Identity, StepKey, Which};
use crate::resources::Resources;
use crate::running::RunningSteps;
use crate::store::last_outcome::Milestone;
use crate::store::{Counts, LeaseStatus, SharedCodec, Store, StoreError, Write, WriteResult};
use crate::task::{CHILD_ENDED, Direction, Lease, Record, RecordKind, Signal, Task, TaskId};
use crate::time::Time;
use crate::writer::Writer;

/// A task as its workflow sees it.
///
/// When another process takes over a task, it runs the workflow again from its start, and the
/// workflow gets the recorded results of the calls it made before. So a workflow must make the same
/// calls whenever it gets the same results. It gets everything from outside
/// - time, random numbers, files, the network - through its steps and through this context.
pub struct WorkflowContext {
    pub(crate) inner: Arc<Inner>,
    /// The step that is undone, in the context of a compensation.
    pub(super) undone_step: Option<UndoneStep>,
}

/// The step that a compensation undoes.
#[derive(Debug, Clone)]
pub(crate) struct UndoneStep {
    pub(crate) seq: i32,
    pub(crate) key: Option<StepKey>,
    /// Whether its outcome is unknown.
    pub(crate) is_unknown: bool,
}

/// The limits of a task, apart from its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// How many bytes a result may have.
    pub(crate) max_payload: usize,
    /// How long a step without a `complete_by` may take.
    pub(crate) step_complete_by: Option<Duration>,
    /// How long a call waits after its agent has gone.
    pub(crate) delays: Policy,
}

/// One task that this process runs.
pub(crate) struct Inner {
    pub(crate) task: Task,
    pub(crate) lease: Lease,
    pub(crate) identity: Identity,
    pub(crate) writer: Writer,
    pub(crate) resources: Resources,
    pub(crate) limits: Limits,
    /// The steps that this process runs.
    pub(crate) steps: RunningSteps,
    journal: Mutex<Journal>,
    /// Set if an engine keeps the record and the time.
    engine_calls: Option<Mutex<EngineCalls>>,
    /// Encodes what transactions of the application record.
    codec: Option<SharedCodec>,
    /// The store, unless an engine or a history stands in for it.
    pub(super) store: Option<Arc<dyn Store>>,
    /// Set in a replay: the calls that are not recorded. They never start.
    new_calls: Option<Mutex<Vec<(i32, String)>>>,
    undos: Mutex<Vec<Undo>>,
    /// The children that end with a task that turns back.
    started_children: Mutex<Vec<StartedChild>>,
    signals: Mutex<Vec<Signal>>,
    /// The children of which a signal says that they have ended.
    ended_children: Mutex<HashSet<TaskId>>,
    /// Notified when signals have come in.
    pub(super) changed: Notify,
    /// Notified when another worker may hold the task.
    lost: Notify,
    /// Notified when a cancel is requested.
    cancelled: Notify,
    /// Notified when an outcome is on disk.
    progressed: Notify,
    /// Whether the deaths of the task are cleared since its claim.
    is_cleared: AtomicBool,
    /// Whether the workflow waits for an agent, in a task that turns back.
    has_agents: AtomicBool,
    clock: (Instant, Time),
}

/// How to undo a step.
pub(crate) struct Undo {
    pub(crate) step: UndoneStep,
    pub(crate) ord: i32,
    pub(crate) name: String,
    pub(crate) compensation: Compensation,
}

/// The future of a compensation.
pub type CompensationFuture = Pin<Box<dyn Future<Output = Result<(), StepError>> + Send>>;

/// Starts a compensation in its context.
pub type Compensation = Box<dyn FnOnce(WorkflowContext) -> CompensationFuture + Send>;

impl fmt::Debug for WorkflowContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkflowContext")
            .field("task", &self.inner.task.id)
            .field("undone_step", &self.undone_step)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Inner").field(&self.lease).finish()
    }
}

impl Inner {
    pub(crate) fn new(
        (task, now): (Task, Time),
        identity: Identity,
        writer: Writer,
        resources: Resources,
        limits: Limits,
        steps: RunningSteps,
    ) -> Self {
        let lease = Lease {
            task: task.id,
            fence: task.fence,
        };
        Self {
            lease,
            identity,
            writer,
            resources,
            limits,
            steps,
            journal: Mutex::new(Journal::new(task.direction, task.began())),
            engine_calls: None,
            codec: None,
            store: None,
            new_calls: None,
            undos: Mutex::default(),
            started_children: Mutex::default(),
            signals: Mutex::default(),
            ended_children: Mutex::default(),
            changed: Notify::new(),
            lost: Notify::new(),
            cancelled: Notify::new(),
            progressed: Notify::new(),
            is_cleared: AtomicBool::new(false),
            has_agents: AtomicBool::new(false),
            clock: (Instant::now(), now),
            task,
        }
    }

    /// Leaves the record and the time to an engine.
    pub(crate) fn for_engine(self) -> Self {
        Self {
            engine_calls: Some(Mutex::default()),
            ..self
        }
    }

    /// Reads children from this store, and encodes what transactions of the application record.
    pub(crate) fn with_store(self, store: Arc<dyn Store>) -> Self {
        Self {
            codec: store.codec(),
            store: Some(store),
            ..self
        }
    }

    /// Adds the history of the task before the workflow is polled first.
    pub(crate) fn load(&self, history: Vec<Record>) {
        if let Some(origin) = self.task.copies() {
            self.journal().note_copies(origin.ord);
            // Children tell only the original that they have ended.
            let copies = history.iter().filter(|record| record.ord <= origin.ord);
            let children = copies.filter_map(StartedChild::of).map(|child| child.task);
            self.ended_children().extend(children);
        }
        self.journal().load(history);
    }

    /// Returns a record as the store keeps it.
    pub(super) fn encode(&self, record: Record) -> Result<Record, Stop> {
        match &self.codec {
            Some(codec) => {
                (codec.encode_record(&record)).map_err(|error| Stop::Refused(error.to_string()))
            }
            None => Ok(record),
        }
    }

    /// Lets no call start that is not recorded.
    pub(crate) fn for_replay(self) -> Self {
        Self {
            new_calls: Some(Mutex::default()),
            ..self
        }
    }

    /// Returns the first call of a replay that is not recorded.
    pub(crate) fn first_new_call(&self) -> Option<(i32, String)> {
        let calls = self.new_calls.as_ref()?;
        let calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.iter().min().cloned()
    }

    /// Returns the calls that wait for an engine, if one runs this task.
    pub(crate) fn engine_calls(&self) -> Option<MutexGuard<'_, EngineCalls>> {
        let calls = self.engine_calls.as_ref()?;
        Some(calls.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn undos(&self) -> MutexGuard<'_, Vec<Undo>> {
        self.undos.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn started_children(&self) -> MutexGuard<'_, Vec<StartedChild>> {
        (self.started_children.lock()).unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn signals(&self) -> MutexGuard<'_, Vec<Signal>> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn ended_children(&self) -> MutexGuard<'_, HashSet<TaskId>> {
        (self.ended_children.lock()).unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of the newest signal that has come in here; 0 if there is none.
    pub(crate) fn newest_signal(&self) -> i64 {
        self.signals().last().map_or(0, |signal| signal.id)
    }

    /// Returns the time of the store: its clock at the claim, and the time that has passed since.
    pub(crate) fn store_now(&self) -> Time {
        let (instant, time) = self.clock;
        time.after(instant.elapsed())
    }

    /// Adds the signals that have come in since the newest one here.
    pub(crate) fn add_signals(&self, new: Vec<Signal>) {
        let mut signals = self.signals();
        let newest = signals.last().map_or(0, |signal| signal.id);
        let new = new.into_iter().filter(|signal| signal.id > newest);
        signals.extend(new.inspect(|signal| {
            if signal.name == CHILD_ENDED
                && let Ok(child) = signal.payload.parse()
            {
                self.ended_children().insert(TaskId(child));
            }
        }));
        drop(signals);
        self.changed.notify_waiters();
    }

    /// Returns the failures and deaths of the task since its newest outcome.
    pub(crate) fn counts(&self) -> Counts {
        let counts = Counts::of(&self.task).after(self.journal().progress());
        if self.is_cleared.load(Ordering::Relaxed) {
            return Counts {
                deaths: 0,
                ..counts
            };
        }
        counts
    }

    /// Forgets how many workers have died while they held the task.
    pub(crate) fn clear_deaths(&self) {
        self.is_cleared.store(true, Ordering::Relaxed);
    }

    /// Notes that agents may work on a call of the task.
    pub(super) fn note_agents(&self) {
        self.has_agents.store(true, Ordering::Relaxed);
    }

    /// Returns whether agents may work on a call of the task.
    pub(crate) fn has_agents(&self) -> bool {
        self.has_agents.load(Ordering::Relaxed)
    }

    /// Waits until the task has made progress here.
    pub(crate) async fn progressed(&self) {
        self.progressed.notified().await;
    }

    /// Returns when this process claimed the task.
    pub(crate) const fn claimed_at(&self) -> Instant {
        self.clock.0
    }

    /// Returns how long the task may still go forward.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let is_forward = self.task.direction == Direction::Forward;
        let by = self.task.complete_by.filter(|_| is_forward)?;
        Some(by.since(self.store_now()))
    }

    /// Drops the task: another worker may hold it.
    pub(crate) fn lose(&self) {
        self.journal().stop(Stop::Lost);
        self.lost.notify_one();
    }

    /// Waits until the task is lost.
    pub(crate) async fn lost(&self) {
        self.lost.notified().await;
    }

    pub(crate) fn cancel(&self) {
        self.journal().stop(Stop::Cancelled);
        self.cancelled.notify_one();
    }

    /// Waits until a cancel is requested.
    pub(crate) async fn cancelled(&self) {
        self.cancelled.notified().await;
    }
}

impl WorkflowContext {
    pub(crate) const fn new(inner: Arc<Inner>) -> Self {
        Self {
            inner,
            undone_step: None,
        }
    }

    /// Returns a second handle to the same context.
    pub(super) fn share(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            undone_step: self.undone_step.clone(),
        }
    }

    /// Returns the context of the compensation of this step.
    pub(crate) fn for_compensation(&self, step: UndoneStep) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            undone_step: Some(step),
        }
    }

    /// Returns the number of the task.
    pub fn id(&self) -> TaskId {
        self.inner.task.id
    }

    /// Returns the key with which the task was submitted.
    pub fn key(&self) -> &str {
        &self.inner.task.key
    }

    /// Returns the headers with which the task was submitted, a JSON object.
    pub fn headers(&self) -> Option<&str> {
        self.inner.task.headers.as_deref()
    }

    /// Returns the time at which the store recorded the result that the workflow got last. When the
    /// workflow runs again, this returns the same time at the same place.
    pub fn now(&self) -> Time {
        self.inner.journal().now()
    }

    /// Returns a random number. When the workflow runs again, this returns the same number.
    pub fn random(&self) -> u64 {
        let seq = self.inner.journal().next_seq();
        let seed = self.inner.task.seed_of_copy(seq);
        let seed = seed.unwrap_or_else(|| self.inner.identity.seed());
        mix(seed ^ u64::from(seq.unsigned_abs()))
    }

    /// Returns whether the task is undone, so that its finished steps hand over their
    /// compensations.
    pub(crate) fn is_undoing(&self) -> bool {
        self.undone_step.is_none() && self.inner.task.direction != Direction::Forward
    }

    /// Returns whether this is the context of a compensation.
    pub(super) const fn is_compensation(&self) -> bool {
        self.undone_step.is_some()
    }

    /// Returns the key of a call of a step: that of the step that is undone, in its compensation. Call it in the
    /// order of the calls.
    ///
    /// # Errors
    ///
    /// Fails if an earlier call of the step was given the same key.
    pub(super) fn step_key(
        &self,
        step: &'static str,
        given: Option<String>,
    ) -> Result<StepKey, String> {
        if let Some(key) = self
            .undone_step
            .as_ref()
            .and_then(|undone| undone.key.clone())
        {
            return Ok(key);
        }
        let which = match given {
            None => Which::Nth(self.inner.journal().nth_call(step.into())),
            Some(key) => {
                let nth = (self.inner.journal()).nth_call(format!("{step}\0{key}").into());
                // A task that turns back waits there for ever, and undoes what it has done.
                if nth > 0 && !self.is_undoing() {
                    return Err(format!(
                        "two calls of step `{step}` have the key `{key}`, and a service would take the second for a repetition of \
                         the first: give each call a key of its own"
                    ));
                }
                Which::Key(key)
            }
        };
        Ok(StepKey {
            of: self.inner.identity,
            step,
            which,
        })
    }

    /// Returns the number of the next call, or of the step that is undone.
    fn next_seq(&self) -> i32 {
        match &self.undone_step {
            Some(step) => step.seq,
            None => self.inner.journal().next_seq(),
        }
    }

    /// Waits until the workflow may get the result of `seq`, or until `seq` may start.
    pub(super) async fn look_up(&self, seq: i32, name: &str, args_hash: Option<&str>) -> Lookup {
        if self.is_compensation() {
            return Lookup::New(None);
        }
        if let Some(mut calls) = self.inner.engine_calls() {
            calls.open(seq, name, None);
        }
        poll_fn(|cx| {
            let lookup = (self.inner.journal()).look_up(seq, name, args_hash, cx.waker());
            if let (Lookup::New(_), Some(calls)) = (&lookup, &self.inner.new_calls) {
                let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
                calls.push((seq, name.to_owned()));
                return Poll::Pending;
            }
            match (&lookup, self.inner.engine_calls()) {
                (Lookup::Wait, _) => Poll::Pending,
                (Lookup::New(_), Some(mut calls)) if !calls.may_begin(seq) => {
                    calls.wake_later(cx.waker());
                    Poll::Pending
                }
                _ => Poll::Ready(lookup),
            }
        })
        .await
    }

    /// Waits until an engine has ended the timer or the wait `seq`. Returns `None` at once if no
    /// engine keeps the time.
    pub(super) async fn wait_for_engine(
        &self,
        seq: i32,
        name: &str,
        wait: impl FnOnce(Time) -> Wait,
    ) -> Option<Record> {
        self.inner.engine_calls.as_ref()?;
        let wait = wait(self.now());
        self.inner.engine_calls()?.open(seq, name, Some(wait));
        let record = poll_fn(|cx| {
            let lookup = self.inner.journal().look_up(seq, name, None, cx.waker());
            if let Lookup::Ended(record) = lookup {
                return Poll::Ready(record);
            }
            if let Some(mut calls) = self.inner.engine_calls() {
                calls.wake_later(cx.waker());
            }
            Poll::Pending
        });
        Some(record.await)
    }

    /// Writes the result of `seq`, and waits until it is the workflow's turn to get it.
    pub(super) async fn finish(&self, record: Record) -> Record {
        let seq = record.seq;
        // An engine decides itself which record comes next.
        let is_ours = self.inner.engine_calls.is_none();
        if is_ours {
            self.inner.journal().add_unwritten(record.clone());
        }
        if let Some(status) = self.write(record).await
            && is_ours
        {
            self.inner.journal().mark_written(seq, status.now);
        }
        self.outcome(seq).await
    }

    /// Takes note of a record that a transaction of the application has written, and waits until it is
    /// the workflow's turn to get it.
    pub(super) async fn finish_committed(&self, record: Record) -> Record {
        let (seq, at) = (record.seq, record.at);
        {
            let mut journal = self.inner.journal();
            if journal.add_written(Milestone::of(&record)) {
                self.inner.progressed.notify_one();
            }
            if self.is_compensation() {
                return record;
            }
            journal.mark_written(seq, at);
        }
        self.outcome(seq).await
    }

    /// Waits until it is the workflow's turn to get the outcome of `seq`.
    pub(super) async fn outcome(&self, seq: i32) -> Record {
        poll_fn(
            |cx| match self.inner.journal().take_outcome(seq, cx.waker()) {
                Some(record) => Poll::Ready(record),
                None => Poll::Pending,
            },
        )
        .await
    }

    /// Writes a record. The write begins at once; the future returns `None` if it is not on disk: then the
    /// task stops here.
    pub(crate) fn write(
        &self,
        record: Record,
    ) -> impl Future<Output = Option<LeaseStatus>> + Send + '_ {
        let milestone = Milestone::of(&record);
        let write = Write::Record(self.inner.lease, Box::new(record));
        let sent = self.send(write, milestone);
        async move { Some(sent.await?.0) }
    }

    /// Sends a write with a record at once, and returns the number of a child that it has started. Returns
    /// `None` if it is not on disk: then the task stops here.
    pub(super) fn send(
        &self,
        write: Write,
        record: Milestone,
    ) -> impl Future<Output = Option<(LeaseStatus, Option<TaskId>)>> + Send + '_ {
        let active = Active::new(&self.inner);
        let sent = self.inner.writer.send(write);
        async move {
            let _active = active;
            let written = match sent.await {
                Ok(WriteResult::Written(status)) => Ok((status, None)),
                Ok(WriteResult::Started(status, child)) => Ok((status, Some(child))),
                Ok(WriteResult::KeyTaken(other)) => Err(Stop::Refused(format!(
                    "the key of the child belongs to task {other}, which is no child of this one; cancel and prune it, then resubmit this one"
                ))),
                Ok(_) => Err(Stop::Lost),
                Err(error) => Err(stop_of(&error)),
            };
            match written {
                Ok((status, child)) => {
                    self.inner.steps.recorded(self.inner.lease, record.seq);
                    if self.inner.journal().add_written(record) {
                        self.inner.progressed.notify_one();
                    }
                    if status.cancel_requested && !self.is_compensation() {
                        self.inner.journal().stop(Stop::Cancelled);
                    }
                    Some((status, child))
                }
                Err(stop) => {
                    self.inner.journal().stop(stop);
                    None
                }
            }
        }
    }

    /// Returns an empty record, the next of its task.
    pub(crate) fn new_record(&self, seq: i32, kind: RecordKind, name: &str) -> Record {
        Record {
            ord: self.inner.journal().next_ord(),
            ..self.placeless_record(seq, kind, name)
        }
    }

    /// Returns an empty record without a place among those of its task.
    pub(super) fn placeless_record(&self, seq: i32, kind: RecordKind, name: &str) -> Record {
        Record {
            seq,
            kind,
            ord: 0,
            name: name.to_owned(),
            attempts: 0,
            result: None,
            error: None,
            due_at: None,
            at: Time::default(),
            fence: self.inner.lease.fence,
            args_hash: None,
            args: None,
            undo: None,
        }
    }

    /// Returns how long a step of the task may take at most; a compensation may take any time.
    pub(super) fn time_left(&self) -> Option<Duration> {
        self.inner.time_left().filter(|_| !self.is_compensation())
    }

    /// Keeps the task from counting as idle.
    pub(super) fn active(&self) -> Active<'_> {
        Active::new(&self.inner)
    }

    /// Stops the task; never returns.
    pub(super) async fn stop(&self, stop: Stop) -> ! {
        match (stop, self.inner.engine_calls()) {
            // With an engine the other steps go on, as they will when the task runs again.
            (Stop::Failed(_, message), Some(mut calls)) => calls.fail(message),
            (stop, _) => self.inner.journal().stop(stop),
        }
        std::future::pending().await
    }
}

/// Returns why a task stops for which the store has not taken a write.
pub(crate) fn stop_of(error: &StoreError) -> Stop {
    if error.is_passing() {
        // The next heartbeats give the task back: trouble with the store is not its failure.
        Stop::Unavailable
    } else {
        Stop::Refused(format!("the store refuses a record: {error}"))
    }
}

/// Mixes the bits of a number: one step of splitmix64.
const fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Counts as something that runs while it lives.
pub(super) struct Active<'f>(&'f Inner);

impl<'f> Active<'f> {
    fn new(inner: &'f Inner) -> Self {
        inner.journal().add_active();
        Self(inner)
    }
}

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.0.journal().remove_active();
    }
}

/// A place in the order of a workflow's calls. When it is dropped, the workflow does not want the
/// result any more.
pub(super) struct Place<'f> {
    context: &'f WorkflowContext,
    pub(super) seq: i32,
}

impl<'f> Place<'f> {
    pub(super) fn new(context: &'f WorkflowContext) -> Self {
        Self {
            context,
            seq: context.next_seq(),
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if !self.context.is_compensation() {
            self.context.inner.journal().abandon(self.seq);
            if let Some(mut calls) = self.context.inner.engine_calls() {
                calls.close(self.seq);
            }
        }
    }
}
