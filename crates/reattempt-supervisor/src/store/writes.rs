//! The writes that a store carries out, and their results.

use std::time::Duration;

use super::commands::AdminCommand;
use super::fork::Fork;
use super::next_state::Counts;
use super::retention::Retention;
use super::schedules::ScheduleWrite;
use super::task_limit::TaskLimit;
use crate::payload::is_same_json;
use crate::task::{
    Direction, FailingStep, Lease, NewTask, Origin, Record, RunningStep, State, Task, TaskId,
    WorkerId,
};
use crate::time::Time;

/// One change to the store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Write {
    /// Stores a task, unless its workflow has a task with the same key. Returns
    /// [`WriteResult::Submitted`], or [`WriteResult::QueueFull`] if it has a
    /// [`max_pending`](NewTask::max_pending) and its queue is full.
    Submit(Box<NewTask>),
    /// Stores a task with copies of the outcomes of another one, which has ended with this fence, up to a
    /// place. The copies have the fence 0, and nothing that undoes them. Returns [`WriteResult::Submitted`],
    /// also if the fork is there already; [`WriteResult::KeyTaken`] if another task has its key; or
    /// [`WriteResult::Lost`] if the original has gone on or was pruned.
    Fork(Box<Fork>),
    /// Claims tasks that may run now. A lower priority goes first, then an earlier wake-up time. Where
    /// a worker has several queues, the priority alone counts. It takes no more tasks of a queue than
    /// its limit allows, even if other workers claim at the same time. Returns
    /// [`WriteResult::Claimed`].
    Claim(Claim),
    /// Adds a record to the history of a task. Returns [`WriteResult::Written`].
    Record(Lease, Box<Record>),
    /// Stores a child of the task, and the record that it has started, whose result is the number of
    /// the child. When the child ends, the store adds a signal `reattempt:child` with that number to
    /// the task. Returns [`WriteResult::Started`], or [`WriteResult::KeyTaken`].
    Start(Lease, Box<Record>, Box<NewTask>),
    /// Ends children of a task that turns back. Those that have not ended are cancelled, once, also parked
    /// ones. With `undo`, those that were processed, or were kept after a failure, turn back in the
    /// direction [`Cancelling`](Direction::Cancelling). Others stay as they are, and so does a task that
    /// is no child of this one. Returns [`WriteResult::Children`].
    EndChildren {
        /// The parent.
        lease: Lease,
        /// The children.
        children: Vec<TaskId>,
        /// Whether those that have ended are undone.
        undo: bool,
    },
    /// Reports steps that have run for a while, and steps that were dropped after such a report. A
    /// record of the step removes its line, and so does whatever takes the task from its worker.
    /// Leases that are lost change nothing. Returns [`WriteResult::Done`].
    Running {
        /// The steps that run.
        started: Vec<RunningStep>,
        /// The steps that do not run any more, without a record. A write of nothing else should not
        /// wait for other writes: their records may wait among those.
        ended: Vec<(Lease, i32)>,
    },
    /// Forgets how many workers have died while they held the task. Returns
    /// [`WriteResult::Written`].
    ClearDeaths(Lease),
    /// Changes the state of a task. Returns [`WriteResult::Written`].
    Change(Lease, Box<Change>),
    /// Ends the generation of a task, and lets workers claim the next one: its records, failures and the
    /// signals that its workflow has got are gone, and those about ended children. The task stays in its lane
    /// and keeps its other signals. Returns [`WriteResult::Written`].
    Continue(Lease, Box<NextGeneration>),
    /// Gives back tasks that their worker does not run, without a failure. Leases that are lost
    /// change nothing. Returns [`WriteResult::Done`].
    GiveBack(Vec<Lease>),
    /// Removes a worker and sets its tasks to pending. Returns [`WriteResult::Done`].
    Leave(WorkerId),
    /// Sends a signal to a task. Returns [`WriteResult::Signaled`].
    Signal {
        /// The task.
        task: TaskId,
        /// The name that the task waits for.
        name: String,
        /// The value, as JSON.
        payload: String,
        /// Random bits: a signal that is written again with them is there already, and accepted.
        nonce: i64,
    },
    /// Carries out the command of an operator. Returns [`WriteResult::Signaled`].
    Admin(TaskId, AdminCommand),
    /// Stores a schedule with the tasks of its times. Returns [`WriteResult::Scheduled`].
    Schedule(Box<ScheduleWrite>),
    /// Sets the limit of a queue, for all workers. Tasks that they hold already count. Returns
    /// [`WriteResult::Done`].
    LimitQueue(String, TaskLimit),
    /// Sets the limit of the lanes with this name, or whose names begin with what stands before `*`. Tasks get
    /// turns by it from now on, and those that may have one get it. Returns [`WriteResult::Done`].
    LimitLanes(String, TaskLimit),
    /// Deletes the data of tasks that ended long ago, at most this many, and of no child whose parent is there and
    /// has not continued as new.
    /// Where the key stays, the task becomes [`State::Pruned`]: a submission with the key finds it until
    /// [`wake_at`](crate::Task::wake_at), and afterwards stores the next incarnation in its place. After
    /// [`updated_at`](crate::Task::updated_at) incarnations begin anew, and a `Prune` deletes such lines, at most
    /// this many. Returns [`WriteResult::Pruned`].
    Prune(Retention, u32),
    /// Deletes lines of the feed of ends that are older than this, of the first so many. Readers that have not got
    /// them have [missed](super::FeedPage::missed) them. Returns [`WriteResult::Pruned`].
    PruneFeed(Duration, u32),
}

