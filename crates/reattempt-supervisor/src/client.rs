//! The side of the callers: they submit tasks, follow them, send signals, and cancel.

mod ends;
mod fork;
mod handle;
mod in_transaction;
mod submit_error;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

use crate::events::{Event, Observers, StoreErrors};
use crate::local::{LocalTask, LocalTasks};
use crate::payload::{MAX_PAYLOAD, too_large};
use crate::store::submission::{Submission, check_arguments};
use crate::store::{
    AdminCommand, Filter, QueueStatus, Resolution, Retention, SignalResult, Store, StoreError,
    StoreFuture, TaskLimit, Write, WriteResult,
};
use crate::task::{NewTask, RESERVED, Task, TaskId};
use crate::workflow::Workflow;
use crate::writer::{Reply, Writer};

pub use ends::{Ends, EndsError};
pub use handle::{Progress, TaskHandle};
pub use submit_error::SubmitError;

/// How long a client waits for a store with an error.
const PATIENCE: Duration = Duration::from_secs(30);

/// The shortest and the longest pause between two looks at a task.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// Submits tasks to a store and follows them.
///
/// A process needs one for each store; clones are cheap and share it.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

/// What all clones of a client share.
pub(crate) struct Shared {
    store: Arc<dyn Store>,
    writer: Writer,
    observers: Observers,
    store_errors: Arc<StoreErrors>,
    local_tasks: LocalTasks,
    max_payload: AtomicUsize,
    max_pending: Mutex<HashMap<String, u32>>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.0.store).finish()
    }
}

impl Client {
    /// Creates a client of `store`.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime.
    pub fn new(store: impl Store) -> Self {
        Self::with_observers(store, [])
    }

    /// Creates a client of `store` with observers, which get every [`Event`] of this process.
    /// Observers run where tasks run, so they must return at once.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime.
    pub fn with_observers(
        store: impl Store,
        observers: impl IntoIterator<Item = Box<dyn Fn(&Event) + Send + Sync>>,
    ) -> Self {
        let mut all = Observers::default();
        for observer in observers {
            all.add(Arc::from(observer));
        }
        let store: Arc<dyn Store> = Arc::new(store);
        let store_errors = Arc::new(StoreErrors::new(all.clone()));
        let errors = Arc::clone(&store_errors);
        let writer = Writer::spawn(Arc::clone(&store), move |error| errors.emit(error));
        Self(Arc::new(Shared {
            store,
            writer,
            observers: all,
            store_errors,
            local_tasks: LocalTasks::default(),
            max_payload: AtomicUsize::new(MAX_PAYLOAD),
            max_pending: Mutex::default(),
        }))
    }

    /// Sets how large the arguments, the result of a step or a workflow, and a signal may be, for all
    /// clones of this client and their schedulers. A client refuses larger arguments and signals; a
    /// task with a larger result is parked, and goes on where it was if you resubmit it. What is in
    /// the store already is read, whatever its size.
    ///
    /// # Units and ranges
    ///
    /// Bytes of JSON.
    ///
    /// # Default
    ///
    /// 4 MiB.
    #[must_use]
    pub fn max_payload(self, bytes: usize) -> Self {
        self.0.max_payload.store(bytes, Ordering::Relaxed);
        self
    }

    /// Sets how many tasks may wait in a queue, for all clones of this client: it refuses to submit more with
    /// [`SubmitError::QueueFull`]. Tasks that could run and wait for a worker count, and those that wait for their
    /// turn in a [lane](Submission::lane). Tasks that are submitted in a transaction of your application, by a
    /// schedule or as a child are never refused.
    ///
    /// The store counts up to this number for each group of submissions, so a bound of 10,000 costs more
    /// than one of 100. Processes that submit at the same moment do not see each other's tasks: together they can
    /// exceed the bound by what they submit then.
    ///
    /// # Default
    ///
    /// Queues have no bound.
    #[must_use]
    pub fn max_pending(self, queue: impl Into<String>, tasks: u32) -> Self {
        self.0.bounds().insert(queue.into(), tasks);
        self
    }

