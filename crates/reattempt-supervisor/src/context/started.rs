//! A child that a task has started.

use crate::task::{Record, TaskId};

/// With this begin the names of the records of starts; no step has such a name.
pub(super) const START: &str = "start ";

/// A child that was started, and that ends with this task.
#[derive(Debug, Clone)]
pub(crate) struct StartedChild {
    pub(crate) task: TaskId,
    /// The call that started it.
    pub(crate) seq: i32,
    /// The place of its record.
    pub(crate) ord: i32,
    pub(crate) name: String,
}

impl StartedChild {
    pub(super) fn of(record: &Record) -> Option<Self> {
        let id = record
            .result
            .as_deref()
            .filter(|_| record.name.starts_with(START));
        let id = id?.parse().ok()?;
        Some(Self {
            task: TaskId(id),
            seq: record.seq,
            ord: record.ord,
            name: record.name.clone(),
        })
    }
}