impl Write {
    /// Returns whether a worker may find more tasks to claim after this write.
    pub const fn may_add_work(&self) -> bool {
        match self {
            // An end may let a parent or a lane go on, but most ends do not: the store or the
            // worker that knows reports it itself.
            Self::Change(_, change) => !change.state.is_final(),
            Self::Submit(_)
            | Self::Fork(_)
            | Self::Start(..)
            | Self::EndChildren { .. }
            | Self::Continue(..)
            | Self::GiveBack(_)
            | Self::Leave(_)
            | Self::Signal { .. }
            | Self::LimitQueue(..)
            | Self::LimitLanes(..)
            | Self::Admin(..) => true,
            Self::Schedule(write) => !write.tasks.is_empty(),
            Self::Claim(_)
            | Self::Record(..)
            | Self::Running { .. }
            | Self::ClearDeaths(_)
            | Self::Prune(..)
            | Self::PruneFeed(..) => false,
        }
    }

    /// Returns the task that the write is about, if it is one that is there.
    pub const fn task(&self) -> Option<TaskId> {
        match self {
            Self::Record(lease, _)
            | Self::Start(lease, ..)
            | Self::EndChildren { lease, .. }
            | Self::Continue(lease, _)
            | Self::Change(lease, _) => Some(lease.task),
            Self::Signal { task, .. } | Self::Admin(task, _) => Some(*task),
            Self::Fork(fork) => Some(fork.origin.task),
            _ => None,
        }
    }