    /// Sets how many tasks of a queue run at once and begin in a period, in all processes together. The store
    /// keeps it, the last one that sets it counts, and it holds from the next claim on. Tasks that workers hold
    /// already count. [`TaskLimit::new`] removes the limits.
    ///
    /// With PostgreSQL a worker hears of the first limit of a queue with its next heartbeat, after a third of its
    /// lease at most, and takes no task from the queue before.
    ///
    /// Undoing counts as running does.
    ///
    /// # Errors
    ///
    /// Fails if the rate has no tasks, or its period is too short or too long, or if the store has an error.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the limit may be set or not.
    pub async fn limit_queue(
        &self,
        queue: impl Into<String>,
        limit: TaskLimit,
    ) -> Result<(), SubmitError> {
        if let Some(error) = limit.error() {
            return Err(SubmitError::Limit(error.to_owned()));
        }
        let limit = Write::LimitQueue(queue.into(), limit);
        self.write(limit).await?;
        Ok(())
    }

    /// Sets how many tasks of each lane run at once and begin in a period: of the lane with this name, or with
    /// `customer-*` of each whose name begins with `customer-`. A name goes before a pattern, and a longer pattern
    /// before a shorter one. A lane without a limit, or with a rate alone, has one task at a time.
    /// [`TaskLimit::new`] removes the limit.
    ///
    /// The store keeps it, and it holds from the next turn on: tasks that have a turn keep it. Unlike in a queue, a
    /// task counts from its first claim to its end, also while it sleeps, waits or is parked; and for the rate it
    /// counts once, however often a worker takes it again.
    ///
    /// # Errors
    ///
    /// Fails if one of the numbers is above [`TaskLimit::MOST_OF_A_LANE`], if the rate has no tasks, or its period is
    /// too short or too long, or if the store has an error.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the limit may be set or not.
    pub async fn limit_lanes(
        &self,
        lanes: impl Into<String>,
        limit: TaskLimit,
    ) -> Result<(), SubmitError> {
        if let Some(error) = limit.error_of_lane() {
            return Err(SubmitError::Limit(error.to_owned()));
        }
        let limit = Write::LimitLanes(lanes.into(), limit);
        self.write(limit).await?;
        Ok(())
    }

    /// Returns the limits of lanes, by what they were set for.
    ///
    /// # Errors
    ///
    /// Fails if the store has an error.
    pub async fn lane_limits(&self) -> Result<BTreeMap<String, TaskLimit>, Arc<StoreError>> {
        self.read(|store| store.lane_limits()).await
    }

    /// Returns what the queues have to do that have tasks or limits, in the order of their names: at most
    /// [`QueueStatus::LIMIT`].
    ///
    /// # Errors
    ///
    /// Fails if the store has an error.
    pub async fn queues(&self) -> Result<Vec<QueueStatus>, Arc<StoreError>> {
        self.read(|store| store.queues()).await
    }

    /// Returns an error for a value that is too large.
    pub(crate) fn check_size(&self, what: &str, text: &str) -> Result<(), SubmitError> {
        let limit = self.0.max_payload();
        match too_large(what, text.len(), limit, "") {
            Some(message) => Err(SubmitError::TooLarge(message)),
            None => Ok(()),
        }
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }

    /// Returns the store.
    pub fn store(&self) -> &dyn Store {
        &*self.0.store
    }

