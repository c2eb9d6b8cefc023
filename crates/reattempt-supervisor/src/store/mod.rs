//! The interface of a store. A process collects all its writes about tasks in one list, and the
//! store carries out the list in one transaction.

mod calls;
pub(crate) mod commands;
mod encoded;
mod error;
mod expiry;
mod feed;
pub(crate) mod fork;
mod key;
pub(crate) mod lane_limits;
pub(crate) mod last_outcome;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod limits;
pub mod memory;
pub(crate) mod next_state;
mod outage;
pub(crate) mod page;
#[cfg(feature = "postgres")]
pub mod postgres;
mod queues;
mod reclaim;
pub(crate) mod retention;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod rows;
mod salt;
pub(crate) mod schedules;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub(crate) mod submission;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod tables;
pub(crate) mod task_limit;
pub(crate) mod unknown;
mod writes;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::task::{
    FailingStep, Lease, OperatorNote, Record, RecordKind, RunningStep, Signal, State, Task, TaskId,
    WorkerId,
};
use crate::time::Time;

pub use calls::{AgentCall, AgentFailure, CallState, CallStatus, NextOffer};
pub use commands::{AdminCommand, Resolution, Verdict};
pub use encoded::{Encoded, PayloadCodec, SharedCodec};
pub(crate) use error::panic_text;
pub use error::{ErrorKind, StoreError};
pub use expiry::{Expiry, GRACE, Overdue};
pub use feed::{Ending, FeedCursor, FeedGap, FeedPage};
pub use fork::Fork;
pub use next_state::{Counts, Failure, NextState};
pub use page::Page;
pub use queues::QueueStatus;
pub use reclaim::{Reclaimed, Sweep};
pub(crate) use retention::Retention;
pub use salt::Salt;
pub use schedules::{Missed, ScheduleState, ScheduleWrite, Schedules, StoredSchedule};
pub(crate) use task_limit::TaskLimit;
pub use unknown::UnknownWorkflow;
pub use writes::{
    Change, Claim, ClaimedTask, HeldTask, LeaseStatus, NextGeneration, SignalResult, Submitted,
    Wake, Write, WriteResult,
};

