//! Reclaims tasks.

use std::time::Duration;

use super::{Tables, keep_failure, set_counts};
use crate::store::expiry::find_expiry;
use crate::store::last_outcome::LastOutcome;
use crate::store::next_state::failures_of;
use crate::store::{Expiry, Failure, NextState, Overdue, Reclaimed, Sweep};
use crate::task::{TaskId, WorkerId};
use crate::time::Time;

impl Tables {
    /// Reclaims expired tasks.
    pub(super) fn sweep(&mut self, sweep: &Sweep, now: Time) -> Vec<Reclaimed> {
        let longest = self.leases.values().map(|(_, lease)| *lease).max();
        let watch = self
            .sweeps
            .watch(now, longest.unwrap_or_default(), sweep.every);
        self.sweeps = watch.note.unwrap_or(self.sweeps);
        let mut reclaimed = Vec::new();
        let limit = usize::try_from(sweep.limit).unwrap_or(usize::MAX);
        let ids: Vec<TaskId> = self.tasks.keys().copied().collect();
        for id in ids {
            let steps = self.running_steps(id);
            let steps = steps.iter().filter_map(|step| Some((step.due?, step.seq)));
            let (due, overdue) = steps.min().unzip();
            let Some(task) = self.tasks.get_mut(&id) else {
                continue;
            };
            if reclaimed.len() >= limit {
                break;
            }
            let leases = &self.leases;
            let is_alive =
                |worker: &WorkerId| leases.get(worker).is_some_and(|(until, _)| *until > now);
            let Some(expiry) = find_expiry(task, due, now, watch.may_judge, is_alive) else {
                continue;
            };
            let records = self.records.get(&task.id);
            let progress = LastOutcome::of(records.map_or(&[], Vec::as_slice)).ord();
            let failing = self.failing.get(&id).map_or(&[][..], Vec::as_slice);
            let overdue = overdue
                .filter(|_| expiry == Expiry::Step)
                .map(|seq| Overdue {
                    seq,
                    failures: failures_of(failing, task.direction, seq),
                });
            let before = Failure::before(task, progress, overdue);
            let next = NextState::after_expiry(task, expiry, before, &sweep.delays, rand::random());
            let one = Reclaimed::new(task, expiry, overdue, next);
            task.failed_seq = one.failed_seq().or(task.failed_seq);
            if let Some(step) = one.failing_step.clone() {
                keep_failure(self.failing.entry(id).or_default(), step, now);
            }
            task.state = next.state;
            task.direction = next.direction;
            set_counts(task, next.counts);
            task.wake_at = now.after(next.delay);
            task.error = Some(one.error.clone());
            task.owner = None;
            task.step_by = None;
            task.fence = task.fence.next();
            task.updated_at = now;
            reclaimed.push(one);
        }
        // After the loop, because both look at other tasks.
        for one in &reclaimed {
            self.follow(one.task, now);
        }
        self.leases
            .retain(|_, (until, _)| until.after(Duration::from_secs(3_600)) > now);
        reclaimed
    }
}
