//! Forks in the store in memory.

use super::Tables;
use crate::store::{Fork, Submitted, WriteResult};
use crate::task::{Fence, OperatorNote, Record};
use crate::time::Time;

impl Tables {
    /// Stores a fork with its copies.
    pub(super) fn fork(&mut self, fork: Fork, now: Time) -> WriteResult {
        let key = (fork.new.workflow.clone(), fork.new.key.clone());
        let there = self.keys.get(&key).and_then(|id| self.tasks.get(id));
        if let Some(there) = there.filter(|there| !there.has_free_key(now)) {
            return WriteResult::of_fork(&fork, there.id, there.origin.as_ref());
        }
        let Fork {
            new,
            origin,
            fence,
            note,
        } = fork;
        let original = self.tasks.get(&origin.task);
        if !original.is_some_and(|task| task.fence == fence && task.state.can_be_forked()) {
            return WriteResult::Lost;
        }
        let result = self.submit(new, now);
        let WriteResult::Submitted(Submitted { id, .. }) = result else {
            return result;
        };
        let records = self.records.get(&origin.task).into_iter().flatten();
        let first = records.filter(|old| old.kind.is_outcome() && old.ord <= origin.ord);
        let copies = first.map(|old| Record {
            fence: Fence(0),
            args: None,
            undo: None,
            ..old.clone()
        });
        self.records.insert(id, copies.collect());
        let note = note.map(|note| OperatorNote { at: now, ..note });
        self.notes.entry(id).or_default().extend(note);
        if let Some(task) = self.tasks.get_mut(&id) {
            task.origin = Some(origin);
        }
        result
    }
}
