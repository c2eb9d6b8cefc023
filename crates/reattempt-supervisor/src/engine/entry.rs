//! Entries in the journal of an engine.

use serde::{Deserialize, Serialize};

use crate::task::{Fence, Record, RecordKind};
use crate::time::Time;

/// The result of one command in the journal of an engine, as JSON or another format of serde.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub(super) seq: i32,
    pub(super) name: String,
    pub(super) what: What,
    /// Microseconds since 1970.
    pub(super) at: i64,
    #[serde(default)]
    pub(super) args_hash: Option<String>,
    #[serde(default)]
    pub(super) args: Option<String>,
    #[serde(default)]
    pub(super) undo: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum What {
    /// A step that must not run twice begins.
    Begun,
    /// A call succeeded, with this result as JSON.
    Done(Option<String>),
    /// A step failed for good.
    Failed { error: String, attempts: i32 },
    /// A step was undone.
    Undone,
    /// The task was not done by its `complete_by`.
    Expired,
}

impl Entry {
    /// Returns the entry of a record.
    pub(super) fn of(record: Record, now: Time) -> Self {
        let what = match record.kind {
            RecordKind::Begun => What::Begun,
            RecordKind::Undone => What::Undone,
            RecordKind::Done => What::Done(record.result),
            RecordKind::Failed => What::Failed {
                error: record.error.unwrap_or_default(),
                attempts: record.attempts,
            },
        };
        Self {
            seq: record.seq,
            name: record.name,
            what,
            at: now.as_micros(),
            args_hash: record.args_hash,
            args: record.args,
            undo: record.undo,
        }
    }

    /// Converts the entry into the `nth` record of its task.
    pub(super) fn into_record(self, nth: usize) -> Record {
        let (kind, result, error, attempts) = match self.what {
            What::Begun => (RecordKind::Begun, None, None, 0),
            What::Done(result) => (RecordKind::Done, result, None, 0),
            What::Failed { error, attempts } => (RecordKind::Failed, None, Some(error), attempts),
            What::Undone | What::Expired => (RecordKind::Undone, None, None, 0),
        };
        Record {
            seq: self.seq,
            kind,
            ord: i32::try_from(nth).unwrap_or(i32::MAX),
            name: self.name,
            attempts,
            result,
            error,
            due_at: None,
            at: Time::from_micros(self.at),
            fence: Fence::default(),
            args_hash: self.args_hash,
            args: self.args,
            undo: self.undo,
        }
    }
}
