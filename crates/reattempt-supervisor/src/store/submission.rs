//! A task that the store does not have yet.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use super::error::StoreError;
use super::key::{is_of_store, random_key};
use super::writes::Submitted;
use crate::task::NewTask;
use crate::time::Time;

/// How many bytes a key, a lane and a queue may have: PostgreSQL keeps them in indexes, whose entries have at
/// most 2,704.
const LONGEST_NAME: usize = 1_000;

/// A task that is not submitted yet: the function of a workflow returns it.
#[must_use = "a submission does nothing before `Client::submit`"]
pub struct Submission<W> {
    new: Result<NewTask, serde_json::Error>,
    is_strict: bool,
    is_detached: bool,
    /// Whether the caller has set anything but arguments.
    has_settings: bool,
    workflow: PhantomData<fn() -> W>,
}

impl<W> Submission<W> {
    pub(crate) fn new(new: Result<NewTask, serde_json::Error>) -> Self {
        Self {
            new,
            is_strict: false,
            is_detached: false,
            has_settings: false,
            workflow: PhantomData,
        }
    }

    /// Returns the task to store, with a random key where the caller gave none.
    ///
    /// # Errors
    ///
    /// Fails if the arguments cannot be written as JSON, if the key, the lane or the queue is too long, or if the
    /// headers are not a JSON object.
    pub(crate) fn into_new_task(self) -> Result<NewTask, StoreError> {
        let mut new = self.new.map_err(|error| {
            StoreError::lasting("the arguments cannot be written as JSON").because(error)
        })?;
        // A submission without a key has one, too, so that the writer can repeat it.
        if new.key.is_empty() {
            new.key = random_key(Time::of_this_machine());
        }
        check_names(&new)?;
        if let Some(headers) = &new.headers {
            let object =
                serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(headers);
            object.map_err(|error| {
                StoreError::lasting("the headers are not a JSON object").because(error)
            })?;
        }
        Ok(new)
    }

    /// Returns a task whose key a schedule sets.
    ///
    /// # Errors
    ///
    /// Fails also if the caller gave it a key.
    #[cfg(feature = "cron")]
    pub(crate) fn into_task_without_key(self) -> Result<NewTask, StoreError> {
        if self.new.as_ref().is_ok_and(|new| !new.key.is_empty()) {
            return Err(StoreError::lasting(
                "a schedule sets the keys of its tasks; leave out `key`",
            ));
        }
        self.into_new_task()
    }

    /// Returns the task of a child with this key.
    ///
    /// # Errors
    ///
    /// Fails also if the caller gave it a key.
    pub(crate) fn into_child(self, key: String) -> Result<NewTask, StoreError> {
        if self.new.as_ref().is_ok_and(|new| !new.key.is_empty()) {
            return Err(StoreError::lasting(
                "a child has a key of its own; leave out `key`",
            ));
        }
        let mut new = self.into_new_task()?;
        // Set after the check, which refuses keys of the store.
        new.key = key;
        Ok(new)
    }

    /// Returns the arguments of the next generation of a task.
    ///
    /// # Errors
    ///
    /// Fails also if the caller has set anything else.
    pub(crate) fn into_arguments(self) -> Result<String, StoreError> {
        if self.has_settings {
            return Err(StoreError::lasting(
                "the task keeps its key, queue, lane and limits; leave out all settings but the arguments",
            ));
        }
        Ok(self.into_new_task()?.input)
    }

    /// Returns whether other arguments under the same key are an error.
    pub(crate) const fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// Returns whether a child outlives the failure of its parent.
    pub(crate) const fn is_detached(&self) -> bool {
        self.is_detached
    }

    fn with(mut self, change: impl FnOnce(&mut NewTask)) -> Self {
        self.has_settings = true;
        if let Ok(new) = &mut self.new {
            change(new);
        }
        self
    }

    /// Sets the key. Only the first submission of a workflow with a key stores a task; the others
    /// find that task.
    ///
    /// # Units and ranges
    ///
    /// At most 1,000 bytes, as the queue and the lane. Submitting fails with a longer one, and with one that
    /// begins with `~`: such keys are those of the store.
    ///
    /// # Default
    ///
    /// A random key: each submission stores a task.
    pub fn key(self, key: impl Into<String>) -> Self {
        self.with(|new| new.key = key.into())
    }

