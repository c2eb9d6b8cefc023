//! Follows a task, and waits for its end.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Client, PAUSES, SubmitError};
use crate::local::{LocalEnding, LocalTask};
use crate::store::Submitted;
use crate::task::{FailingStep, OperatorNote, Record, RunningStep, State, Task, TaskId};

/// How long a caller that waits for a task relies on notifications of the store.
const SLOW_LOOK: Duration = Duration::from_secs(5);

/// A handle to a submitted task whose result is a `T`.
pub struct TaskHandle<T> {
    pub(super) id: TaskId,
    pub(super) submitted: Option<Submitted>,
    /// Set if this handle submitted the task, which had not ended then.
    pub(super) local: Option<Arc<LocalTask>>,
    pub(super) client: Client,
    pub(super) output: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for TaskHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskHandle").field(&self.id).finish()
    }
}

/// The progress of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// The task in the store.
    pub task: Task,
    /// Its records so far.
    pub history: Vec<Record>,
    /// The steps that run, if they have run for a quarter of a second, and those that agents have or may take.
    pub running: Vec<RunningStep>,
    /// Its steps that have failed, and how often.
    pub failures: Vec<FailingStep>,
    /// What operators have said about its steps.
    pub notes: Vec<OperatorNote>,
}

impl<T> TaskHandle<T> {
    /// Returns the number of the task, by which [`Client::task`] finds it again.
    pub const fn id(&self) -> TaskId {
        self.id
    }

    /// Returns what the store answered when this handle submitted the task: whether the task is new,
    /// and whether it has the same arguments. `None` for a handle of [`Client::task`].
    pub const fn submitted(&self) -> Option<Submitted> {
        self.submitted
    }

    /// Returns the progress of the task.
    ///
    /// # Errors
    ///
    /// Fails if there is no such task, or if the store has an error.
    pub async fn progress(&self) -> Result<Progress, SubmitError> {
        let task = self.client.read(|store| store.task(self.id)).await?;
        let task = task.ok_or(SubmitError::UnknownTask(self.id))?;
        let history = self.client.read(|store| store.history(self.id)).await?;
        let failures = self.client.read(|store| store.failures(self.id)).await?;
        let running = match task.state {
            // A task may wait for agents.
            State::Pending | State::Processing | State::Waiting => {
                self.client.read(|store| store.running(self.id)).await?
            }
            _ => Vec::new(),
        };
        let notes = self.client.read(|store| store.notes(self.id)).await?;
        Ok(Progress {
            task,
            history,
            running,
            failures,
            notes,
        })
    }

    /// Follows the task to its end. Calls `on_progress` whenever there is something new, and a last
    /// time at the end.
    ///
    /// # Errors
    ///
    /// Fails if there is no such task, or if the store has an error.
    ///
    /// # Cancel safety
    ///
    /// The task goes on if the future is dropped.
    pub async fn follow(
        &self,
        mut on_progress: impl FnMut(&Progress),
    ) -> Result<Task, SubmitError> {
        let mut last = None;
        let mut pause = PAUSES.0;
        let local = self.client.0.local_task(self.id);
        let mut endings = local.subscribe();
        loop {
            endings.mark_unchanged();
            let progress = self.progress().await?;
            let is_final = progress.task.state.is_final();
            let now = (
                progress.task.state,
                progress.task.fence,
                progress.history.len(),
            );
            if last != Some(now) {
                on_progress(&progress);
                last = Some(now);
                pause = PAUSES.0;
            }
            if is_final {
                return Ok(progress.task);
            }
            let _ = tokio::time::timeout(pause, endings.changed()).await;
            pause = pause.saturating_mul(2).min(PAUSES.1);
        }
    }
}

impl<T: DeserializeOwned> TaskHandle<T> {
    /// Waits for the end of the task and returns its result. It waits without a limit, and a task that no
    /// scheduler takes never ends: put `tokio::time::timeout` around it where your own caller waits.
    ///
    /// # Errors
    ///
    /// Fails if the task did not succeed, if there is no such task, or if the store has an error.
    ///
    /// # Cancel safety
    ///
    /// The task goes on if the future is dropped.
    pub async fn wait(&self) -> Result<T, SubmitError> {
        let LocalEnding {
            state,
            output,
            error,
        } = self.ending().await?;
        if state != State::Processed {
            let why = error.unwrap_or_default();
            return Err(SubmitError::Ended(self.id, state, why));
        }
        serde_json::from_str(output.as_deref().unwrap_or("null")).map_err(SubmitError::Json)
    }

    /// Waits for the end of the task, in this process or in the store.
    async fn ending(&self) -> Result<LocalEnding, SubmitError> {
        let local = self.client.0.local_task(self.id);
        let mut endings = local.subscribe();
        // A task that has ended may have been resubmitted; the store knows.
        let mut must_look = self.local.is_none() || endings.borrow_and_update().is_some();
        let store = self.client.store();
        let mut pause = PAUSES.0;
        let mut has_looked = false;
        loop {
            // Before the look: an end between the look and the wait counts, too.
            let end = store.wait_for_end(self.id);
            if must_look {
                has_looked = true;
                let task = self.client.read(|store| store.task(self.id)).await?;
                let task = task.ok_or(SubmitError::UnknownTask(self.id))?;
                if task.state.is_final() {
                    return Ok(LocalEnding {
                        state: task.state,
                        output: task.output,
                        error: task.error,
                    });
                }
            }
            // Another process may have ended it before.
            let limit = match end {
                Some(_) if has_looked => SLOW_LOOK,
                _ if local.is_running() => PAUSES.1,
                _ => pause,
            };
            let ended_elsewhere = async {
                match end {
                    Some(end) => end.await,
                    None => std::future::pending().await,
                }
            };
            let is_named = tokio::select! {
                biased;
                changed = endings.changed() => {
                    if changed.is_ok()
                        && let Some(ending) = endings.borrow_and_update().clone()
                    {
                        return Ok(ending);
                    }
                    false
                }
                () = ended_elsewhere => true,
                () = tokio::time::sleep(limit) => false,
            };
            // If the task has started here meanwhile, its worker publishes the ending.
            must_look = is_named || limit >= PAUSES.1 || !local.is_running();
            pause = pause.saturating_mul(2).min(PAUSES.1);
        }
    }
}
