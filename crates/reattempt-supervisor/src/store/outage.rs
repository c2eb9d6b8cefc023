//! Outages of a whole store: no task that a worker holds is judged before every worker could renew
//! its lease, and record what has ended. The price: if the last process of a store died, its tasks
//! continue one lease later.

use std::time::Duration;

use crate::time::Time;

/// What a store knows about the sweeps of all processes. Their gaps show outages: restarts of a
/// server, long locks of a file, suspended machines, and clocks that were set forward. The silence of
/// one worker is no gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sweeps {
    /// When a supervisor noted a sweep last.
    pub(crate) last: Option<Time>,
    /// No held task is judged before this time.
    pub(crate) judge_from: Time,
}

/// What a sweep finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Watch {
    /// Whether the sweep may judge held tasks.
    pub(crate) may_judge: bool,
    /// What it notes, unless the last note is new enough.
    pub(crate) note: Option<Sweeps>,
}

impl Sweeps {
    /// Looks at the sweeps before one at `now`, of a supervisor that sweeps about `every` so often.
    /// `longest` is the longest lease of a worker.
    pub(crate) fn watch(self, now: Time, longest: Duration, every: Duration) -> Watch {
        // A pause between two sweeps is one and a half of `every` at most.
        let part = |time: Duration, of: u32| time.checked_div(of).unwrap_or_default();
        let limit = part(longest, 2).max(every.saturating_mul(3));
        let gap = self.last.map_or(Duration::ZERO, |last| now.since(last));
        // By then each live worker has had time for a heartbeat, and for the records that waited.
        let end = now.after(longest);
        let judge_from = if gap > limit {
            end
        } else {
            // The clock may have been set back.
            self.judge_from.min(end)
        };
        // Each note is a write, so a store with many supervisors keeps only a few of them in each
        // limit.
        let is_new = self.last.is_some_and(|last| last <= now) && gap <= part(limit, 3);
        let note = Self {
            last: Some(now),
            judge_from,
        };
        Watch {
            may_judge: now >= judge_from,
            note: (!is_new).then_some(note),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(seconds: u32) -> Time {
        Time::default().after(SECOND * seconds)
    }

    /// Notes sweeps at these seconds, with a lease of 10 s and a sweep each second.
    fn judges(seconds: &[u32]) -> Vec<bool> {
        let mut sweeps = Sweeps::default();
        let judge = |second: &u32| {
            let watch = sweeps.watch(at(*second), 10 * SECOND, SECOND);
            sweeps = watch.note.unwrap_or(sweeps);
            watch.may_judge
        };
        seconds.iter().map(judge).collect()
    }

    #[test]
    fn leases_are_judged_unless_nobody_has_swept_for_half_a_lease() {
        assert_eq!(judges(&[100, 101, 102, 106, 111]), [true; 5]);
        let found = judges(&[100, 106, 107, 115, 116, 117]);
        assert_eq!(found, [true, false, false, false, false, false]);
        let found = judges(&[100, 106, 110, 114, 115, 116, 117]);
        assert_eq!(found, [true, false, false, false, false, true, true]);
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_stop_the_judging_for_long() {
        let found = judges(&[100, 106, 50, 55, 59, 60, 61]);
        assert_eq!(found, [true, false, false, false, false, true, true]);
    }

    #[test]
    fn slow_supervisors_are_no_outage() {
        let mut sweeps = Sweeps::default();
        for second in [100, 130, 115, 160] {
            let watch = sweeps.watch(at(second), SECOND, 20 * SECOND);
            sweeps = watch.note.unwrap_or(sweeps);
            assert!(watch.may_judge);
        }
    }
}
