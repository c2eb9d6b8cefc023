//! The data of a store: tasks, their records, and their signals.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cell::{Cell, NoValue, numbered, wrapped};
use crate::time::Time;

/// The queue of tasks that name none.
pub(crate) const DEFAULT_QUEUE: &str = "default";

/// The shortest lease that a scheduler may have.
pub(crate) const SHORTEST_LEASE: Duration = Duration::from_millis(300);

/// The number of a task in its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub i64);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for TaskId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// How often a task has changed hands. The store refuses writes with an older fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct Fence(pub i64);

impl Fence {
    /// Returns the fence after one more change of hands.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// The right of a worker to write about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lease {
    /// The task.
    pub task: TaskId,
    /// The fence of the claim.
    pub fence: Fence,
}

/// The name of a process that runs tasks. Each start of a process has a new one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct WorkerId(pub String);

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum State {
    /// It waits for a free worker, or for its start time.
    Pending,
    /// A worker runs it.
    Processing,
    /// It waits for a timer or a signal, and no worker holds it.
    Waiting,
    /// It succeeded.
    Processed,
    /// It failed, and there was nothing to undo, or its workflow keeps what it did
    /// ([`OnFailure::Keep`]).
    Error,
    /// It failed, and its steps were undone.
    Compensated,
    /// It was cancelled, and its steps were undone.
    Cancelled,
    /// It needs an operator: a compensation fails again and again, or its code has changed.
    Parked,
    /// It has ended, and its data was deleted. Its key is still taken, so that a late repetition of its
    /// submission stores no second task. See [`Retention`](crate::Retention).
    Pruned,
}

impl State {
    /// Every state, in the order of the numbers.
    pub const ALL: [Self; 9] = [
        Self::Pending,
        Self::Processing,
        Self::Waiting,
        Self::Processed,
        Self::Error,
        Self::Compensated,
        Self::Cancelled,
        Self::Parked,
        Self::Pruned,
    ];

    /// Returns its number in a store.
    pub const fn number(self) -> i16 {
        self as i16
    }

    /// Returns the state with this number.
    pub fn from_number(number: i16) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Returns whether the task stays in this state unless an operator resubmits it.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Pending | Self::Processing | Self::Waiting)
    }

    /// Returns whether the task has ended: a parked one waits for an operator.
    pub(crate) const fn has_ended(self) -> bool {
        self.is_final() && !matches!(self, Self::Parked)
    }

    /// Returns whether the task has ended and its records are there.
    pub(crate) const fn can_be_forked(self) -> bool {
        self.has_ended() && !matches!(self, Self::Pruned)
    }

    /// Returns whether a task that gets into this state has a line in the feed of ends.
    pub const fn is_end(self) -> bool {
        self.is_final() && !matches!(self, Self::Pruned)
    }

    /// Returns its name in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Waiting => "waiting",
            Self::Processed => "processed",
            Self::Error => "error",
            Self::Compensated => "compensated",
            Self::Cancelled => "cancelled",
            Self::Parked => "parked",
            Self::Pruned => "pruned",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for State {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, UnknownState> {
        let found = Self::ALL.into_iter().find(|state| state.as_str() == text);
        found.ok_or_else(|| UnknownState(text.to_owned()))
    }
}

/// A text is not the name of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownState(String);

impl fmt::Display for UnknownState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = State::ALL.map(State::as_str).join(", ");
        write!(f, "`{}` is not a state; the states are {words}", self.0)
    }
}

impl std::error::Error for UnknownState {}

/// The direction of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// It runs its steps.
    Forward,
    /// It failed, and undoes its steps.
    Undoing,
    /// It was cancelled, and undoes its steps.
    Cancelling,
}

impl Direction {
    /// Returns its number in a store.
    pub const fn number(self) -> i16 {
        self as i16
    }

    /// Returns the direction with this number.
    pub const fn from_number(number: i16) -> Option<Self> {
        Some(match number {
            0 => Self::Forward,
            1 => Self::Undoing,
            2 => Self::Cancelling,
            _ => return None,
        })
    }

