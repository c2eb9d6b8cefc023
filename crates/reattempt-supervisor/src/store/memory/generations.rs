//! Tasks that continue as new, in the store in memory.

use super::{Tables, set_counts};
use crate::store::{Counts, LeaseStatus, NextGeneration, WriteResult};
use crate::task::{CHILD_ENDED, Lease, State};
use crate::time::Time;

impl Tables {
    /// Ends the generation of a task. The random bits of its signals stay, so that none comes again.
    pub(super) fn continue_as_new(
        &mut self,
        lease: Lease,
        next: NextGeneration,
        now: Time,
    ) -> WriteResult {
        // A writer that does not know repeats it.
        if let Some(task) = self.tasks.get(&lease.task)
            && task.fence == lease.fence
            && task.state != State::Processing
            && task.generation == next.generation
        {
            return WriteResult::Written(LeaseStatus {
                now,
                cancel_requested: task.cancel_requested,
            });
        }
        self.write_held(lease, now, |tables, task| {
            task.state = State::Pending;
            task.owner = None;
            task.step_by = None;
            set_counts(task, Counts::NONE);
            task.failed_seq = None;
            task.error = None;
            task.generation = next.generation;
            task.version = next.version;
            task.input = next.input;
            task.continued_at = Some(now);
            task.wake_at = now;
            task.updated_at = now;
            tables.awaits.remove(&task.id);
            tables.records.remove(&task.id);
            tables.failing.remove(&task.id);
            tables.running.retain(|(id, _), _| *id != task.id);
            // The next generation cannot wait for children of this one, so signals about their ends
            // go, too.
            if let Some(signals) = tables.signals.get_mut(&task.id) {
                signals.retain(|one| one.name != CHILD_ENDED && !next.heard.contains(&one.id));
            }
            true
        })
    }
}
