//! The writes of tasks that are locked: by an application that commits a step, or by an operator.
//! They wait apart, in the order of their task, so that no other write waits with them.

use std::collections::HashMap;

use tokio::sync::oneshot;

use super::job::Job;
use crate::store::Write;
use crate::task::TaskId;

/// The locked tasks, and for each the jobs that have come since the last group of its writes, which is
/// under way.
#[derive(Debug, Default)]
pub(super) struct Locked(HashMap<TaskId, Vec<Job>>);

impl Locked {
    /// Adds a task. Its next group is to be written apart.
    pub(super) fn add(&mut self, task: TaskId) {
        self.0.entry(task).or_default();
    }

    /// Keeps the jobs of locked tasks, and returns the others.
    pub(super) fn keep(&mut self, jobs: Vec<Job>) -> Vec<Job> {
        if self.0.is_empty() {
            return jobs;
        }
        let others = jobs.into_iter().filter_map(|job| self.keep_one(job));
        others.collect()
    }

    fn keep_one(&mut self, mut job: Job) -> Option<Job> {
        // A report has lines of many tasks. Only those of locked tasks wait: supervisors must hear of
        // the others in time.
        if matches!(job.write, Write::Running { .. }) {
            for (task, waiting) in &mut self.0 {
                // No caller waits for the result of a report.
                let (reply, _) = oneshot::channel();
                let write = job.write.take_report(*task);
                let reply = reply.into();
                waiting.extend(write.map(|write| Job { write, reply }));
            }
            return Some(job);
        }
        // A write of several tasks queues up behind the first of them that is locked. Written
        // apart, it waits for the other locks itself.
        let task = job.write.tasks().find(|task| self.0.contains_key(task));
        match task.and_then(|task| self.0.get_mut(&task)) {
            Some(waiting) => {
                waiting.push(job);
                None
            }
            None => Some(job),
        }
    }

    /// Returns the jobs of the next group of a task whose last one is written. Forgets the task if there is none.
    pub(super) fn next_jobs(&mut self, task: TaskId) -> Option<Vec<Job>> {
        let jobs = self.0.remove(&task)?;
        if jobs.is_empty() {
            return None;
        }
        // The task stays here while its group is under way: later writes must not overtake the
        // group.
        self.add(task);
        Some(jobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Fence, Lease};

    fn job(write: Write) -> Job {
        let (reply, _) = oneshot::channel();
        let reply = reply.into();
        Job { write, reply }
    }

    fn lease(task: i64, fence: i64) -> Lease {
        Lease {
            task: TaskId(task),
            fence: Fence(fence),
        }
    }

    /// A write of a task; the fences tell the writes apart.
    fn write(task: i64, fence: i64) -> Write {
        Write::ClearDeaths(lease(task, fence))
    }

    fn writes(jobs: Vec<Job>) -> Vec<Write> {
        jobs.into_iter().map(|job| job.write).collect()
    }

    fn next(locked: &mut Locked) -> Option<Vec<Write>> {
        Some(writes(locked.next_jobs(TaskId(1))?))
    }

    #[test]
    fn the_writes_of_a_locked_task_wait_in_their_order() {
        let mut locked = Locked::default();
        locked.add(TaskId(1));
        let others = locked.keep(vec![
            job(write(1, 1)),
            job(write(2, 1)),
            job(write(1, 2)),
            job(Write::Leave(crate::task::WorkerId("one".to_owned()))),
        ]);
        assert_eq!(writes(others).first(), Some(&write(2, 1)));
        assert_eq!(next(&mut locked), Some(vec![write(1, 1), write(1, 2)]));
        // While that is under way, the next ones wait.
        assert!(locked.keep(vec![job(write(1, 3))]).is_empty());
        assert_eq!(next(&mut locked), Some(vec![write(1, 3)]));
        assert_eq!(next(&mut locked), None);
        assert_eq!(locked.keep(vec![job(write(1, 4))]).len(), 1);
    }

    #[test]
    fn of_a_report_the_part_of_a_locked_task_waits() {
        let report = |ended: &[(i64, i32)]| Write::Running {
            started: Vec::new(),
            ended: (ended.iter().map(|(task, seq)| (lease(*task, 1), *seq))).collect(),
        };
        let mut locked = Locked::default();
        locked.add(TaskId(1));
        let others = locked.keep(vec![job(report(&[(1, 0), (2, 0), (1, 1)]))]);
        assert_eq!(writes(others), [report(&[(2, 0)])]);
        assert_eq!(next(&mut locked), Some(vec![report(&[(1, 0), (1, 1)])]));
    }
}