    /// Returns its name: `forward`, `undoing` or `cancelling`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Undoing => "undoing",
            Self::Cancelling => "cancelling",
        }
    }

    /// Returns the state of a task at its end. `has_undone` says whether a step was undone.
    pub const fn final_state(self, has_undone: bool) -> State {
        match self {
            Self::Forward => State::Processed,
            Self::Undoing if has_undone => State::Compensated,
            Self::Undoing => State::Error,
            Self::Cancelling => State::Cancelled,
        }
    }
}

/// What happens to a task that has failed for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// Its finished steps are undone.
    #[default]
    Undo,
    /// It stays as it is, in [`State::Error`], until an operator decides.
    Keep,
}

impl OnFailure {
    /// Returns its number in a store.
    pub const fn number(self) -> i16 {
        self as i16
    }

    /// Returns the choice with this number.
    pub const fn from_number(number: i16) -> Option<Self> {
        Some(match number {
            0 => Self::Undo,
            1 => Self::Keep,
            _ => return None,
        })
    }
}

/// A task that the store does not have yet. As JSON it is what `retry_submit` reads, and what a schedule keeps: a field that
/// is added is optional there, as stored schedules lack it. The JSON has no `max_pending`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTask {
    /// The name of its workflow.
    pub workflow: String,
    /// The version of its workflow's code.
    pub version: i32,
    /// The queue in which it waits.
    pub queue: String,
    /// Its priority: a lower number goes first.
    pub priority: i16,
    /// Its key. A workflow has one task with each key.
    pub key: String,
    /// The arguments, as JSON.
    pub input: String,
    /// The headers of the submission, a JSON object.
    pub headers: Option<String>,
    /// How long it waits before it starts.
    #[serde(with = "crate::cell")]
    pub delay: Duration,
    /// How long it may take, counted from its submission. A task that takes longer is undone.
    #[serde(default, rename = "complete_in", with = "crate::cell")]
    pub complete_by: Option<Duration>,
    /// How many failures in a row a step may have in one direction.
    pub max_failures: i32,
    /// What happens when it has failed for good.
    #[serde(with = "crate::cell")]
    pub on_failure: OnFailure,
    /// The submission is refused if so many tasks of its queue could run, or wait for their turn.
    #[serde(skip)]
    pub max_pending: Option<u32>,
    /// The lane, which lets one task run at a time, or as many as its limit allows.
    pub lane: Option<String>,
}

impl NewTask {
    /// Returns a task of the first version of a workflow, with these arguments as JSON and the default of all else. Its
    /// first failure ends it: `max_failures` is 0.
    pub fn new(workflow: &str, key: impl Into<String>, input: impl Into<String>) -> Self {
        Self {
            workflow: workflow.to_owned(),
            version: 1,
            queue: DEFAULT_QUEUE.to_owned(),
            priority: 0,
            key: key.into(),
            input: input.into(),
            headers: None,
            delay: Duration::ZERO,
            complete_by: None,
            max_failures: 0,
            on_failure: OnFailure::Undo,
            max_pending: None,
            lane: None,
        }
    }
}

/// A task in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Task {
    /// Its number.
    pub id: TaskId,
    /// The name of its workflow.
    pub workflow: String,
    /// The version of its workflow's code.
    pub version: i32,
    /// The queue in which it waits.
    pub queue: String,
    /// Its priority: a lower number goes first.
    pub priority: i16,
    /// Its key. A workflow has one task with each key.
    pub key: String,
    /// Its state.
    pub state: State,
    /// Its direction.
    pub direction: Direction,
    /// Workers may claim it from this time on. If it is [pruned](State::Pruned), its key is free from this time on.
    pub wake_at: Time,
    /// The task must be done by this time.
    pub complete_by: Option<Time>,
    /// The current step must be done by this time; set for steps that take long.
    pub step_by: Option<Time>,
    /// The worker that holds it.
    pub owner: Option<WorkerId>,
    /// How often it has changed hands.
    pub fence: Fence,
    /// How often it has failed in a row, since its last outcome in this direction.
    pub failures: i32,
    /// How many failures in a row a step may have in one direction.
    pub max_failures: i32,
    /// Whether a cancel is requested.
    pub cancel_requested: bool,
    /// The arguments, as JSON.
    pub input: String,
    /// Its result, as JSON.
    pub output: Option<String>,
    /// The last error.
    pub error: Option<String>,
    /// The headers of the submission, a JSON object.
    pub headers: Option<String>,
    /// How often its key had become free before. The keys of its steps depend on it: a second order under a
    /// key that was free again is no repetition of the first.
    pub incarnation: i32,
    /// What happens when it has failed for good.
    pub on_failure: OnFailure,
    /// How often a worker has died while it held the task, since the task's last outcome.
    pub deaths: i32,
    /// The place of the newest outcome at the last failure or death; -1 if there was none. A newer
    /// outcome starts both counts anew.
    pub failed_ord: i32,
    /// The step whose failure ended the task, or parked it.
    pub failed_seq: Option<i32>,
    /// The lane, which lets one task run at a time, or as many as its limit allows. The task leaves it if its
    /// time is over before it has had its turn.
    pub lane: Option<String>,
    /// How often it has continued as new.
    pub generation: i32,
    /// When it last continued as new.
    pub continued_at: Option<Time>,
    /// Which task it is a fork of.
    pub origin: Option<Origin>,
    /// When it was submitted.
    pub created_at: Time,
    /// When it last changed. If it is [pruned](State::Pruned), until when its line stays.
    pub updated_at: Time,
}

