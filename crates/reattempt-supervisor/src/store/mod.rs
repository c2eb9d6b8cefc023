//! What a store must be able to do. All that a process writes about tasks goes through one list of operations
//! at a time, which a store carries out in one transaction.

mod fate;
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "sqlite")]
pub mod sqlite;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use reattempt::Policy;

use crate::task::{Direction, Hold, NewRun, Record, Run, RunId, Signal, State, WorkerId};
use crate::time::Time;

pub use fate::Fate;

/// What a method of a store answers with.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Where tasks are kept.
///
/// # Contract
///
/// * The operations of one [`write`](Self::write) happen in their order, all or none, and are on disk when it answers.
/// * A claim hands a task to one worker only, and raises its fence.
/// * An operation with a [`Hold`] whose fence is not the task's changes nothing and is answered with [`Outcome::Lost`].
/// * A record that is there already, written under the same fence, is answered as if it had been written now: a writer
///   that does not know whether its transaction took place repeats it.
///
/// The conformance suite (`conformance`, with the feature `test-util`) tries all of it.
///
/// # Cancel safety
///
/// A future that is dropped may have had its effect or not, as a whole.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Carries out a list of operations in one transaction. There are as many outcomes as operations.
    fn write(&self, operations: Arc<[Operation]>) -> Answer<'_, Vec<Outcome>>;

    /// Looks for tasks whose owner or whose time is gone, and gives them back; at most `limit`. Several may look
    /// at the same time and do not see each other's.
    fn sweep(&self, sweep: Sweep) -> Answer<'_, Vec<Swept>>;

    /// One task.
    fn run(&self, id: RunId) -> Answer<'_, Option<Run>>;

    /// What happened in a task, in that order.
    fn history(&self, id: RunId) -> Answer<'_, Vec<Record>>;

    /// What a task was told, in that order.
    fn signals(&self, id: RunId) -> Answer<'_, Vec<Signal>>;

    /// Tasks, the newest first.
    fn list(&self, filter: Filter) -> Answer<'_, Vec<Run>>;

    /// How many tasks there are in each state.
    fn counts(&self) -> Answer<'_, Vec<(State, u64)>>;

    /// Waits until another process may have stored something that can be claimed. A store that is not told of it
    /// never answers: workers look by themselves, too.
    fn woken(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::pending())
    }

    /// A number of this store's own, made with it: two stores have different ones.
    fn salt(&self) -> u64;
}

/// One thing to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// Stores a task, unless one of its workflow has its key. [`Outcome::Submitted`].
    Submit(Box<NewRun>),
    /// Takes tasks that may run now: those of a lower priority first, then those that could run earlier; of several
    /// queues the priority alone counts. [`Outcome::Claimed`].
    Claim(Claim),
    /// Writes down what happened. [`Outcome::Held`].
    Record(Hold, Box<Record>),
    /// Says by when the step under way must be done. [`Outcome::Held`].
    Announce(Hold, Time),
    /// Changes how a task stands. [`Outcome::Held`].
    Change(Hold, Box<Change>),
    /// A worker lives, for so long at least. [`Outcome::Beaten`].
    Beat(WorkerId, Duration),
    /// A worker gives back all that it holds, but for these. [`Outcome::Done`].
    Disown(WorkerId, Vec<RunId>),
    /// A worker ends. What it holds is pending again. [`Outcome::Done`].
    Leave(WorkerId),
    /// Tells a task something. [`Outcome::Told`].
    Signal {
        /// The task.
        run: RunId,
        /// What it waits for by this name.
        name: String,
        /// As JSON.
        payload: String,
    },
    /// What an operator wants. [`Outcome::Told`].
    Steer(RunId, Steer),
    /// Deletes tasks that ended so long ago, at most so many. [`Outcome::Pruned`].
    Prune(Duration, u32),
}

impl Operation {
    /// Whether there may be more to claim after it.
    pub const fn may_free(&self) -> bool {
        match self {
            Self::Change(_, change) => !change.state.is_final(),
            Self::Submit(_)
            | Self::Disown(..)
            | Self::Leave(_)
            | Self::Signal { .. }
            | Self::Steer(..) => true,
            Self::Claim(_)
            | Self::Record(..)
            | Self::Announce(..)
            | Self::Beat(..)
            | Self::Prune(..) => false,
        }
    }
}

/// What came of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The task is stored.
    Submitted {
        /// Its number.
        id: RunId,
        /// Whether it was not there before.
        is_new: bool,
    },
    /// These are yours.
    Claimed(Vec<Claimed>),
    /// It is written.
    Held(Standing),
    /// The task is not yours any more; nothing was written.
    Lost,
    /// The tasks of this worker that somebody wants something of.
    Beaten(Vec<Asked>),
    /// Whether the task was there and could be told.
    Told(Told),
    /// How many were deleted.
    Pruned(u64),
    /// Nothing to tell.
    Done,
}

/// What is wanted of a task that a worker holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// The task.
    pub run: RunId,
    /// To be cancelled.
    pub cancel: bool,
    /// To listen: the number of its newest signal; 0 if it has none.
    pub signal: i64,
}

/// What a worker learns about its task whenever it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The time of the store.
    pub now: Time,
    /// Whether somebody wants it cancelled.
    pub cancel_asked: bool,
}

/// Whether a task could be told something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// It was.
    Yes,
    /// No task has this number.
    Unknown,
    /// Its state does not allow it.
    Not(State),
}