    /// Makes it an error if a task of the same version has the same key and other arguments. A task that was
    /// pruned has no arguments any more, so the submission finds it as if they were the same.
    ///
    /// # Default
    ///
    /// The submission finds the task, and says that its arguments differ. So a producer that submits
    /// again after its code has changed does not fail.
    pub fn strict(self) -> Self {
        Self {
            is_strict: true,
            has_settings: true,
            ..self
        }
    }

    /// Lets a child go on, or stay as it has ended, when its parent fails or is cancelled: see
    /// [`WorkflowContext::start`](crate::WorkflowContext::start). A task that no workflow starts has no
    /// parent.
    ///
    /// # Default
    ///
    /// A child ends with a parent that turns back: a running one is cancelled, a finished one is undone.
    pub fn detached(self) -> Self {
        Self {
            is_detached: true,
            has_settings: true,
            ..self
        }
    }

    /// Sets the queue in which the task waits for a scheduler that takes tasks from it:
    /// [`Scheduler::queues`](crate::Scheduler::queues).
    ///
    /// # Default
    ///
    /// `"default"`.
    pub fn queue(self, queue: impl Into<String>) -> Self {
        self.with(|new| new.queue = queue.into())
    }

    /// Sets the priority within the queue: a lower number goes first.
    ///
    /// # Default
    ///
    /// 0.
    pub fn priority(self, priority: i16) -> Self {
        self.with(|new| new.priority = priority)
    }

    /// Puts the task into a lane: its tasks run one at a time, or as many as
    /// [`Client::limit_lanes`](crate::Client::limit_lanes) allows, in the order of their submission,
    /// whatever their workflow, queue and process. The next one starts when the one before has ended; one that fails,
    /// sleeps, waits for a signal or is parked keeps its turn. A delay comes first, and then the task
    /// takes its place. Many tasks in one lane do not delay those of other lanes.
    ///
    /// A lane costs a row while it has tasks, so a lane for each customer is fine. While a parent waits for
    /// a child, it keeps its turn, so a child cannot be in the lane of its parent.
    ///
    /// # Default
    ///
    /// The task is in no lane.
    pub fn lane(self, lane: impl Into<String>) -> Self {
        self.with(|new| new.lane = Some(lane.into()))
    }

    /// Sets how long the task waits before it starts.
    ///
    /// # Default
    ///
    /// The task starts at once.
    pub fn delay(self, delay: Duration) -> Self {
        self.with(|new| new.delay = delay)
    }

    /// Sets how long the task may take, counted from its submission. A task that takes longer is
    /// undone.
    ///
    /// # Default
    ///
    /// The `complete_by` of the workflow.
    pub fn complete_by(self, limit: Duration) -> Self {
        self.with(|new| new.complete_by = Some(limit))
    }

    /// Adds a JSON object that the store keeps with the task, such as trace ids.
    ///
    /// # Errors
    ///
    /// Submitting fails if it is not a JSON object.
    pub fn headers(self, json: impl Into<String>) -> Self {
        self.with(|new| new.headers = Some(json.into()))
    }
}

impl<W> fmt::Debug for Submission<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Submission").field(&self.new).finish()
    }
}

/// Returns an error if a task cannot have its key, lane or queue.
pub(crate) fn check_names(new: &NewTask) -> Result<(), StoreError> {
    if is_of_store(&new.key) {
        return Err(StoreError::lasting(format!(
            "keys that begin with `~` are those of the store; use another key for `{}`",
            new.key
        )));
    }
    let lane = new.lane.as_deref().unwrap_or_default();
    for (what, name) in [("key", &*new.key), ("lane", lane), ("queue", &new.queue)] {
        if name.len() > LONGEST_NAME {
            return Err(StoreError::lasting(format!(
                "the {what} has {} bytes, and may have {LONGEST_NAME}: use a shorter one, such as a hash",
                name.len()
            )));
        }
    }
    Ok(())
}

/// Returns an error if a task has other arguments than a strict submission.
pub(crate) fn check_arguments(
    submitted: Submitted,
    is_strict: bool,
) -> Result<Submitted, StoreError> {
    if is_strict && submitted.same_arguments == Some(false) {
        return Err(StoreError::lasting(format!(
            "task {} has the same key and other arguments: use another key, or leave out `strict` to get that task",
            submitted.id
        )));
    }
    Ok(submitted)
}