/// What a fork has from the task that it was forked from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The original.
    pub task: TaskId,
    /// The number of the step that the fork runs anew, with what follows.
    pub seq: i32,
    /// The place of the last record that is a copy; -1 if none is.
    pub ord: i32,
    /// When the workflow of the original began: what a workflow gets as the time before its first result.
    #[serde(with = "crate::cell")]
    pub began: Time,
    /// Where the random numbers of calls up to a number begin, the lowest numbers first. The copies may have
    /// been made with them.
    pub seeds: Vec<(i32, u64)>,
}

impl Origin {
    /// Returns whether it is a fork of a task from a step on.
    pub(crate) fn is_of(&self, task: TaskId, seq: i32) -> bool {
        (self.task, self.seq) == (task, seq)
    }
}

/// As JSON.
impl Cell for Origin {
    type Stored = String;

    fn to_stored(&self) -> String {
        serde_json::json!(self).to_string()
    }

    fn from_stored(json: String) -> Result<Self, NoValue> {
        serde_json::from_str(&json)
            .map_err(|error| format!("the origin of a fork cannot be read: {error}").into())
    }
}

/// Returns a task that a worker holds, for tests.
#[cfg(test)]
pub(crate) fn processing_task() -> Task {
    let new = NewTask {
        max_failures: 3,
        ..NewTask::new("w", "k", String::new())
    };
    Task {
        state: State::Processing,
        fence: Fence(1),
        ..Task::new(TaskId(1), new, Time::default())
    }
}

