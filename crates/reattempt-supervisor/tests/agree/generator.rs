//! Random operations: what workers, clients and operators do, sometimes too late.

mod values;

use std::collections::BTreeSet;
use std::time::Duration;

use rand::RngExt as _;
use rand::distr::uniform::SampleUniform;
use rand::rngs::StdRng;
use reattempt_supervisor::store::{Change, Filter, Write};
use reattempt_supervisor::{
    Fence, Lease, NewTask, Record, RecordKind, Retention, TaskId, TaskLimit, Time, WorkerId,
};

use crate::ids::CHILD;
use crate::s;
use crate::subject::Seen;

const WORKERS: [&str; 3] = ["a", "b", "c"];

/// What happens to each store.
#[derive(Debug)]
pub(crate) enum Operation {
    /// Time passes.
    Pass(Duration),
    /// One transaction.
    Write(Vec<Write>),
    Heartbeat(&'static str, Duration),
    Sweep,
    List(Filter),
}

/// Generates operations from a seed and from what the stores have shown.
pub(crate) struct Generator {
    random: StdRng,
    now: Time,
    leases: Vec<Lease>,
    signals: Vec<i64>,
    tasks: i64,
    /// The place of the next record.
    ord: i32,
    /// The numbers of the waits that have begun.
    waits: Vec<i32>,
    /// The changes with which workers have given up tasks.
    last: Vec<(Lease, Change)>,
}

impl Generator {
    pub(crate) const fn new(random: StdRng, now: Time) -> Self {
        Self {
            random,
            now,
            leases: Vec::new(),
            signals: Vec::new(),
            tasks: 0,
            ord: 0,
            waits: Vec::new(),
            last: Vec::new(),
        }
    }

    /// Learns what there is now.
    pub(crate) fn learn(&mut self, seen: Seen, now: Time) {
        self.now = now;
        self.leases.extend(seen.leases);
        (self.tasks, self.signals) = (seen.tasks, seen.signals);
    }

    pub(crate) fn next(&mut self) -> Operation {
        match self.below(20) {
            0..3 => Operation::Pass(Duration::from_millis(1 + self.below(9_000))),
            3 => Operation::Pass(s(self.below(60))),
            4..6 => Operation::Heartbeat(self.one_of(&WORKERS), s(10)),
            6 if self.is(4) => Operation::List(self.filter()),
            6 if self.is(6) => Operation::Write(vec![self.prune()]),
            6 if self.is(4) => Operation::Write(vec![self.limit_lanes()]),
            6 => Operation::Sweep,
            7 => {
                let mut all: Vec<_> = (0..3).filter_map(|_| self.write_beside_others()).collect();
                // PostgreSQL looks after the transaction whether a change was there before, and a claim would
                // take the task.
                if all.iter().any(|write| matches!(write, Write::Change(..))) {
                    all.retain(|write| !matches!(write, Write::Claim(_)));
                }
                Operation::Write(all)
            }
            _ => Operation::Write(vec![self.write()]),
        }
    }

    fn below<T: SampleUniform + PartialOrd + Default>(&mut self, limit: T) -> T {
        self.random.random_range(T::default()..limit)
    }

    /// Returns a key that no task has.
    fn new_key(&mut self) -> String {
        format!("{:x}", self.random.random::<u64>())
    }

    fn is(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.random.random_range(0..all.len())].clone()
    }

