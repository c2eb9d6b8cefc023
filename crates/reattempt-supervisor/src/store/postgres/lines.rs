//! The lines of running steps that this process has reported and that may still be there. Most steps end before
//! they are reported, and then no statement looks for their lines. A process of a later lease reports its own.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::store::Write;
use crate::task::{Lease, RecordKind, State};

/// The lines, by lease and number of the step.
#[derive(Debug, Default)]
pub(super) struct Lines(Mutex<BTreeSet<(Lease, i32)>>);

impl Lines {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<(Lease, i32)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the lines that these writes are about to add, and those that they remove.
    pub(super) fn follow(&self, writes: &[Write]) {
        for write in writes {
            if let Write::Running { started, ended } = write {
                self.remove(ended);
                let started = started.iter().map(|step| (step.lease(), step.seq));
                self.lock().extend(started);
            }
        }
    }

    /// Returns the lines that end with these writes.
    pub(super) fn ended_by(&self, writes: &[Write]) -> Vec<(Lease, i32)> {
        let lines = self.lock();
        if lines.is_empty() {
            return Vec::new();
        }
        let mut ended = Vec::new();
        for write in writes {
            match write {
                // A beginning is recorded before the step runs.
                Write::Record(lease, record) if record.kind != RecordKind::Begun => {
                    ended.extend(lines.get(&(*lease, record.seq)));
                }
                // The worker still holds the task, and its other steps go on.
                Write::Change(_, change) if change.state == State::Processing => {}
                Write::Change(lease, _) | Write::Continue(lease, _) => {
                    ended.extend(lines.range((*lease, i32::MIN)..=(*lease, i32::MAX)));
                }
                _ => {}
            }
        }
        ended
    }

    /// Forgets lines that are gone.
    pub(super) fn remove(&self, ended: &[(Lease, i32)]) {
        let mut lines = self.lock();
        for line in ended {
            lines.remove(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::store::{Change, Counts, NextGeneration, Wake};
    use crate::task::{Direction, Fence, RunningStep, TaskId, WorkerId};
    use crate::time::Time;

    fn lease(task: i64) -> Lease {
        let (task, fence) = (TaskId(task), Fence(1));
        Lease { task, fence }
    }

    fn start(task: i64, seq: i32) -> RunningStep {
        RunningStep {
            task: TaskId(task),
            seq,
            fence: Fence(1),
            worker: WorkerId("one".to_owned()),
            name: "step".to_owned(),
            since: Time::default(),
            due: None,
        }
    }

    fn change_to(state: State) -> Write {
        let change = Change {
            state,
            direction: Direction::Forward,
            counts: Counts::NONE,
            failing_step: None,
            wake: Wake::In(Duration::ZERO),
            output: None,
            error: None,
            failed_seq: None,
        };
        Write::Change(lease(2), Box::new(change))
    }

    fn continue_as_new() -> Write {
        let next = NextGeneration {
            generation: 1,
            version: 1,
            input: String::new(),
            heard: Vec::new(),
        };
        Write::Continue(lease(2), Box::new(next))
    }

    #[test]
    fn the_lines_of_a_task_end_when_nobody_holds_it() {
        let lines = Lines::default();
        let started = vec![
            start(1, 0),
            start(2, 0),
            start(2, 1),
            start(2, 2),
            start(3, 0),
        ];
        let ended = Vec::new();
        lines.follow(&[Write::Running { started, ended }]);
        let (started, ended) = (vec![start(2, 3)], vec![(lease(2), 2)]);
        lines.follow(&[Write::Running { started, ended }]);
        assert_eq!(lines.ended_by(&[change_to(State::Processing)]), []);
        let left = [(lease(2), 0), (lease(2), 1), (lease(2), 3)];
        assert_eq!(lines.ended_by(&[change_to(State::Waiting)]), left);
        assert_eq!(lines.ended_by(&[continue_as_new()]), left);
        // As long as the write is not known to be there.
        assert_eq!(lines.ended_by(&[change_to(State::Processed)]), left);
        lines.remove(&left);
        assert_eq!(lines.ended_by(&[change_to(State::Processed)]), []);
    }
}
