//! What happens to tasks, for operators.

use std::time::Duration;

use crate::store::{ErrorKind, QueueStatus, Reclaimed, UnknownWorkflow};
use crate::task::{RunningStep, State, TaskId, WorkerId};

/// Something that happened to a task, or to a store.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A worker claimed the task.
    Claimed {
        /// The task.
        task: TaskId,
        /// The name of its workflow.
        workflow: String,
        /// How long the task had been ready.
        waited: Duration,
    },
    /// A step of the task began. Steps with a record do not run again.
    StepStarted {
        /// The task.
        task: TaskId,
        /// The name of its workflow.
        workflow: String,
        /// The number of the step; a compensation has that of the step that it undoes.
        seq: i32,
        /// The name of the step.
        step: String,
    },
    /// A step of the task ended in this process. Its record may not be on disk yet.
    StepEnded {
        /// The task.
        task: TaskId,
        /// The name of its workflow.
        workflow: String,
        /// The number of the step; a compensation has that of the step that it undoes.
        seq: i32,
        /// The name of the step.
        step: String,
        /// How it ended.
        ending: StepEnding,
        /// How long it took, with all attempts and the delays between them.
        duration: Duration,
    },
    /// The task ended.
    Ended {
        /// The task.
        task: TaskId,
        /// The name of its workflow.
        workflow: String,
        /// Its final state.
        state: State,
        /// Why it ended so; `None` if it was processed.
        error: Option<String>,
    },
    /// The task continued as new.
    Continued {
        /// The task.
        task: TaskId,
        /// The name of its workflow.
        workflow: String,
        /// The number of the generation that begins.
        generation: i32,
    },
    /// The task failed and will run again.
    Failed {
        /// The task.
        task: TaskId,
        /// The name of its workflow.
        workflow: String,
        /// The number of failures: of the step that failed, or of the task in a row.
        failures: i32,
        /// How long it waits before it runs again.
        delay: Duration,
        /// Why it failed.
        error: String,
    },
    /// The task failed or was cancelled, and its steps will be undone.
    TurnedBack {
        /// The task.
        task: TaskId,
        /// The name of its workflow.
        workflow: String,
        /// Why it failed.
        error: String,
    },
    /// A supervisor reclaimed the task, because its worker or its time was gone.
    Reclaimed(Reclaimed),
    /// This worker has lost the task to another one; the store refused its last write.
    Lost {
        /// The task.
        task: TaskId,
        /// The name of its workflow.
        workflow: String,
    },
    /// What a queue has to do. A supervisor reports every queue once in 15 s on average, and one that has
    /// nothing to do any more once with zeros.
    Queue(QueueStatus),
    /// For how long the oldest transaction of the database is open. It keeps PostgreSQL from clearing away what tasks
    /// have left: claims stay quick, but the tables grow. A supervisor reports it once in 15 s on average. Of other
    /// roles' transactions it knows only with the rights of `pg_read_all_stats`.
    OldestSnapshot(Duration),
    /// Tasks of a workflow that this scheduler does not have wait in one of its queues.
    UnknownWorkflow(UnknownWorkflow),
    /// Steps block all threads of the runtime. Nothing runs in this process, and its lease runs out.
    Blocked {
        /// The worker.
        worker: WorkerId,
        /// The steps that have a thread now.
        steps: Vec<RunningStep>,
    },
    /// The store has an error.
    StoreError {
        /// The message.
        error: String,
        /// Whether and how it goes away.
        kind: ErrorKind,
        /// The task that it is about, if it is known.
        task: Option<TaskId>,
        /// The table that it is about, if it is known.
        table: Option<String>,
    },
}

impl Event {
    /// Returns whether an operator should look: a task ended in [`State::Error`] or
    /// [`State::Parked`], steps block the runtime, no worker takes the tasks of a workflow, or the
    /// store has an error.
    pub const fn is_alert(&self) -> bool {
        matches!(
            self,
            Self::StoreError { .. }
                | Self::Blocked { .. }
                | Self::UnknownWorkflow(_)
                | Self::Ended {
                    state: State::Error | State::Parked,
                    ..
                }
                | Self::Reclaimed(Reclaimed {
                    state: State::Error | State::Parked,
                    ..
                })
        )
    }
}

/// How a step ended in one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StepEnding {
    /// It returned a value.
    Done,
    /// It failed for good.
    Failed,
    /// Its attempts are used up or its time is over, and it may run again later.
    Again,
    /// It was dropped, or the outcome of its transaction is unknown.
    Unknown,
}

impl StepEnding {
    /// Returns the name that log lines and metrics have: `done`, `failed`, `again` or `unknown`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Again => "again",
            Self::Unknown => "unknown",
        }
    }
}