/// Returns the value of a header among these.
pub(crate) fn header_of(headers: Option<&str>, name: &str) -> Option<String> {
    let headers = serde_json::from_str::<serde_json::Value>(headers?).ok()?;
    Some(match headers.get(name)? {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

impl Task {
    /// Returns a task as it is after its submission.
    pub(crate) fn new(id: TaskId, new: NewTask, now: Time) -> Self {
        Self {
            id,
            workflow: new.workflow,
            version: new.version,
            queue: new.queue,
            priority: new.priority,
            key: new.key,
            state: State::Pending,
            direction: Direction::Forward,
            wake_at: now.after(new.delay),
            complete_by: new.complete_by.map(|limit| now.after(limit)),
            step_by: None,
            owner: None,
            fence: Fence::default(),
            failures: 0,
            max_failures: new.max_failures,
            cancel_requested: false,
            input: new.input,
            output: None,
            error: None,
            headers: new.headers,
            incarnation: 0,
            on_failure: new.on_failure,
            deaths: 0,
            failed_ord: -1,
            failed_seq: None,
            lane: new.lane,
            generation: 0,
            continued_at: None,
            origin: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// Returns the submission of the same with another key.
    pub(crate) fn submission(&self, key: String) -> NewTask {
        let Self { created_at, .. } = *self;
        let task = self.clone();
        NewTask {
            workflow: task.workflow,
            version: task.version,
            queue: task.queue,
            priority: task.priority,
            key,
            input: task.input,
            headers: task.headers,
            delay: Duration::ZERO,
            complete_by: task.complete_by.map(|by| by.since(created_at)),
            max_failures: task.max_failures,
            on_failure: task.on_failure,
            max_pending: None,
            lane: task.lane,
        }
    }

    /// Returns the value of a header: a string as it is, anything else as JSON.
    pub fn header(&self, name: &str) -> Option<String> {
        header_of(self.headers.as_deref(), name)
    }

    /// Returns whether the task waits until its lane lets it run.
    pub fn waits_for_turn(&self) -> bool {
        self.state == State::Pending && self.lane.is_some() && self.wake_at == Time::NO_TURN
    }

    /// Returns where the copies among its records are from. The next generation has none.
    pub(crate) fn copies(&self) -> Option<&Origin> {
        self.origin.as_ref().filter(|_| self.generation == 0)
    }

    /// Returns when its workflow began: the time before its first result.
    pub(crate) fn began(&self) -> Time {
        let began = self.copies().map(|origin| origin.began);
        self.continued_at.or(began).unwrap_or(self.created_at)
    }

    /// Returns where the random number of a call begins that the original has made, too.
    pub(crate) fn seed_of_copy(&self, seq: i32) -> Option<u64> {
        let mut seeds = self.copies()?.seeds.iter();
        seeds.find(|(to, _)| seq <= *to).map(|(_, seed)| *seed)
    }

    /// Returns the version whose arguments the task has: `None` if it has continued as new with other ones, or
    /// was pruned.
    pub(crate) fn version_of_input(&self) -> Option<i32> {
        (self.generation == 0 && self.state != State::Pruned).then_some(self.version)
    }

    /// Deletes its data, and keeps its key until then. How often the key has become free stays.
    pub(crate) fn prune(&mut self, key_until: Time, line_until: Time) {
        self.state = State::Pruned;
        self.wake_at = key_until;
        self.updated_at = line_until;
        "null".clone_into(&mut self.input);
        self.output = None;
        self.error = None;
        self.headers = None;
        self.lane = None;
    }

    /// Returns whether the task is pruned, and another may have its key.
    pub(crate) fn has_free_key(&self, now: Time) -> bool {
        // Both times were stored by the prune, so a later one with other settings frees no key
        // early.
        self.state == State::Pruned && self.wake_at <= now
    }

    /// Returns the incarnation of the next task with its free key: the first one again, once its line need not stay.
    pub(crate) fn next_incarnation(&self, now: Time) -> i32 {
        if self.updated_at <= now {
            0
        } else {
            self.incarnation.saturating_add(1)
        }
    }

    /// Returns whether a worker holds the task with this fence.
    pub(crate) fn holds(&self, fence: Fence) -> bool {
        self.state == State::Processing && self.fence == fence
    }
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RecordKind {
    /// A timer, a wait for a signal, or a step that must not run twice has begun.
    Begun,
    /// A call succeeded.
    Done,
    /// A step failed for good, and the workflow got the error.
    Failed,
    /// A step was undone.
    Undone,
}

impl RecordKind {
    /// Returns its name: `begun`, `done`, `failed` or `undone`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Undone => "undone",
        }
    }

    /// Returns its number in a store.
    pub const fn number(self) -> i16 {
        self as i16
    }

    /// Returns the kind with this number.
    pub const fn from_number(number: i16) -> Option<Self> {
        Some(match number {
            0 => Self::Begun,
            1 => Self::Done,
            2 => Self::Failed,
            3 => Self::Undone,
            _ => return None,
        })
    }

    /// Returns whether the workflow got it as a result.
    pub const fn is_outcome(self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }
}

/// One entry in the history of a task. It never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Record {
    /// The number of the call, in the order of the calls of the workflow.
    pub seq: i32,
    /// Its kind.
    pub kind: RecordKind,
    /// The place among all records, in the order of events.
    pub ord: i32,
    /// The name of the step, the timer or the signal.
    pub name: String,
    /// The number of attempts of a step that failed.
    pub attempts: i32,
    /// The result of the step, or the value of the signal, as JSON.
    pub result: Option<String>,
    /// The error of the step.
    pub error: Option<String>,
    /// When a timer is due, or a wait ends.
    pub due_at: Option<Time>,
    /// When the store wrote it.
    pub at: Time,
    /// The fence of the worker that wrote it.
    pub fence: Fence,
    /// A hash of the arguments of the call. `None` for timers, signals, and steps whose arguments are not compared.
    pub args_hash: Option<String>,
    /// The arguments of a step that has an `undo`, as JSON.
    pub args: Option<String>,
    /// The name of the step that undoes this one.
    pub undo: Option<String>,
}

impl Record {
    /// Returns whether it begins a timer or a wait for a signal. The end of such a call is not
    /// progress.
    pub(crate) fn begins_wait(&self) -> bool {
        self.kind == RecordKind::Begun
            && (self.due_at.is_some() || self.name.starts_with("signal "))
    }
}

/// A step that has failed and has no outcome yet, or had failed before its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailingStep {
    /// The direction in which it failed: the step itself, or its compensation.
    pub direction: Direction,
    /// The number of the call.
    pub seq: i32,
    /// How often it has failed in this direction.
    pub failures: i32,
    /// Its last error.
    pub error: String,
    /// When it failed last.
    pub at: Time,
}

/// What an operator has said about a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperatorNote {
    /// The number of the step; `None` if the operator spoke of the whole task.
    pub seq: Option<i32>,
    /// `not done`, `done` or `undo` of a step; `cancel`, `park`, `resubmit`, `undo` or
    /// `give up` of the task; `fork` of a task that is a fork.
    pub verdict: String,
    /// The operator.
    pub by: String,
    /// How the operator knows, or the reason.
    pub why: String,
    /// When the store wrote it.
    pub at: Time,
}

wrapped!(TaskId: i64, Fence: i64, WorkerId: String);
numbered!(State: "state", Direction: "direction", OnFailure: "choice on failure", RecordKind: "kind");

/// The name of the signal by which a store says that a child of the task has ended. Its payload is the
/// number of the child. The triggers of the stores have the same text.
pub(crate) const CHILD_ENDED: &str = "reattempt:child";

/// The name of the signal by which a supervisor says that an agent has answered. Its payload is the number of the call in
/// its task. A statement of PostgreSQL has the same text.
pub(crate) const AGENT_ANSWERED: &str = "reattempt:call";

/// With this begin the names of signals that stores send.
pub(crate) const RESERVED: &str = "reattempt:";

/// A value that was sent to a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// Its number in the store. Later signals have higher numbers.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Its value, as JSON.
    pub payload: String,
}