    /// Returns the tasks that have ended, or may have, with the write.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn ended<'a>(
        &self,
        result: &'a WriteResult,
    ) -> impl Iterator<Item = TaskId> + use<'a> {
        let task = match (self, result) {
            (Self::Change(lease, change), WriteResult::Written(_)) if change.state.is_final() => {
                Some(lease.task)
            }
            (Self::Admin(task, _), _) => Some(*task),
            _ => None,
        };
        let children = match result {
            WriteResult::Children(_, children) => children.as_slice(),
            _ => <&[_]>::default(),
        };
        let children = children.iter().filter(|(_, state)| state.is_final());
        task.into_iter().chain(children.map(|(child, _)| *child))
    }

    /// Returns the tasks that must be locked for the write.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = TaskId> {
        let task = match self {
            // It changes the row as the others do, although its errors are about no task.
            Self::ClearDeaths(lease) => Some(lease.task),
            _ => self.task(),
        };
        let (started, ended) = match self {
            Self::Running { started, ended } => (started.as_slice(), ended.as_slice()),
            _ => (<&[_]>::default(), <&[_]>::default()),
        };
        let children = match self {
            Self::EndChildren { children, .. } => children.as_slice(),
            _ => <&[_]>::default(),
        };
        let started = started.iter().map(|step| step.task);
        let ended = ended.iter().map(|(lease, _)| lease.task);
        let several = started.chain(ended).chain(children.iter().copied());
        task.into_iter().chain(several)
    }

    /// Takes what a report of running steps says about a task out of it.
    pub(crate) fn take_report(&mut self, task: TaskId) -> Option<Self> {
        let Self::Running { started, ended } = self else {
            return None;
        };
        let started: Vec<_> = started.extract_if(.., |step| step.task == task).collect();
        let ended: Vec<_> = ended
            .extract_if(.., |(lease, _)| lease.task == task)
            .collect();
        (!started.is_empty() || !ended.is_empty()).then_some(Self::Running { started, ended })
    }

    /// Returns whether the write may wait for a lock that no worker holds: that of an application
    /// that submits the same key in a transaction of its own, or of an operator.
    pub const fn may_wait_for_others(&self) -> bool {
        matches!(
            self,
            Self::Submit(_)
                | Self::Fork(_)
                | Self::Schedule(_)
                | Self::Signal { .. }
                | Self::Admin(..)
        )
    }
}

/// The result of one [`Write`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteResult {
    /// The task is stored.
    Submitted(Submitted),
    /// The store has not stored the task, because as many tasks of its queue wait as it accepts.
    QueueFull,
    /// The worker has claimed these tasks. If the limit of a queue allows no more of its tasks now, the
    /// duration says after how long it may; [`Duration::MAX`] if only the end of a task makes room.
    Claimed(Vec<ClaimedTask>, Option<Duration>),
    /// The store has written it: the worker still holds the task.
    Written(LeaseStatus),
    /// The child is stored, and the worker still holds the task.
    Started(LeaseStatus, TaskId),
    /// The store has not stored the child or the fork, and has written nothing: this task, which is no child of the
    /// parent or not the same fork, has its key.
    KeyTaken(TaskId),
    /// The worker still holds the task, whose children have these states now.
    Children(LeaseStatus, Vec<(TaskId, State)>),
    /// The worker does not hold the task any more, or the original of a fork has changed; the store has written
    /// nothing.
    Lost,
    /// Whether the task took the signal or the command.
    Signaled(SignalResult),
    /// Whether the schedule was stored; otherwise another process has written it since it was read.
    Scheduled(bool),
    /// How many tasks were pruned or deleted, or lines of the feed.
    Pruned(u64),
    /// The write is done and has nothing to return.
    Done,
}

impl WriteResult {
    /// Returns the answer to a fork whose key this task has, which comes from there.
    pub(crate) fn of_fork(fork: &Fork, id: TaskId, origin: Option<&Origin>) -> Self {
        if origin.is_some_and(|other| other.is_of(fork.origin.task, fork.origin.seq)) {
            Self::Submitted(Submitted::same(id))
        } else {
            Self::KeyTaken(id)
        }
    }
}

/// A task that is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Submitted {
    /// The number of the task.
    pub id: TaskId,
    /// Whether this submission stored it; otherwise it was there before.
    pub is_new: bool,
    /// Whether the task has the arguments of this submission. `None` if it has another version, because
    /// arguments of different versions are not compared, if it has continued as new with other ones, or if
    /// it was pruned.
    pub same_arguments: Option<bool>,
}

impl Submitted {
    /// Returns the answer for a task that this submission stored.
    pub const fn new(id: TaskId) -> Self {
        Self {
            id,
            is_new: true,
            same_arguments: Some(true),
        }
    }

