//! Workflows that a worker does not know, and whose tasks wait in its queues.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::time::Time;

/// A workflow that a worker does not know, and whose tasks wait in one of its queues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWorkflow {
    /// The queue.
    pub queue: String,
    /// The name of the workflow.
    pub workflow: String,
    /// Its version.
    pub version: i32,
    /// How long its oldest task has been ready.
    pub waited: Duration,
}

impl UnknownWorkflow {
    /// How many a store returns at most.
    pub const LIMIT: usize = 100;
}

/// Finds the oldest task of each workflow that is not known.
#[derive(Debug)]
pub(crate) struct OldestTasks<'a> {
    known: &'a [(String, i32)],
    oldest: BTreeMap<(String, String, i32), Time>,
}

impl<'a> OldestTasks<'a> {
    pub(crate) const fn new(known: &'a [(String, i32)]) -> Self {
        Self {
            known,
            oldest: BTreeMap::new(),
        }
    }

    /// Adds a task that is ready, or will be.
    pub(crate) fn add(&mut self, queue: &str, workflow: &str, version: i32, wake_at: Time) {
        let is_it = |(name, known): &(String, i32)| name == workflow && *known == version;
        if !self.known.iter().any(is_it) {
            let group = (queue.to_owned(), workflow.to_owned(), version);
            let oldest = self.oldest.entry(group).or_insert(wake_at);
            *oldest = wake_at.min(*oldest);
        }
    }

    /// Returns the workflows whose tasks have been ready for at least so long.
    pub(crate) fn waiting(self, now: Time, at_least: Duration) -> Vec<UnknownWorkflow> {
        let waiting = self.oldest.into_iter();
        let waiting = waiting.filter(|(_, oldest)| oldest.after(at_least) <= now);
        let unknown = |((queue, workflow, version), oldest)| UnknownWorkflow {
            queue,
            workflow,
            version,
            waited: now.since(oldest),
        };
        waiting.take(UnknownWorkflow::LIMIT).map(unknown).collect()
    }
}
