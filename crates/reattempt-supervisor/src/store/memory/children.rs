//! Children in the store in memory.

use super::{Tables, restart};
use crate::store::{Submitted, WriteResult};
use crate::task::{
    CHILD_ENDED, Direction, Fence, Lease, NewTask, OnFailure, Record, Signal, State, Task, TaskId,
};
use crate::time::Time;

impl Tables {
    /// Stores a child with the record of its start.
    pub(super) fn start(
        &mut self,
        lease: Lease,
        record: Record,
        new: NewTask,
        now: Time,
    ) -> WriteResult {
        let mut child = None;
        let mut taken = None;
        let written = self.write_held(lease, now, |tables, _| {
            if let Some(old) = tables.find_record(lease.task, &record) {
                let id = old.result.as_deref().and_then(|id| id.parse().ok());
                // A repeated start finds the child of the first one.
                child = id.filter(|_| old.fence == lease.fence);
                return child.is_some();
            }
            let WriteResult::Submitted(Submitted { id, is_new, .. }) = tables.submit(new, now)
            else {
                return false;
            };
            if !is_new {
                taken = Some(id);
                return false;
            }
            tables.parents.insert(id, lease.task);
            tables.unended.insert(id);
            child = Some(id.0);
            let result = Some(id.to_string());
            tables.record(lease, Record { result, ..record }, now)
        });
        if let Some(other) = taken {
            return WriteResult::KeyTaken(other);
        }
        match (written, child) {
            (WriteResult::Written(status), Some(id)) => WriteResult::Started(status, TaskId(id)),
            (written, _) => written,
        }
    }

    /// Adds a signal to the parent of a child that has ended, and wakes it if it waits for no other.
    pub(super) fn tell_parent(&mut self, child: TaskId, now: Time) {
        let Some(parent) = self.parents.get(&child).copied() else {
            return;
        };
        if !(self.tasks.get(&child)).is_some_and(|task| task.state.has_ended()) {
            // An operator may have resubmitted it: its next end is another signal.
            self.unended.insert(child);
            return;
        }
        let (true, Some(task)) = (self.unended.remove(&child), self.tasks.get_mut(&parent)) else {
            return;
        };
        self.last_signal = self.last_signal.saturating_add(1);
        self.signals.entry(parent).or_default().push(Signal {
            id: self.last_signal,
            name: CHILD_ENDED.to_owned(),
            payload: child.to_string(),
        });
        if task.state == State::Waiting
            && let Some(left) = self.awaits.get_mut(&parent)
        {
            *left = left.saturating_sub(1);
            task.updated_at = now;
            if *left == 0 {
                task.state = State::Pending;
                task.wake_at = now;
                self.has_woken_a_parent = true;
            }
        }
    }

    /// Ends children of a task that turns back.
    pub(super) fn end_children(
        &mut self,
        lease: Lease,
        children: &[TaskId],
        undo: bool,
        now: Time,
    ) -> WriteResult {
        let mut ended = Vec::new();
        let written = self.write_held(lease, now, |tables, _| {
            for id in children {
                if tables.parents.get(id) != Some(&lease.task) {
                    continue;
                }
                let Some(child) = tables.tasks.get_mut(id) else {
                    continue;
                };
                if child.state == State::Parked && !child.cancel_requested {
                    tables.failing.remove(id);
                }
                end_child(child, undo, now);
                ended.push((*id, child.state));
                tables.follow(*id, now);
            }
            true
        });
        match written {
            WriteResult::Written(status) => WriteResult::Children(status, ended),
            lost => lost,
        }
    }
}

/// Cancels a child that has not ended, once; with `undo`, turns back one that has.
fn end_child(child: &mut Task, undo: bool, now: Time) {
    let is_new = !child.cancel_requested;
    match child.state {
        State::Processing if is_new => {}
        // No worker has ever held it, so there is nothing to undo.
        State::Pending | State::Waiting if is_new && child.fence == Fence(0) => {
            child.state = State::Cancelled;
        }
        State::Pending | State::Waiting if is_new => {
            child.state = State::Pending;
            child.wake_at = now;
        }
        State::Parked if is_new => restart(child, now),
        // It ended in an error because it had nothing to undo.
        State::Error if child.on_failure == OnFailure::Undo => return,
        State::Processed | State::Error if undo => {
            child.direction = Direction::Cancelling;
            restart(child, now);
        }
        _ => return,
    }
    child.cancel_requested = true;
    child.updated_at = now;
}
