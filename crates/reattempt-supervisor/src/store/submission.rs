//! A task that the store does not have yet.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use super::error::StoreError;
use crate::task::NewTask;
use crate::time::Time;

/// A task that is not submitted yet: the function of a workflow returns it.
#[must_use = "a submission does nothing before `Client::submit`"]
pub struct Submission<W> {
    new: Result<NewTask, serde_json::Error>,
    workflow: PhantomData<fn() -> W>,
}

impl<W> Submission<W> {
    pub(crate) fn new(new: Result<NewTask, serde_json::Error>) -> Self {
        Self {
            new,
            workflow: PhantomData,
        }
    }

    /// Returns the task to store, with a random key where the caller gave none.
    ///
    /// # Errors
    ///
    /// Fails if the arguments cannot be written as JSON.
    pub(crate) fn into_new_task(self) -> Result<NewTask, StoreError> {
        let mut new = self.new.map_err(|error| {
            StoreError::lasting("the arguments cannot be written as JSON").because(error)
        })?;
        if new.key.is_empty() {
            new.key = random_key(Time::of_this_machine());
        }
        Ok(new)
    }

    fn with(mut self, change: impl FnOnce(&mut NewTask)) -> Self {
        if let Ok(new) = &mut self.new {
            change(new);
        }
        self
    }

    /// Sets the key. Only the first submission of a workflow with a key stores a task; the others
    /// find that task.
    ///
    /// # Default
    ///
    /// A random key: each submission stores a task.
    pub fn key(self, key: impl Into<String>) -> Self {
        self.with(|new| new.key = key.into())
    }

    /// Sets the queue in which the task waits.
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
    pub fn headers(self, json: impl Into<String>) -> Self {
        self.with(|new| new.headers = Some(json.into()))
    }
}

impl<W> fmt::Debug for Submission<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Submission").field(&self.new).finish()
    }
}

/// Returns a random key. Later keys sort behind earlier ones, so that a large store writes its
/// index in one place.
fn random_key(now: Time) -> String {
    let (micros, random) = (now.as_micros(), rand::random::<u64>());
    format!("{micros:016x}{random:016x}")
}
