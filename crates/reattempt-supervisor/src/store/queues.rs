//! What the queues have to do.

use std::time::Duration;

use super::TaskLimit;

/// What a queue has to do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueStatus {
    /// The queue.
    pub queue: String,
    /// How many tasks could run and wait for a worker. Tasks that sleep do not count.
    pub pending: u64,
    /// How long the oldest of them has waited.
    pub oldest: Duration,
    /// How many tasks a worker runs.
    pub in_flight: u64,
    /// How many tasks wait for an operator.
    pub parked: u64,
    /// How many of its tasks may run at once and begin in a period.
    pub limit: TaskLimit,
}

impl QueueStatus {
    /// How many queues a store returns at most.
    pub const LIMIT: usize = 100;

    /// How far a store counts: each of the numbers may be smaller than the true one if that is larger.
    pub const COUNTED: u64 = 10_000;

    /// Returns the status of a queue without such tasks and limits.
    pub(crate) fn empty(queue: String) -> Self {
        Self {
            queue,
            ..Self::default()
        }
    }
}
