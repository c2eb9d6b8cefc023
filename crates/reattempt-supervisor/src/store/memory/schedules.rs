//! Schedules.

use super::Tables;
use crate::store::{ScheduleState, ScheduleWrite, Schedules, StoredSchedule};
use crate::time::Time;

impl Tables {
    /// Stores a schedule, and submits its tasks. Returns `false` if another process has written it
    /// since.
    pub(super) fn store_schedule(&mut self, write: ScheduleWrite, now: Time) -> bool {
        let ScheduleWrite { schedule, tasks } = write;
        let old = self.schedules.get(&schedule.name);
        let seen = old.map_or((0, i64::MIN), |old| (old.version, old.revision));
        // Of two processes that have read the same version one is too late: otherwise a time would
        // get two tasks. A process with older code must not replace a newer definition.
        if seen.0 != schedule.version || seen.1 > schedule.revision {
            return false;
        }
        let version = schedule.version.saturating_add(1);
        let stored = StoredSchedule {
            version,
            ..schedule
        };
        self.schedules.insert(stored.name.clone(), stored);
        for task in tasks {
            self.submit(task, now);
        }
        true
    }

    /// Returns all schedules, or those whose time has come.
    pub(super) fn schedules(&self, due: Option<u32>, now: Time) -> Schedules {
        let is_due = |schedule: &&StoredSchedule| {
            due.is_none() || schedule.state == ScheduleState::Active && schedule.next_at <= now
        };
        let mut all: Vec<_> = self.schedules.values().filter(is_due).cloned().collect();
        if let Some(limit) = due {
            all.sort_by_key(|schedule| schedule.next_at);
            all.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            all.sort_by(|one, other| one.name.cmp(&other.name));
        }
        Schedules { now, all }
    }
}
