//! The feed of ends: a line for each end of a task, and how far each reader has got.

use serde::Serialize;

#[cfg(any(feature = "postgres", feature = "sqlite"))]
use super::StoreError;
use crate::task::{State, TaskId, header_of};
use crate::time::Time;

/// The end of a task, a line of the feed. A task that an operator continues has another line when it ends again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ending {
    /// The number of the line. A later end of a task has a higher number; ends of two tasks may be committed in
    /// another order than that of their numbers.
    pub number: i64,
    /// The task.
    pub task: TaskId,
    /// The name of its workflow.
    pub workflow: String,
    /// Its queue.
    pub queue: String,
    /// Its key.
    pub key: String,
    /// How it ended: processed, error, compensated, cancelled or parked.
    pub state: State,
    /// Its last error; also that of a failure that it has survived.
    pub error: Option<String>,
    /// The headers of its submission, a JSON object.
    pub headers: Option<String>,
    /// When it ended, by the clock of the store.
    pub at: Time,
}

impl Ending {
    /// Returns the value of a header: a string as it is, anything else as JSON.
    pub fn header(&self, name: &str) -> Option<String> {
        header_of(self.headers.as_deref(), name)
    }
}

/// How far a reader of the feed has got.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeedCursor {
    /// The highest number of a line that it has got.
    pub number: i64,
    /// Numbers below it that were not there when it looked: those of transactions that were open or are rolled back.
    pub gaps: Vec<FeedGap>,
    /// How often the store has moved it.
    pub version: i64,
}

/// Numbers below the cursor of a reader that were not there, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedGap {
    /// The lowest of them.
    pub first: i64,
    /// The highest of them.
    pub last: i64,
    /// The number of a transaction that began after they were noticed; `None` before the cursor is stored with them.
    pub noticed: Option<i64>,
}

/// The next lines for a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    /// The lines, by their numbers.
    pub endings: Vec<Ending>,
    /// How many lines were deleted before the reader got them.
    pub missed: u64,
    /// Where the reader is.
    pub cursor: FeedCursor,
    /// Where it is once it has got these lines.
    pub next: FeedCursor,
}

impl FeedPage {
    /// Returns the page of a store in which transactions end in the order of their numbers.
    pub(crate) fn without_gaps(endings: Vec<Ending>, cursor: FeedCursor, missed: u64) -> Self {
        let number = endings.last().map_or(cursor.number, |last| last.number);
        let next = FeedCursor {
            number,
            ..cursor.clone()
        };
        Self {
            endings,
            missed,
            cursor,
            next,
        }
    }
}

/// Returns the error for a reader that has gone since it was added: an operator may have deleted it.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(super) fn unknown_reader() -> StoreError {
    StoreError::passing("the reader of the feed is gone")
}
