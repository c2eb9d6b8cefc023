//! How far a task has come: the place of its newest outcome.

use std::collections::HashSet;

use crate::task::{Record, RecordKind};

/// What a record says about progress.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Milestone {
    pub(crate) seq: i32,
    ord: i32,
    begins: bool,
    begins_wait: bool,
}

impl Milestone {
    pub(crate) fn of(record: &Record) -> Self {
        Self {
            seq: record.seq,
            ord: record.ord,
            begins: record.kind == RecordKind::Begun,
            begins_wait: record.begins_wait(),
        }
    }
}

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
            last.add(Milestone::of(record));
        }
        last
    }

    /// Adds a record that is on disk. A call begins before it ends.
    pub(crate) fn add(&mut self, record: Milestone) {
        // Only the beginning of a call says that it is a wait; its end looks like that of a step.
        if record.begins_wait {
            self.waits.insert(record.seq);
        } else if !record.begins && !self.waits.contains(&record.seq) {
            self.ord = self.ord.max(record.ord);
        }
    }

    /// Returns its place; -1 if there is none.
    pub(crate) const fn ord(&self) -> i32 {
        self.ord
    }
}
