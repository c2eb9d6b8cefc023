//! The feed of ends in the store in memory.

use std::collections::BTreeMap;

use super::Tables;
use crate::store::{Ending, FeedCursor, FeedPage};
use crate::task::{State, TaskId};
use crate::time::Time;

/// The lines, and who reads them.
#[derive(Debug, Default)]
pub(super) struct Feed {
    lines: BTreeMap<i64, Ending>,
    /// The readers, and how many lines each has missed.
    readers: BTreeMap<String, (FeedCursor, u64)>,
    /// The tasks that have ended, and how.
    ended: BTreeMap<TaskId, State>,
    last: i64,
    /// The highest number of a line that was deleted.
    pruned: i64,
}

impl Tables {
    /// Writes a line if the task has ended since it was followed last. Returns whether it has.
    pub(super) fn feed_end(&mut self, id: TaskId) -> bool {
        let feed = &mut self.feed;
        let end = self.tasks.get(&id);
        let Some(task) = end.filter(|task| task.state.is_end()) else {
            feed.ended.remove(&id);
            return false;
        };
        if feed.ended.insert(id, task.state) == Some(task.state) {
            return false;
        }
        feed.last = feed.last.saturating_add(1);
        let line = Ending {
            number: feed.last,
            task: id,
            workflow: task.workflow.clone(),
            queue: task.queue.clone(),
            key: task.key.clone(),
            state: task.state,
            error: task.error.clone(),
            headers: task.headers.clone(),
            at: task.updated_at,
        };
        feed.lines.insert(feed.last, line);
        true
    }
}

impl Feed {
    pub(super) fn forget(&mut self, task: TaskId) {
        self.ended.remove(&task);
    }

    /// Returns the next lines for a reader. A new one begins with the lines that are left.
    pub(super) fn read(&mut self, reader: String, limit: u32) -> FeedPage {
        let new = || {
            let cursor = FeedCursor {
                number: self.pruned,
                ..FeedCursor::default()
            };
            (cursor, 0)
        };
        let (cursor, missed) = self.readers.entry(reader).or_insert_with(new).clone();
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let after = self.lines.range(cursor.number.saturating_add(1)..);
        let endings = after.take(limit).map(|(_, line)| line.clone()).collect();
        FeedPage::without_gaps(endings, cursor, missed)
    }

    /// Moves a reader, unless it has moved since.
    pub(super) fn move_reader(&mut self, reader: &str, to: FeedCursor, reported: u64) -> bool {
        let Some((cursor, missed)) = self.readers.get_mut(reader) else {
            return false;
        };
        if cursor.version != to.version {
            return false;
        }
        *missed = missed.saturating_sub(reported);
        *cursor = FeedCursor {
            version: to.version.saturating_add(1),
            ..to
        };
        true
    }

    /// Deletes old lines. Returns how many.
    pub(super) fn prune(&mut self, before: Time, limit: u32) -> u64 {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let first = self.lines.iter().take(limit);
        let old = first.filter(|(_, line)| line.at <= before);
        let old: Vec<_> = old.map(|(number, _)| *number).collect();
        for number in &old {
            self.lines.remove(number);
            self.pruned = self.pruned.max(*number);
            for (cursor, missed) in self.readers.values_mut() {
                *missed = missed.saturating_add(u64::from(cursor.number < *number));
            }
        }
        u64::try_from(old.len()).unwrap_or(u64::MAX)
    }
}
