//! Prunes tasks.

use super::Tables;
use crate::store::Retention;
use crate::task::{State, Task};
use crate::time::Time;

impl Tables {
    /// Deletes the data of old tasks that have ended, and keys that have stayed long enough. Returns
    /// how many both were.
    pub(super) fn prune(&mut self, retention: Retention, limit: u32, now: Time) -> u64 {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let is_free = |task: &&Task| task.state == State::Pruned && task.updated_at <= now;
        let free: Vec<_> = (self.tasks.values().filter(is_free))
            .map(|task| (task.workflow.clone(), task.key.clone()))
            .take(limit)
            .collect();
        for key in &free {
            if let Some(id) = self.keys.remove(key) {
                self.tasks.remove(&id);
            }
        }
        // A parent may be undone later, by its own parent or an operator, and then needs its
        // children. A generation that has ended has left only detached ones.
        let is_needed = |child: &Task| {
            let parent = self.parents.get(&child.id);
            parent.and_then(|id| self.tasks.get(id)).is_some_and(|up| {
                let is_there = up.state != State::Pruned;
                is_there && up.continued_at.is_none_or(|at| at <= child.created_at)
            })
        };
        let is_old = |task: &&Task| {
            task.state.has_ended()
                && task.state != State::Pruned
                && task.updated_at.after(retention.tasks) <= now
                && !is_needed(task)
        };
        let old: Vec<_> = (self.tasks.values().filter(is_old))
            .map(|task| task.id)
            .take(limit)
            .collect();
        for id in &old {
            let is_child = self.parents.remove(id).is_some();
            if let Some(mut task) = self.tasks.remove(id) {
                match retention.key_until(task.updated_at, &task.key, is_child, now) {
                    Some(until) => {
                        task.prune(until, until.after(retention.forget_keys));
                        self.tasks.insert(*id, task);
                    }
                    None => {
                        self.keys.remove(&(task.workflow, task.key));
                    }
                }
            }
            self.feed.forget(*id);
            self.records.remove(id);
            self.failing.remove(id);
            self.notes.remove(id);
            self.signals.remove(id);
            self.nonces.retain(|(task, _)| task != id);
        }
        u64::try_from(old.len().saturating_add(free.len())).unwrap_or(u64::MAX)
    }
}