/// What a worker can take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Who.
    pub worker: WorkerId,
    /// From these queues.
    pub queues: Vec<String>,
    /// Of these workflows, by name and version.
    pub workflows: Vec<(String, i32)>,
    /// At most so many.
    pub limit: u32,
}

/// A task that was taken, with all that is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The task, as it stands now.
    pub run: Run,
    /// What happened in it, in that order.
    pub history: Vec<Record>,
    /// What it was told, in that order.
    pub signals: Vec<Signal>,
    /// The time of the store.
    pub now: Time,
}

/// How a task stands from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its state. Anything but [`State::Processing`] gives it up.
    pub state: State,
    /// Which way it goes.
    pub direction: Direction,
    /// How often it failed on this way.
    pub failures: i32,
    /// When it may be claimed again.
    pub wake: Wake,
    /// What it answered.
    pub output: Option<String>,
    /// Why it failed; what was there before stays without.
    pub error: Option<String>,
}

/// When a task may be claimed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// So long from now.
    In(Duration),
    /// At this moment; at once, if there is a signal that is newer than this number.
    At(Time, i64),
}

/// What an operator wants of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Steer {
    /// To end, and what was done to be undone.
    Cancel,
    /// To rest until it is resubmitted.
    Park(String),
    /// To go on, as if it had not failed; the failure that ended it is forgotten.
    Resubmit,
}

/// How a supervisor looks.
#[derive(Debug, Clone, Copy)]
pub struct Sweep {
    /// At most so many tasks.
    pub limit: u32,
    /// How long a task waits after failures: the delays of this policy.
    pub delays: Policy,
}

/// A task that a supervisor gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swept {
    /// The task.
    pub run: RunId,
    /// The name of its workflow.
    pub workflow: String,
    /// What had gone.
    pub expired: Expired,
    /// Who held it.
    pub owner: Option<WorkerId>,
    /// How it stands now.
    pub state: State,
    /// Which way it goes now.
    pub direction: Direction,
    /// How often it has failed on this way.
    pub failures: i32,
    /// When it may be claimed again, from now.
    pub delay: Duration,
}

impl Swept {
    /// A task as it stood, what had gone, and how it goes on.
    pub fn new(run: &Run, expired: Expired, fate: Fate) -> Self {
        Self {
            run: run.id,
            workflow: run.workflow.clone(),
            expired,
            owner: run.owner.clone(),
            state: fate.state,
            direction: fate.direction,
            failures: fate.failures,
            delay: fate.delay,
        }
    }
}

/// What of a task is gone at `now`, if anything.
pub(crate) fn expired(
    run: &Run,
    now: Time,
    is_alive: impl FnOnce(&WorkerId) -> bool,
) -> Option<Expired> {
    let is_over = |by: Option<Time>| by.is_some_and(|by| by < now);
    let is_held = run.state == State::Processing;
    if run.state.is_final() {
        None
    } else if is_held && !run.owner.as_ref().is_some_and(is_alive) {
        Some(Expired::Owner)
    } else if run.direction == Direction::Forward && is_over(run.complete_by) {
        Some(Expired::Task)
    } else if is_held && is_over(run.step_by) {
        Some(Expired::Step)
    } else {
        None
    }
}

/// What a supervisor found gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Expired {
    /// Its owner has not been heard of for longer than its lease.
    Owner,
    /// A step took longer than its `complete_by`.
    Step,
    /// The task took longer than its `complete_by`.
    Task,
}

impl Expired {
    /// In words, for the error of a task.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Owner => "its worker was not heard of for longer than its lease",
            Self::Step => "a step was not done by its `complete_by`",
            Self::Task => "the task was not done by its `complete_by`",
        }
    }
}

/// Which tasks to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// In this state.
    pub state: Option<State>,
    /// Of this workflow.
    pub workflow: Option<String>,
    /// In this queue.
    pub queue: Option<String>,
    /// Older than this one, for the next page.
    pub before: Option<RunId>,
    /// At most so many; 0 means 100.
    pub limit: u32,
}

impl Filter {
    /// How many at most.
    pub const fn bound(&self) -> u32 {
        if self.limit == 0 { 100 } else { self.limit }
    }
}

/// A store could not do what was asked.
#[derive(Debug)]
pub struct StoreError {
    kind: Trouble,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What kind of trouble a store has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It may be over soon: no connection, locked, no space left.
    Passing,
    /// It stays until somebody mends it: a corrupted file, a wrong version, a bug.
    Lasting,
}

impl StoreError {
    /// Trouble that may be over soon.
    pub fn passing(message: impl Into<String>) -> Self {
        Self {
            kind: Trouble::Passing,
            message: message.into(),
            source: None,
        }
    }

    /// Trouble that stays.
    pub fn lasting(message: impl Into<String>) -> Self {
        Self {
            kind: Trouble::Lasting,
            ..Self::passing(message)
        }
    }

    /// The same, with the error it comes from.
    #[must_use]
    pub fn because(self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self {
            source: Some(source.into()),
            ..self
        }
    }

    /// Whether another try may be worth it.
    pub const fn is_passing(&self) -> bool {
        matches!(self.kind, Trouble::Passing)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

/// Its source is part of the message.
impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().and_then(|source| source.source())
    }
}

impl reattempt::Classify for StoreError {
    fn classify(&self) -> reattempt::Verdict {
        if self.is_passing() {
            reattempt::Verdict::Transient
        } else {
            reattempt::Verdict::Permanent
        }
    }
}