    fn write(&mut self) -> Write {
        match self.below(25) {
            0..4 => Write::Submit(Box::new(self.new_task())),
            4..9 => Write::Claim(self.claim()),
            9..12 => Write::Record(self.lease(), Box::new(self.record())),
            12 => {
                let record = Record {
                    seq: 10 + self.below(3),
                    kind: RecordKind::Done,
                    name: CHILD.to_owned(),
                    attempts: 0,
                    result: None,
                    error: None,
                    due_at: None,
                    args: None,
                    ..self.record()
                };
                let child = NewTask {
                    key: format!("child {}", self.ord),
                    max_pending: None,
                    ..self.new_task()
                };
                Write::Start(self.lease(), Box::new(record), Box::new(child))
            }
            13 => Write::EndChildren {
                lease: self.lease(),
                children: self.tasks(),
                undo: self.is(2),
            },
            14 => self.report(),
            15 if self.is(3) => Write::ClearDeaths(self.lease()),
            15..18 => {
                let lease = self.lease();
                Write::Change(lease, Box::new(self.change_of(lease)))
            }
            18 if self.is(2) => Write::Schedule(Box::new(self.schedule())),
            18 => Write::Continue(self.lease(), Box::new(self.next_generation())),
            19 if self.is(3) => Write::Leave(self.worker()),
            19 => Write::GiveBack((0..=self.below(2)).map(|_| self.lease()).collect()),
            20 => Write::Signal {
                task: self.task(),
                name: self.one_of(&["x", "y"]).to_owned(),
                payload: "7".to_owned(),
                nonce: self.below(20),
            },
            21 => Write::Fork(Box::new(self.fork())),
            _ => Write::Admin(self.task(), self.command()),
        }
    }

    /// Returns a write of a transaction with several, if it may be in one.
    fn write_beside_others(&mut self) -> Option<Write> {
        match self.write() {
            // A report of a step comes before its record.
            Write::Running { .. } => None,
            // A signal comes twice only in a transaction that comes twice.
            Write::Signal {
                task,
                name,
                payload,
                ..
            } => Some(Write::Signal {
                task,
                name,
                payload,
                nonce: self.random.random(),
            }),
            // PostgreSQL looks after the transaction for a task with the key, and does not look whether the lane of
            // a task that starts later is free.
            Write::Submit(new) => Some(Write::Submit(Box::new(NewTask {
                key: self.new_key(),
                delay: if new.lane.is_none() { new.delay } else { s(0) },
                ..*new
            }))),
            write => Some(write),
        }
    }

    /// Returns a write that is alone in its transaction: PostgreSQL looks for the tasks of keys after it.
    fn prune(&mut self) -> Write {
        if self.is(3) {
            return Write::PruneFeed(s(self.below(60)), 1_000);
        }
        let retention = Retention {
            tasks: s(self.below(20)),
            keys: s(self.below(60)),
            lag: s(self.below(30)),
            forget_keys: s(self.below(60)),
            ..Retention::from(s(0))
        };
        Write::Prune(retention, 1_000)
    }

    fn limit_lanes(&mut self) -> Write {
        let lanes = self.one_of(&["l", "m", "l*", "*"]);
        let mut limit = TaskLimit::new();
        if self.is(2) {
            limit = limit.concurrency(self.below(4));
        }
        if self.is(2) {
            limit = limit.rate(1 + self.below(3), s(1 + self.below(20)));
        }
        Write::LimitLanes(lanes.to_owned(), limit)
    }

    fn worker(&mut self) -> WorkerId {
        WorkerId(self.one_of(&WORKERS).to_owned())
    }

    fn task(&mut self) -> TaskId {
        let limit = self.tasks + i64::from(self.is(20));
        TaskId(self.below(limit.max(1)))
    }

    /// Returns some tasks, each once.
    fn tasks(&mut self) -> Vec<TaskId> {
        let tasks: BTreeSet<_> = (0..self.below(4)).map(|_| self.task()).collect();
        tasks.into_iter().collect()
    }

    /// Returns a lease that a worker has or had, mostly one of the latest.
    fn lease(&mut self) -> Lease {
        let from = match self.below(4) {
            0 => 0,
            _ => self.leases.len().saturating_sub(4),
        };
        if self.leases.is_empty() {
            return Lease {
                task: TaskId(0),
                fence: Fence(99),
            };
        }
        self.leases[self.random.random_range(from..self.leases.len())]
    }
}
