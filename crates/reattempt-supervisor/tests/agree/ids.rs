//! The numbers that stores give to tasks and signals differ: a number that was not used is not used again. Here
//! tasks have their place among all tasks, and signals have one among those of their task.

use std::collections::{BTreeMap, BTreeSet};

use reattempt_supervisor::store::{
    AdminCommand, ClaimedTask, HeldTask, Reclaimed, Submitted, Wake, Write, WriteResult,
};
use reattempt_supervisor::{Lease, Origin, Record, RunningStep, Signal, State, Task, TaskId, Time};

/// The name of the records and signals of children, which contain numbers of tasks.
pub(crate) const CHILD: &str = "child";

/// The numbers in one store.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    tasks: Vec<TaskId>,
    signals: BTreeMap<i64, i64>,
    of_task: BTreeMap<TaskId, i64>,
    /// The tasks that have continued as new after a signal. Some stores keep a line for it.
    heard: BTreeSet<TaskId>,
}

impl Ids {
    /// Returns the number in the store of a task, or one that no task has.
    pub(crate) fn real(&self, task: TaskId) -> TaskId {
        let place = usize::try_from(task.0).unwrap();
        self.tasks
            .get(place)
            .copied()
            .unwrap_or(TaskId(1_000_000 + task.0))
    }

    /// Returns the place of a task. A new one comes last.
    pub(crate) fn place(&mut self, real: TaskId) -> TaskId {
        let place = self.tasks.iter().position(|one| *one == real);
        let place = place.unwrap_or_else(|| {
            self.tasks.push(real);
            self.tasks.len() - 1
        });
        TaskId(i64::try_from(place).unwrap())
    }

    /// Returns all tasks that there ever were.
    pub(crate) fn all(&self) -> Vec<TaskId> {
        self.tasks.clone()
    }

    fn real_signal(&self, place: i64) -> i64 {
        let found = self.signals.iter().find(|(_, known)| **known == place);
        found.map_or(place, |(real, _)| *real)
    }

    /// Returns the place of a signal. A new one comes last.
    pub(crate) fn signal(&mut self, task: TaskId, real: i64) -> i64 {
        if real == 0 {
            return 0;
        }
        let place = self.place(task).0;
        *self.signals.entry(real).or_insert_with(|| {
            let count = self.of_task.entry(task).or_default();
            *count += 1;
            place * 1_000 + *count
        })
    }

    fn lease(&self, lease: Lease) -> Lease {
        Lease {
            task: self.real(lease.task),
            ..lease
        }
    }

    /// Returns a write for the store.
    pub(crate) fn write(&mut self, write: &Write) -> Write {
        let mut write = write.clone();
        match &mut write {
            Write::Record(lease, _) | Write::Start(lease, ..) | Write::ClearDeaths(lease) => {
                *lease = self.lease(*lease);
            }
            Write::EndChildren {
                lease, children, ..
            } => {
                *lease = self.lease(*lease);
                for child in children {
                    *child = self.real(*child);
                }
            }
            Write::Running { started, ended } => {
                for step in started {
                    step.task = self.real(step.task);
                }
                for (lease, _) in ended {
                    *lease = self.lease(*lease);
                }
            }
            Write::Change(lease, change) => {
                *lease = self.lease(*lease);
                if let Wake::At(_, seen) | Wake::Children { seen, .. } = &mut change.wake {
                    *seen = self.real_signal(*seen);
                }
            }
            Write::Continue(lease, next) => {
                if !next.heard.is_empty() {
                    self.heard.insert(lease.task);
                }
                *lease = self.lease(*lease);
                for signal in &mut next.heard {
                    *signal = self.real_signal(*signal);
                }
            }
            Write::GiveBack(leases) => {
                for lease in leases {
                    *lease = self.lease(*lease);
                }
            }
            Write::Signal { task, .. } | Write::Admin(task, _) => *task = self.real(*task),
            Write::Fork(fork) => fork.origin.task = self.real(fork.origin.task),
            _ => {}
        }
        write
    }

    /// Returns what a result says, with places.
    pub(crate) fn result(&mut self, result: WriteResult) -> WriteResult {
        match result {
            WriteResult::Submitted(one) => WriteResult::Submitted(Submitted {
                id: self.place(one.id),
                ..one
            }),
            WriteResult::Claimed(claimed, again) => {
                let with_place = |one: ClaimedTask| {
                    let task = self.task(one.task);
                    let has_signals = one.has_signals || self.heard.contains(&task.id);
                    ClaimedTask {
                        task,
                        has_signals,
                        ..one
                    }
                };
                WriteResult::Claimed(claimed.into_iter().map(with_place).collect(), again)
            }
            WriteResult::Started(status, child) => WriteResult::Started(status, self.place(child)),
            WriteResult::KeyTaken(other) => WriteResult::KeyTaken(self.place(other)),
            WriteResult::Children(status, mut children) => {
                for (child, _) in &mut children {
                    *child = self.place(*child);
                }
                children.sort_by_key(|(child, _)| *child);
                WriteResult::Children(status, children)
            }
            other => other,
        }
    }

    /// Returns a task with its place. One that waits for nothing may have any time to wake up.
    pub(crate) fn task(&mut self, task: Task) -> Task {
        let is_due = matches!(task.state, State::Pending | State::Waiting | State::Pruned);
        let origin = task.origin.map(|origin| Origin {
            task: self.place(origin.task),
            ..origin
        });
        Task {
            id: self.place(task.id),
            origin,
            wake_at: if is_due {
                task.wake_at
            } else {
                Time::default()
            },
            ..task
        }
    }

    pub(crate) fn held(&mut self, held: HeldTask) -> HeldTask {
        HeldTask {
            lease: Lease {
                task: self.place(held.lease.task),
                ..held.lease
            },
            // It may be one that was heard, and that only some stores keep.
            signal: 0,
            ..held
        }
    }

    pub(crate) fn reclaimed(&mut self, one: Reclaimed) -> Reclaimed {
        Reclaimed {
            task: self.place(one.task),
            ..one
        }
    }

    pub(crate) fn running(&mut self, step: RunningStep) -> RunningStep {
        RunningStep {
            task: self.place(step.task),
            ..step
        }
    }

    pub(crate) fn record(&mut self, record: Record) -> Record {
        let result = match &record.result {
            Some(result) if record.name == CHILD => Some(self.child(result)),
            result => result.clone(),
        };
        Record { result, ..record }
    }

    pub(crate) fn signal_of(&mut self, task: TaskId, signal: Signal) -> Signal {
        let payload = match signal.name.as_str() {
            "reattempt:child" => self.child(&signal.payload),
            _ => signal.payload,
        };
        Signal {
            id: self.signal(task, signal.id),
            payload,
            ..signal
        }
    }

    /// Returns the number of a child in a text, with its place.
    fn child(&mut self, text: &str) -> String {
        let child = text.parse().map(TaskId).ok();
        match child.filter(|child| self.tasks.contains(child)) {
            Some(child) => format!("task {}", self.place(child)),
            None => text.to_owned(),
        }
    }
}

/// Returns the command of an operator with a name.
pub(crate) fn signed(command: AdminCommand) -> AdminCommand {
    AdminCommand::Signed {
        command: Box::new(command),
        by: "Ada".to_owned(),
        why: "it is known".to_owned(),
    }
}