    /// Returns the answer for a fork that was there before.
    pub const fn same(id: TaskId) -> Self {
        Self {
            is_new: false,
            ..Self::new(id)
        }
    }

    /// Returns the answer for a task that was there before `new`, with its version and input; it has no
    /// version to compare if it has continued as new or was pruned.
    pub fn earlier(id: TaskId, version: Option<i32>, input: &str, new: &NewTask) -> Self {
        // The order of keys may differ: a `HashMap` has none.
        let is_same = || is_same_json(input, &new.input);
        Self {
            id,
            is_new: false,
            same_arguments: (version == Some(new.version)).then(is_same),
        }
    }
}

/// A task that a worker holds, and the requests for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldTask {
    /// The task and its fence.
    pub lease: Lease,
    /// Whether the worker should cancel the task.
    pub cancel: bool,
    /// The number of the task's newest signal; 0 if it has none.
    pub signal: i64,
}

/// The news about its task that a worker gets with every write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseStatus {
    /// The time of the store.
    pub now: Time,
    /// Whether a cancel of the task is requested.
    pub cancel_requested: bool,
}

/// Whether a task took a signal or a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignalResult {
    /// The task took it.
    Accepted,
    /// There is no task with this number.
    UnknownTask,
    /// The state of the task does not allow it.
    NotAllowed(State),
    /// The task has no such step whose outcome is unknown, or that has failed.
    UnknownStep,
}

/// The tasks that a worker can take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The worker.
    pub worker: WorkerId,
    /// The queues it takes tasks from.
    pub queues: Vec<String>,
    /// The workflows it knows, by name and version.
    pub workflows: Vec<(String, i32)>,
    /// The largest number of tasks.
    pub limit: u32,
    /// Which tasks it takes. `None` stands for all but suspects: tasks during which two workers in a
    /// row have died. A duration stands for suspects that have been ready for at least so long, and
    /// nothing else.
    pub suspects: Option<Duration>,
}

/// A task that a worker has claimed. The worker reads its records and signals later: they may be
/// large, and a claim transfers little.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedTask {
    /// The task, as it is after the claim.
    pub task: Task,
    /// Whether it has signals.
    pub has_signals: bool,
    /// The time of the store.
    pub now: Time,
}

impl ClaimedTask {
    /// Returns whether the task may have records: one that no worker held before has none, unless it is a fork.
    pub const fn may_have_records(&self) -> bool {
        self.task.fence.0 > 1 || self.task.origin.is_some()
    }
}

/// A new state of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The state. With any state but [`State::Processing`] the worker gives up the task.
    pub state: State,
    /// The direction.
    pub direction: Direction,
    /// The failures and deaths.
    pub counts: Counts,
    /// The step that failed, with its failures including this one. The store sets the time.
    pub failing_step: Option<FailingStep>,
    /// When workers may claim the task again.
    pub wake: Wake,
    /// The result of the workflow, as JSON. `None` keeps an earlier one.
    pub output: Option<String>,
    /// Why it failed. `None` keeps an earlier one.
    pub error: Option<String>,
    /// The step whose failure ended or parked the task. `None` keeps an earlier one.
    pub failed_seq: Option<i32>,
}

/// What a task that continues as new begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextGeneration {
    /// How often the task has continued as new then.
    pub generation: i32,
    /// The version of its workflow's code.
    pub version: i32,
    /// The arguments, as JSON.
    pub input: String,
    /// The numbers of the signals that the workflow has got.
    pub heard: Vec<i64>,
}

/// When workers may claim a task again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// After this delay.
    In(Duration),
    /// At this time; at once if the task has a signal with a higher number than this.
    At(Time, i64),
    /// The same, and when so many children have ended whose signals have a higher number. Otherwise the
    /// end of a child does not wake the task.
    Children {
        /// The time.
        at: Time,
        /// The number of the newest signal that the worker has seen.
        seen: i64,
        /// How many children must end.
        ends: u32,
    },
}
