//! How far a task has come: the place of its newest outcome.

use std::collections::HashSet;

use crate::task::{Record, RecordKind};

/// The place of the newest outcome of a step. Timers and signals that have ended are not progress: a
/// task that polls would never end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LastOutcome {
    ord: i32,
    /// The calls that are timers or waits for signals.
    waits: HashSet<i32>,
}

impl LastOutcome {
    pub(crate) fn new() -> Self {
        Self {
            ord: -1,
            waits: HashSet::new(),
        }
    }

    /// Returns the newest outcome of records in their order.
    pub(crate) fn of(records: &[Record]) -> Self {
        let mut last = Self::new();
        for record in records {
            last.add(record);
        }
        last
    }

    /// Adds a record that is on disk. A call begins before it ends.
    pub(crate) fn add(&mut self, record: &Record) {
        if record.begins_wait() {
            self.waits.insert(record.seq);
        } else if record.kind != RecordKind::Begun && !self.waits.contains(&record.seq) {
            self.ord = self.ord.max(record.ord);
        }
    }

    /// Returns its place; -1 if there is none.
    pub(crate) const fn ord(&self) -> i32 {
        self.ord
    }
}
