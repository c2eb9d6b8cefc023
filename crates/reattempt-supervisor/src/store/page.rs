//! Parts of long histories: one record may be large, and there may be many.

use super::StoreError;
use crate::task::{Fence, Record, RecordKind, Signal, Task};

/// How many bytes a page has at most, unless it has a single item.
pub(crate) const BYTES: usize = 1 << 20;

/// How many items a page has at most.
pub(crate) const ITEMS: usize = 4_096;

/// What an item takes besides its texts.
pub(crate) const OVERHEAD: usize = 128;

/// A part of what a store knows about a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The fence of the task after the items were read. As long as it stays the same, only the
    /// worker adds or deletes records.
    pub fence: Fence,
    /// The items.
    pub items: Vec<T>,
    /// Whether there are no items after these.
    pub is_last: bool,
}

impl<T> Page<T> {
    /// Converts the items.
    pub(crate) fn map(self, with: impl FnMut(T) -> T) -> Self {
        Self {
            items: self.items.into_iter().map(with).collect(),
            ..self
        }
    }
}

/// Returns the place of a record, which no other record of the task has.
pub(crate) const fn place(record: &Record) -> (i32, RecordKind) {
    (record.seq, record.kind)
}

/// Returns about how many bytes a record has.
pub(crate) fn record_size(record: &Record) -> usize {
    let texts = [&record.result, &record.error, &record.args];
    let sizes = texts.into_iter().flatten().map(String::len);
    sizes.fold(OVERHEAD, usize::saturating_add)
}

/// Returns about how many bytes a signal has.
pub(crate) const fn signal_size(signal: &Signal) -> usize {
    signal.payload.len().saturating_add(OVERHEAD)
}

/// Takes the items of one page, and returns whether there are no more.
pub(crate) fn take<T, E>(
    items: impl Iterator<Item = Result<T, E>>,
    size: impl Fn(&T) -> usize,
) -> Result<(Vec<T>, bool), E> {
    let mut taken = Vec::new();
    let mut bytes = 0_usize;
    for item in items {
        let item = item?;
        bytes = bytes.saturating_add(size(&item));
        // At least one item: a history with a record above the limit must be readable.
        if !taken.is_empty() && (bytes > BYTES || taken.len() >= ITEMS) {
            return Ok((taken, false));
        }
        taken.push(item);
    }
    Ok((taken, true))
}

/// Returns a page of a task, or `None` if there is no task.
pub(super) fn with_fence<T>(
    task: Option<Task>,
    items: Vec<T>,
    size: impl Fn(&T) -> usize,
) -> Result<Option<Page<T>>, StoreError> {
    let (items, is_last) = take(items.into_iter().map(Ok::<_, StoreError>), size)?;
    Ok(task.map(|task| Page {
        fence: task.fence,
        items,
        is_last,
    }))
}