/// A step that a worker runs, as the worker reported it, or one for agents that waits for their answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunningStep {
    /// The task.
    pub task: TaskId,
    /// The number of the step.
    pub seq: i32,
    /// The fence of the worker.
    pub fence: Fence,
    /// The worker; of agents their queue, the attempt, and whether one of them has taken it.
    pub worker: WorkerId,
    /// The name of the step.
    pub name: String,
    /// When it began, or agents might take it.
    pub since: Time,
    /// A supervisor gives the task to another worker after this time.
    pub due: Option<Time>,
}

impl RunningStep {
    /// Returns the lease under which the step runs.
    pub const fn lease(&self) -> Lease {
        Lease {
            task: self.task,
            fence: self.fence,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What schedules have kept: the form stays readable, and what may be missing is its default.
    #[test]
    fn a_task_of_a_schedule() {
        let least = r#"{"workflow":"report","version":2,"queue":"default","priority":0,"key":"","input":"7",
            "delay":1500000,"max_failures":5,"on_failure":1}"#;
        let task = NewTask {
            version: 2,
            delay: Duration::from_millis(1500),
            max_failures: 5,
            on_failure: OnFailure::Keep,
            ..NewTask::new("report", "", "7")
        };
        assert_eq!(
            serde_json::from_str::<NewTask>(least).ok(),
            Some(task.clone())
        );
        let whole = NewTask {
            headers: Some(r#"{"tenant":"a"}"#.to_owned()),
            complete_by: Some(Duration::from_secs(60)),
            lane: Some("a".to_owned()),
            ..task
        };
        let text = r#"{"workflow":"report","version":2,"queue":"default","priority":0,"key":"","input":"7","headers":"{\"tenant\":\"a\"}","delay":1500000,"complete_in":60000000,"max_failures":5,"on_failure":1,"lane":"a"}"#;
        assert_eq!(serde_json::to_string(&whole).ok().as_deref(), Some(text));
        assert_eq!(serde_json::from_str::<NewTask>(text).ok(), Some(whole));
    }
}