/// The future that a method of a store returns.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A place where tasks are kept.
///
/// # Contract
///
/// * The store carries out the writes of one [`write`](Self::write) in their order, all or none.
///   When the future returns, they are on disk.
/// * A claim gives a task to one worker only, and raises the fence of the task.
/// * A write with a [`Lease`] whose fence is not that of the task changes nothing and
///   returns [`WriteResult::Lost`].
/// * A record that is already there, written under the same fence, counts as written now, and so
///   does a change that has taken place: a writer that does not know whether its transaction took
///   place repeats it.
///
/// The crate `reattempt-conformance` checks all of it.
///
/// # Cancel safety
///
/// A dropped future may have had its effect or not, as a whole.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Carries out a list of writes in one transaction, and returns one result for each.
    fn write(&self, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>>;

    /// Carries out writes as [`write`](Self::write) does, in a transaction that may wait for locks of others
    /// without delaying the transactions of `write`. By default it is one of them.
    fn write_apart(&self, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
        self.write(writes)
    }

    /// Returns when no earlier write of this process can take effect any more: those of unknown
    /// outcome have taken place, or never will. A store whose writes have an outcome returns at
    /// once.
    fn settle(&self) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Renews the lease of a worker for this long, and returns the tasks that it holds: at least those of `known`
    /// that it does, or all without a list. Heartbeats should not wait for writes, and the cost should not grow with
    /// the tasks that the worker held before.
    fn heartbeat(
        &self,
        worker: WorkerId,
        lease: Duration,
        known: Option<Vec<TaskId>>,
    ) -> StoreFuture<'_, Vec<HeldTask>>;

    /// Finds expired tasks, at most `limit`, and gives them back to their queues. Several processes
    /// may do so at the same time; each reclaims other tasks.
    fn sweep(&self, sweep: Sweep) -> StoreFuture<'_, Vec<Reclaimed>>;

    /// Returns one task.
    fn task(&self, id: TaskId) -> StoreFuture<'_, Option<Task>>;

    /// Returns the records of a task, in their order.
    fn history(&self, id: TaskId) -> StoreFuture<'_, Vec<Record>>;

    /// Returns the steps of a task that have failed, by direction and number. Resubmitting the task
    /// forgets them.
    fn failures(&self, id: TaskId) -> StoreFuture<'_, Vec<FailingStep>>;

    /// Returns the steps of a task that run now, as its worker reported them, by number.
    fn running(&self, id: TaskId) -> StoreFuture<'_, Vec<RunningStep>>;

    /// Returns what operators have said about steps of a task, in that order.
    fn notes(&self, id: TaskId) -> StoreFuture<'_, Vec<OperatorNote>>;

    /// Returns the signals of a task, in their order.
    fn signals(&self, id: TaskId) -> StoreFuture<'_, Vec<Signal>>;

    /// Returns the next records of a task after this call and kind, in the order of their calls: at
    /// most about 1 MB, but at least one. Returns `None` if there is no such task.
    ///
    /// By default the store reads the whole history and returns a part of it.
    fn history_page(
        &self,
        id: TaskId,
        after: Option<(i32, RecordKind)>,
    ) -> StoreFuture<'_, Option<Page<Record>>> {
        Box::pin(async move {
            let mut records = self.history(id).await?;
            records.sort_by_key(page::place);
            records.retain(|record| Some(page::place(record)) > after);
            page::with_fence(self.task(id).await?, records, page::record_size)
        })
    }

    /// Returns the next signals of a task after this one, in their order: at most about 1 MB, but at
    /// least one. Returns `None` if there is no such task.
    ///
    /// By default the store reads all signals and returns a part of them.
    fn signals_page(&self, id: TaskId, after: i64) -> StoreFuture<'_, Option<Page<Signal>>> {
        Box::pin(async move {
            let mut signals = self.signals(id).await?;
            signals.retain(|signal| signal.id > after);
            page::with_fence(self.task(id).await?, signals, page::signal_size)
        })
    }

    /// Lists tasks, the newest first.
    fn list(&self, filter: Filter) -> StoreFuture<'_, Vec<Task>>;

    /// Returns how many tasks there are in each state. A number above [`QueueStatus::COUNTED`] may be an
    /// estimate.
    fn counts(&self) -> StoreFuture<'_, Vec<(State, u64)>>;

    /// Returns what the queues have to do that have such tasks or limits: at most [`QueueStatus::LIMIT`], in the
    /// order of their names. The cost should not grow with the tasks.
    fn queues(&self) -> StoreFuture<'_, Vec<QueueStatus>>;

    /// Returns the limits of lanes by their patterns.
    fn lane_limits(&self) -> StoreFuture<'_, BTreeMap<String, TaskLimit>>;

    /// Returns how long the oldest transaction of the database has been open. It keeps the database from clearing
    /// away what tasks have left. A store without this returns `None`.
    fn oldest_snapshot(&self) -> StoreFuture<'_, Option<Duration>> {
        Box::pin(async { Ok(None) })
    }

    /// Finds workflows that are not among `known` and whose tasks have been ready for at least
    /// `waited` in these queues, at most [`LIMIT`](UnknownWorkflow::LIMIT) in the order of queue, name and version.
    /// Suspects do not count.
    fn unknown_workflows(
        &self,
        queues: Vec<String>,
        known: Vec<(String, i32)>,
        waited: Duration,
    ) -> StoreFuture<'_, Vec<UnknownWorkflow>>;

    /// Returns the schedules and the time of the store: all, or those that are active and whose time
    /// has come, at most `due`, the earliest first.
    fn schedules(&self, due: Option<u32>) -> StoreFuture<'_, Schedules>;

    /// Returns the next lines of the feed of ends for a reader: those that were not there when it looked before, and at
    /// most `limit` with higher numbers than it has got. They are the same until the reader is moved. A reader that
    /// the store does not know begins with the oldest line that is left. The feed has a line for each end of a task,
    /// whoever ended it, which is written with the end. A store in which numbers below the cursor may be missing for
    /// long looks for those at each call with `old_gaps`; without it, it may look for the latest alone as long as
    /// there are no new lines.
    fn read_feed(&self, reader: String, limit: u32, old_gaps: bool) -> StoreFuture<'_, FeedPage>;

    /// Moves the cursor of a reader to the [`next`](FeedPage::next) one of a page, and subtracts what was
    /// `reported` of the lines that the reader has [missed](FeedPage::missed). Returns `false` if the reader was moved since the
    /// page was read, or is unknown; then nothing changes. After a crash the reader may be where it was before.
    fn move_reader(&self, reader: String, to: FeedCursor, reported: u64) -> StoreFuture<'_, bool>;

    /// Compares what the store keeps twice, and rebuilds what does not fit the tasks. Returns how many tasks
    /// that was about. Workers may run beside it. A store that keeps nothing twice returns 0.
    fn repair(&self) -> StoreFuture<'_, u64> {
        Box::pin(async { Ok(0) })
    }

    /// Gives the store another salt, unless workers hold leases. Returns whether it did. Processes that have
    /// opened the store before must open it again. A store that cannot, such as the one in memory, which has no
    /// copies, fails.
    fn renew(&self) -> StoreFuture<'_, bool> {
        Box::pin(async { Err(StoreError::lasting("this store cannot become another one")) })
    }

    /// Returns whether a claim of suspects may find some, as far as the last claim of other tasks has seen. Otherwise
    /// workers do not ask.
    fn may_have_suspects(&self) -> bool {
        true
    }

    /// Returns until when a worker that claims this need not look by itself, as far as the last claims have seen.
    /// `None` means that it looks at its intervals.
    fn quiet_until(&self, claim: &Claim) -> Option<Instant> {
        let _ = claim;
        None
    }

    /// Returns whether the time of a schedule may have come that this process has to submit, as far as its last sweep
    /// has seen.
    fn may_have_due_schedules(&self) -> bool {
        true
    }

    /// Offers a call to agents, unless it is there, and returns what agents have said. Returns `None` if the lease is lost.
    /// By default the store has no agents.
    fn offer_call(&self, call: AgentCall) -> StoreFuture<'_, Option<CallStatus>> {
        drop(call);
        Box::pin(async { Err(calls::without_agents()) })
    }

    /// Raises the attempt of the call `seq`, if it is still the attempt and the state of `seen`, so that the agent which
    /// has it can say nothing more. Returns `false` if it has changed.
    fn raise_attempt(
        &self,
        lease: Lease,
        seq: i32,
        seen: CallStatus,
        next: NextOffer,
    ) -> StoreFuture<'_, bool> {
        drop((lease, seq, seen, next));
        Box::pin(async { Err(calls::without_agents()) })
    }

    /// Withdraws the calls of a task that turns back. Those that have finished stay as they are. Nothing happens if the
    /// lease is lost.
    fn withdraw_calls(&self, lease: Lease) -> StoreFuture<'_, ()> {
        let _ = lease;
        Box::pin(async { Err(calls::without_agents()) })
    }

    /// Waits until another process may have stored a task that workers can claim. A store without
    /// notifications never returns; workers also look at intervals.
    fn wait_for_work(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::pending())
    }

    /// Waits until another process may have ended this task, from this call on. Callers also look
    /// at long intervals. A store without notifications returns `None`.
    fn wait_for_end(&self, task: TaskId) -> Option<Pin<Box<dyn Future<Output = ()> + Send + '_>>> {
        let _ = task;
        None
    }

    /// Waits until a task may have ended, in this process or another one, from this call on. A store without
    /// notifications never returns; readers of the feed also look at intervals.
    fn wait_for_ends(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::pending())
    }

    /// Returns the codec of [`Encoded`], which what is stored in transactions of the application needs,
    /// too. Other stores have none.
    fn codec(&self) -> Option<SharedCodec> {
        None
    }

    /// Returns the random bits that the store got when it was created.
    fn salt(&self) -> Salt;
}