    /// Submits a task. When this returns, the task is on disk and will end even if this process
    /// dies.
    ///
    /// # Errors
    ///
    /// Fails if the arguments cannot be written as JSON or are larger than
    /// [`max_payload`](Self::max_payload), if the headers are not a JSON object, if the queue has as many
    /// tasks as it may have ([`max_pending`](Self::max_pending)), if the submission is
    /// [`strict`](Submission::strict) and the task has other arguments, or if the store has a lasting
    /// error or a passing one for more than 30 seconds.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the task may be stored or not. With a [`key`](Submission::key) you
    /// can submit it again.
    pub async fn submit<W: Workflow>(
        &self,
        submission: Submission<W>,
    ) -> Result<TaskHandle<W::Output>, SubmitError> {
        let (new, is_strict) = self.bounded_task(submission)?;
        let (queue, most) = (new.queue.clone(), new.max_pending);
        let result = self.write(Write::Submit(Box::new(new))).await?;
        self.handle(&result, is_strict, (queue, most))
    }

    /// Submits many tasks of a workflow in one transaction, and returns a result for each, in their order.
    /// It is for some thousands of tasks: the workers of this process wait while the store writes them.
    ///
    /// # Errors
    ///
    /// Fails as [`submit`](Self::submit) does; then no task is stored. A task that is refused has an error
    /// of its own, and the others are stored: its queue is full, or it is
    /// [`strict`](Submission::strict) and there is one with the same key and other arguments.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, either all tasks are stored or none.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt_supervisor::{Client, Memory, StepError, SubmitError, WorkflowContext, workflow};
    ///
    /// #[workflow]
    /// async fn mail(_context: &WorkflowContext, _to: String) -> Result<(), StepError> {
    ///     Ok(())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), SubmitError> {
    /// let client = Client::new(Memory::new()).max_pending("mail", 2);
    /// let mails = ["ann", "bob", "cid"].map(|to| mail(to.to_owned()).key(to).queue("mail"));
    /// let sent = client.submit_many(mails).await?;
    /// assert!(sent[1].is_ok());
    /// assert!(matches!(sent[2], Err(SubmitError::QueueFull(..))));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn submit_many<W: Workflow>(
        &self,
        submissions: impl IntoIterator<Item = Submission<W>>,
    ) -> Result<Vec<Result<TaskHandle<W::Output>, SubmitError>>, SubmitError> {
        let new: Result<Vec<_>, _> = (submissions.into_iter())
            .map(|submission| self.bounded_task(submission))
            .collect();
        let new = new?;
        let writes = new
            .iter()
            .map(|(new, _)| Write::Submit(Box::new(new.clone())));
        let writes: Arc<[Write]> = writes.collect();
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        // Not through the writer: it would put a part of them into another transaction.
        let results = self.read(|store| store.write(Arc::clone(&writes))).await?;
        self.0.writer.look();
        let handles = results.iter().zip(new).map(|(result, (new, is_strict))| {
            self.handle(result, is_strict, (new.queue, new.max_pending))
        });
        Ok(handles.collect())
    }

    /// Returns the task of a submission, with the bound of its queue, and whether it is strict.
    fn bounded_task<W: Workflow>(
        &self,
        submission: Submission<W>,
    ) -> Result<(NewTask, bool), SubmitError> {
        let (new, is_strict) = self.new_task(submission)?;
        let max_pending = self.0.bounds().get(&new.queue).copied();
        Ok((NewTask { max_pending, ..new }, is_strict))
    }

    /// Returns the handle of a task that was submitted to a queue with a bound.
    fn handle<T>(
        &self,
        result: &WriteResult,
        is_strict: bool,
        (queue, most): (String, Option<u32>),
    ) -> Result<TaskHandle<T>, SubmitError> {
        match result {
            WriteResult::Submitted(submitted) => {
                let submitted = check_arguments(*submitted, is_strict).map_err(Arc::new)?;
                Ok(TaskHandle {
                    local: (submitted.is_new).then(|| self.0.local_task(submitted.id)),
                    submitted: Some(submitted),
                    ..self.task(submitted.id)
                })
            }
            WriteResult::QueueFull => Err(SubmitError::QueueFull(queue, most.unwrap_or_default())),
            result => Err(unexpected_result(result).into()),
        }
    }

    /// Returns a handle to a task that was submitted before, by its number.
    pub fn task<T>(&self, id: TaskId) -> TaskHandle<T> {
        TaskHandle {
            id,
            submitted: None,
            local: None,
            client: self.clone(),
            output: PhantomData,
        }
    }

    /// Returns the reader of this name of the feed of ends: it hears of each end of a task, a failure, too, although
    /// it was not running when the task ended. The store writes a line of the feed with each end (processed, error,
    /// compensated, cancelled, parked), whoever ends the task, and keeps for each name what was acknowledged. Names
    /// do not affect each other.
    ///
    /// [`prune`](Self::prune) deletes old lines, so a reader has to come by within [`Retention::ends`].
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt_supervisor::{Client, Memory, Scheduler, State, StepError, WorkflowContext, workflow};
    ///
    /// #[workflow]
    /// async fn order(_context: &WorkflowContext, book: String) -> Result<(), String> {
    ///     Err(format!("{book} is out of print"))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = Client::new(Memory::new());
    /// # let scheduler = Scheduler::new(&client).register(order).start()?;
    /// client.submit(order("Faust".to_owned()).key("order 17")).await?;
    ///
    /// let mut ends = client.ends("billing").workflow("order");
    /// let batch = ends.next().await?;
    /// for end in &batch {
    ///     assert_eq!((&*end.key, end.state), ("order 17", State::Error));
    ///     assert!(end.error.as_ref().is_some_and(|error| error.contains("out of print")));
    /// }
    /// ends.acknowledge().await?;
    /// # scheduler.stop(std::time::Duration::from_secs(1)).await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn ends(&self, reader: impl Into<String>) -> Ends {
        Ends::new(self.clone(), reader.into())
    }

    /// Sends a task a signal with this name and value.
    ///
    /// # Errors
    ///
    /// Fails if there is no such task, if it has ended, if the name begins with `reattempt:`, which is
    /// reserved for signals of the store, or if the store has an error.
    pub async fn signal(
        &self,
        task: TaskId,
        name: &str,
        payload: &(impl Serialize + Sync),
    ) -> Result<(), SubmitError> {
        let payload = serde_json::to_string(payload).map_err(SubmitError::Json)?;
        self.check_size(&format!("the signal `{name}`"), &payload)?;
        if name.starts_with(RESERVED) {
            let message = format!(
                "names of signals with `{RESERVED}` are reserved: use another for `{name}`"
            );
            return Err(Arc::new(StoreError::lasting(message)).into());
        }
        let name = name.to_owned();
        let signal = Write::Signal {
            task,
            name,
            payload,
            nonce: rand::random(),
        };
        self.send_to(task, signal).await
    }

    /// Ends a task and undoes its steps; also a parked one.
    ///
    /// # Errors
    ///
    /// Fails if there is no such task, if it has ended, or if the store has an error.
    pub async fn cancel(&self, task: TaskId) -> Result<(), SubmitError> {
        self.send_to(task, Write::Admin(task, AdminCommand::Cancel))
            .await
    }

    /// Sets a task aside until it is resubmitted.
    ///
    /// # Errors
    ///
    /// Fails if there is no such task, if it has ended, or if the store has an error.
    pub async fn park(&self, task: TaskId, why: &str) -> Result<(), SubmitError> {
        self.send_to(task, Write::Admin(task, AdminCommand::Park(why.to_owned())))
            .await
    }

    /// Continues a parked or failed task as if it had not failed. If the task goes forward, the step
    /// that ended or parked it runs again.
    ///
    /// # Errors
    ///
    /// Fails if there is no such task, if it has not failed, or if the store has an error.
    pub async fn resubmit(&self, task: TaskId) -> Result<(), SubmitError> {
        self.send_to(task, Write::Admin(task, AdminCommand::Resubmit))
            .await
    }

    /// Undoes the steps of a failed or parked task.
    ///
    /// # Errors
    ///
    /// Fails if there is no such task, if it has not failed, or if the store has an error.
    pub async fn undo(&self, task: TaskId) -> Result<(), SubmitError> {
        self.send_to(task, Write::Admin(task, AdminCommand::Undo))
            .await
    }

    /// Says what became of a step that ended a task, or whose outcome is unknown, and continues the
    /// task. The store does not know the type of a step: a result that does not fit it parks the task,
    /// and you can say another one, as long as nothing is recorded after it.
    ///
    /// # Errors
    ///
    /// Fails if there is no such task or step, if the task has not failed, if the result of a step
    /// that was done is not JSON, or if the store has an error.
    pub async fn resolve(&self, task: TaskId, resolution: Resolution) -> Result<(), SubmitError> {
        if let Some(result) = resolution.verdict.result() {
            serde_json::from_str::<serde::de::IgnoredAny>(result).map_err(SubmitError::Json)?;
        }
        self.send_to(task, Write::Admin(task, AdminCommand::Resolve(resolution)))
            .await
    }

    /// Deletes tasks that ended long ago, and keys whose time is over, at most `limit` of each. Returns how many
    /// both were: call it again until nothing is left. Parked tasks stay, and so does
    /// a child as long as its parent is there and has not continued as new. A [`Duration`] says how long tasks
    /// and their keys stay after their end.
    ///
    /// A task with a key becomes [pruned](crate::State::Pruned): as long as [`Retention`] says, a submission with the
    /// key finds its number, and [`wait`](TaskHandle::wait) says that its result is gone. Afterwards a submission
    /// stores another task. Tasks without a key, and children, go as a whole.
    ///
    /// Lines of the feed of [ends](Self::ends) that are older than [`Retention::ends`] go, too, all of them, at most
    /// `limit` in one transaction. They do not count.
    ///
    /// # Errors
    ///
    /// Fails if the store has an error.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use reattempt_supervisor::{Client, Memory, Retention};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), reattempt_supervisor::SubmitError> {
    /// const DAY: Duration = Duration::from_secs(86_400);
    /// let client = Client::new(Memory::new());
    /// let retention = Retention {
    ///     keys: 365 * DAY,
    ///     ..Retention::from(30 * DAY)
    /// };
    /// let pruned = client.prune(retention, 10_000).await?;
    /// # assert_eq!(pruned, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn prune(
        &self,
        retention: impl Into<Retention>,
        limit: u32,
    ) -> Result<u64, SubmitError> {
        let retention = retention.into();
        while limit > 0
            && self.pruned(Write::PruneFeed(retention.ends, limit)).await? >= u64::from(limit)
        {
        }
        self.pruned(Write::Prune(retention, limit)).await
    }

    /// Carries out a write that deletes something. Returns how much it was.
    async fn pruned(&self, write: Write) -> Result<u64, SubmitError> {
        match self.write(write).await? {
            WriteResult::Pruned(count) => Ok(count),
            result => Err(unexpected_result(&result).into()),
        }
    }

    /// Compares the tables of the store that find tasks with the tasks themselves, and rebuilds what does not
    /// fit. [`Postgres`](crate::Postgres) keeps such tables by a trigger. They differ after tasks were
    /// restored or changed while triggers were off. Returns how many tasks had wrong lines.
    ///
    /// It compares 2,000 tasks in a transaction, and locks only those whose lines are wrong, so schedulers may
    /// run beside it. Other stores have nothing to repair.
    ///
    /// # Errors
    ///
    /// Fails if the store has an error. What was rebuilt stays so; repair again.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, what was rebuilt stays so.
    pub async fn repair(&self) -> Result<u64, Arc<StoreError>> {
        self.0.store.repair().await.map_err(Arc::new)
    }

    /// Makes a copy of a store another store: the steps of its tasks get other keys, those of tasks that have begun,
    /// too. Call it for a copy that goes on beside the original, such as one for tests, before anything runs on it,
    /// and open the copy again afterwards. Otherwise services take the steps of the one for repetitions of the
    /// other's. A copy that takes the place of the original keeps its keys.
    ///
    /// # Errors
    ///
    /// Fails if a worker runs on the store, if it is one in memory, or if the store has an error.
    pub async fn new_store(&self) -> Result<(), Arc<StoreError>> {
        match self.0.store.renew().await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Arc::new(StoreError::lasting(
                "a worker runs on this store; stop all workers, and wait until their leases are over",
            ))),
            Err(error) => Err(Arc::new(error)),
        }
    }

    /// Lists tasks, the newest first.
    ///
    /// # Errors
    ///
    /// Fails if the store has an error.
    pub async fn list(&self, filter: Filter) -> Result<Vec<Task>, Arc<StoreError>> {
        self.read(|store| store.list(filter.clone())).await
    }

    /// Writes a signal or a command for a task.
    pub(crate) async fn send_to(&self, task: TaskId, write: Write) -> Result<(), SubmitError> {
        match self.write(write).await? {
            WriteResult::Signaled(SignalResult::Accepted) => Ok(()),
            WriteResult::Signaled(SignalResult::UnknownStep) => Err(SubmitError::UnknownStep(task)),
            WriteResult::Signaled(SignalResult::UnknownTask) => Err(SubmitError::UnknownTask(task)),
            WriteResult::Signaled(SignalResult::NotAllowed(state)) => {
                Err(SubmitError::NotAllowed(task, state))
            }
            result => Err(unexpected_result(&result).into()),
        }
    }

    /// Reads from the store, and reads again while the store has a passing error.
    pub(crate) async fn read<T>(
        &self,
        ask: impl for<'a> Fn(&'a dyn Store) -> StoreFuture<'a, T>,
    ) -> Result<T, Arc<StoreError>> {
        let start = tokio::time::Instant::now();
        let mut pause = PAUSES.0;
        loop {
            match ask(self.store()).await {
                Err(error) if error.is_passing() && start.elapsed() < PATIENCE => {}
                result => return result.map_err(Arc::new),
            }
            tokio::time::sleep(pause).await;
            pause = pause.saturating_mul(2).min(PAUSES.1);
        }
    }

    /// Writes through the writer, and waits for the result up to [`PATIENCE`].
    pub(crate) async fn write(&self, write: Write) -> Reply {
        let reply = tokio::time::timeout(PATIENCE, self.0.writer.send(write)).await;
        reply.unwrap_or_else(|_| {
            let silent = format!("the store has not answered for {PATIENCE:?}");
            Err(Arc::new(match self.0.store_errors.last() {
                None => StoreError::passing(silent),
                Some(error) => StoreError::passing(format!("{silent}; {error}")),
            }))
        })
    }
}

impl Shared {
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Returns how many tasks may wait in each queue that has a bound.
    fn bounds(&self) -> MutexGuard<'_, HashMap<String, u32>> {
        (self.max_pending.lock()).unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn max_payload(&self) -> usize {
        self.max_payload.load(Ordering::Relaxed)
    }

    pub(crate) fn writer(&self) -> &Writer {
        &self.writer
    }

    pub(crate) const fn observers(&self) -> &Observers {
        &self.observers
    }

    /// Sends an event to all observers.
    pub(crate) fn emit(&self, event: &Event) {
        self.observers.emit(event);
    }

    /// Sends an event with an error of the store to all observers, unless they have just got it.
    pub(crate) fn emit_store_error(&self, error: &StoreError) {
        self.store_errors.emit(error);
    }

    pub(crate) fn local_task(&self, task: TaskId) -> Arc<LocalTask> {
        self.local_tasks.get(task)
    }
}

pub(crate) fn unexpected_result(result: &WriteResult) -> Arc<StoreError> {
    Arc::new(StoreError::lasting(format!(
        "the store returned an unexpected result: {result:?}"
    )))
}
