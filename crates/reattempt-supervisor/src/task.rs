//! What a store keeps: tasks, and what happened in each of them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::Serialize;

use crate::time::Time;

/// The number of a task in its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RunId(pub i64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for RunId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// How often a task has changed hands. What is written with an old one is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct Fence(pub i64);

impl Fence {
    /// After one more change of hands.
    pub(crate) const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// The right to write about a task: which, and since which change of hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hold {
    /// The task.
    pub run: RunId,
    /// The fence it was claimed with.
    pub fence: Fence,
}

/// A process that runs tasks, under a name of its own since it was started.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct WorkerId(pub String);

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Waits until a worker is free, or for the moment it begins.
    Pending,
    /// A worker holds it.
    Processing,
    /// Nobody holds it until a timer is due or a signal comes.
    Waiting,
    /// Done.
    Processed,
    /// Failed, and there was nothing to undo.
    Error,
    /// Failed, and what had been done was undone.
    Compensated,
    /// Cancelled, and what had been done was undone.
    Cancelled,
    /// Needs an operator: undoing fails again and again, or its code has changed.
    Parked,
}

impl State {
    /// Every state, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Pending,
        Self::Processing,
        Self::Waiting,
        Self::Processed,
        Self::Error,
        Self::Compensated,
        Self::Cancelled,
        Self::Parked,
    ];

    /// Its number in a store.
    pub const fn number(self) -> i16 {
        self as i16
    }

    /// The state of this number.
    pub fn from_number(number: i16) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Whether nothing happens any more unless an operator says so.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Pending | Self::Processing | Self::Waiting)
    }

    /// Its word, in lower case.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Waiting => "waiting",
            Self::Processed => "processed",
            Self::Error => "error",
            Self::Compensated => "compensated",
            Self::Cancelled => "cancelled",
            Self::Parked => "parked",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl FromStr for State {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, UnknownState> {
        let found = Self::ALL.into_iter().find(|state| state.word() == text);
        found.ok_or_else(|| UnknownState(text.to_owned()))
    }
}

/// No state has this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownState(String);

impl fmt::Display for UnknownState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = State::ALL.map(State::word).join(", ");
        write!(f, "`{}` is no state; there are {words}", self.0)
    }
}

impl std::error::Error for UnknownState {}

/// Which way a task goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// It does its steps.
    Forward,
    /// It failed: what was done is undone.
    Undoing,
    /// It was cancelled: what was done is undone.
    Cancelling,
}

impl Direction {
    /// Its number in a store.
    pub const fn number(self) -> i16 {
        self as i16
    }

    /// The direction of this number.
    pub const fn from_number(number: i16) -> Option<Self> {
        Some(match number {
            0 => Self::Forward,
            1 => Self::Undoing,
            2 => Self::Cancelling,
            _ => return None,
        })
    }

    /// The state of a task that has got there, `undone` if there was anything to undo.
    pub const fn end(self, undone: bool) -> State {
        match self {
            Self::Forward => State::Processed,
            Self::Undoing if undone => State::Compensated,
            Self::Undoing => State::Error,
            Self::Cancelling => State::Cancelled,
        }
    }
}

/// A task that is to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// The name of its workflow.
    pub workflow: String,
    /// The version of its workflow's code.
    pub version: i32,
    /// The queue it waits in.
    pub queue: String,
    /// What is lower goes first.
    pub priority: i16,
    /// What makes it one of its kind: a second task of the workflow with this key is the first one.
    pub key: String,
    /// The arguments, as JSON.
    pub input: String,
    /// What else goes along, as a JSON object.
    pub headers: Option<String>,
    /// How long it waits before it begins.
    pub delay: Duration,
    /// By when it must be done, counted from its submission; what is not is undone.
    pub complete_by: Option<Duration>,
    /// How many failures are too many.
    pub max_failures: i32,
}

/// A task as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Run {
    /// Its number.
    pub id: RunId,
    /// The name of its workflow.
    pub workflow: String,
    /// The version of its workflow's code.
    pub version: i32,
    /// The queue it waits in.
    pub queue: String,
    /// What is lower goes first.
    pub priority: i16,
    /// What makes it one of its kind.
    pub key: String,
    /// How it stands.
    pub state: State,
    /// Which way it goes.
    pub direction: Direction,
    /// From when on it may be claimed.
    pub wake_at: Time,
    /// By when it must be done.
    pub complete_by: Option<Time>,
    /// By when the step under way must be done, of steps that take long.
    pub step_by: Option<Time>,
    /// Who holds it.
    pub owner: Option<WorkerId>,
    /// How often it has changed hands.
    pub fence: Fence,
    /// How often it failed on this way.
    pub failures: i32,
    /// How many failures are too many.
    pub max_failures: i32,
    /// Whether somebody wants it cancelled.
    pub cancel_asked: bool,
    /// The arguments, as JSON.
    pub input: String,
    /// What it answered, as JSON.
    pub output: Option<String>,
    /// Why it failed last.
    pub error: Option<String>,
    /// What else goes along, as a JSON object.
    pub headers: Option<String>,
    /// When it was submitted.
    pub created_at: Time,
    /// When it changed last.
    pub updated_at: Time,
}

/// What a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It has begun: a timer, a wait for a signal, a step that must not run twice.
    Begun,
    /// It was done, and this is what it answered.
    Done,
    /// It failed, and the workflow was told.
    Failed,
    /// It was undone.
    Undone,
}

impl Kind {
    /// Its number in a store.
    pub const fn number(self) -> i16 {
        self as i16
    }

    /// The kind of this number.
    pub const fn from_number(number: i16) -> Option<Self> {
        Some(match number {
            0 => Self::Begun,
            1 => Self::Done,
            2 => Self::Failed,
            3 => Self::Undone,
            _ => return None,
        })
    }

    /// Whether the workflow went on with it.
    pub const fn is_outcome(self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }
}

/// One line of what happened in a task. Once written it never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Record {
    /// Which of the things that its workflow asked for, in the order of asking.
    pub seq: i32,
    /// What the record says of it.
    pub kind: Kind,
    /// Which of all records, in the order in which things happened.
    pub ord: i32,
    /// The name of the step, the timer or the signal.
    pub name: String,
    /// How many attempts it took.
    pub attempts: i32,
    /// What it answered, as JSON.
    pub result: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// When a timer is due, or a wait is over.
    pub due_at: Option<Time>,
    /// When it was written.
    pub at: Time,
    /// Who wrote it: the fence of that claim.
    pub fence: Fence,
}

/// Something a task was told from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// Its number in the store; later ones are higher.
    pub id: i64,
    /// What it is called.
    pub name: String,
    /// What it carries, as JSON.
    pub payload: String,
}