/// Which tasks to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Lists tasks in this state.
    pub state: Option<State>,
    /// Lists tasks of this workflow.
    pub workflow: Option<String>,
    /// Lists tasks in this queue.
    pub queue: Option<String>,
    /// Lists tasks with this key.
    pub key: Option<String>,
    /// Lists tasks whose headers have this name with this value. A value that is not a string is
    /// compared as JSON.
    pub header: Option<(String, String)>,
    /// Lists tasks whose last error contains this text.
    pub error: Option<String>,
    /// Lists tasks that were submitted at this time or later.
    pub since: Option<Time>,
    /// Lists tasks that were submitted before this time.
    pub until: Option<Time>,
    /// Lists tasks that ended, or were parked, at this time or later, and have not gone on since.
    pub ended_since: Option<Time>,
    /// Lists tasks that ended, or were parked, before this time, and have not gone on since.
    pub ended_until: Option<Time>,
    /// Lists tasks that are older than this one: the last task of the page before.
    pub before: Option<TaskId>,
    /// The largest number of tasks; 0 means 100.
    pub limit: u32,
}

impl Filter {
    /// Returns the largest number of tasks.
    pub const fn bound(&self) -> u32 {
        if self.limit == 0 { 100 } else { self.limit }
    }

    /// Returns whether a task fits, whatever the limit.
    pub(crate) fn fits(&self, task: &Task) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == found)
        };
        let has_header =
            |(name, value): &(String, String)| task.header(name).as_ref() == Some(value);
        let has_error = |text: &String| {
            task.error
                .as_ref()
                .is_some_and(|error| error.contains(text))
        };
        self.state.is_none_or(|state| task.state == state)
            && is(&self.workflow, &task.workflow)
            && is(&self.queue, &task.queue)
            && is(&self.key, &task.key)
            && self.header.as_ref().is_none_or(has_header)
            && self.error.as_ref().is_none_or(has_error)
            && self.since.is_none_or(|since| task.created_at >= since)
            && self.until.is_none_or(|until| task.created_at < until)
            && self.before.is_none_or(|before| task.id < before)
            && (!self.has_end() || task.state.is_end())
            && self
                .ended_since
                .is_none_or(|since| task.updated_at >= since)
            && self.ended_until.is_none_or(|until| task.updated_at < until)
    }

    /// Returns whether it asks when tasks ended.
    pub(crate) const fn has_end(&self) -> bool {
        self.ended_since.is_some() || self.ended_until.is_some()
    }
}
