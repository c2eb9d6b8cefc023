//! Random operations: what workers, clients and operators do, sometimes too late.

use std::collections::BTreeSet;
use std::time::Duration;

use rand::RngExt as _;
use rand::rngs::StdRng;
use reattempt_supervisor::store::{
    AdminCommand, Change, Claim, Counts, Filter, NextGeneration, Resolution, Verdict, Wake, Write,
};
use reattempt_supervisor::{
    Direction, FailingStep, Fence, Lease, NewTask, OnFailure, Record, RecordKind, Retention,
    RunningStep, State, TaskId, Time, WorkerId,
};

use crate::ids::{CHILD, signed};
use crate::s;
use crate::subject::Seen;

const WORKERS: [&str; 3] = ["a", "b", "c"];

/// Names and values of headers, also such that only look alike in SQL.
const HEADERS: [&str; 6] = [
    "tenant 7",
    "tenant true",
    "% 7",
    "a.b null",
    "a_b [1,2]",
    "$ {\"x\":1}",
];

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

pub(crate) struct Generator {
    random: StdRng,
    pub(crate) now: Time,
    leases: Vec<Lease>,
    signals: Vec<i64>,
    tasks: usize,
    /// The place of the next record.
    ord: i32,
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
            last: Vec::new(),
        }
    }

    /// Learns what there is now.
    pub(crate) fn learn(&mut self, seen: Seen) {
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

    fn below(&mut self, limit: u64) -> u64 {
        self.random.random_range(0..limit)
    }

    fn is(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.random.random_range(0..all.len())].clone()
    }

    fn write(&mut self) -> Write {
        match self.below(24) {
            0..4 => Write::Submit(Box::new(self.new_task())),
            4..9 => Write::Claim(self.claim()),
            9..12 => Write::Record(self.lease(), Box::new(self.record())),
            12 => {
                let record = Record {
                    seq: 10 + i32::try_from(self.below(3)).unwrap(),
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
            18 => Write::Continue(self.lease(), Box::new(self.next_generation())),
            19 if self.is(3) => Write::Leave(self.worker()),
            19 => Write::GiveBack((0..=self.below(2)).map(|_| self.lease()).collect()),
            20 => Write::Signal {
                task: self.task(),
                name: self.one_of(&["x", "y"]).to_owned(),
                payload: "7".to_owned(),
                nonce: i64::try_from(self.below(20)).unwrap(),
            },
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
                key: format!("{:x}", self.random.random::<u64>()),
                delay: if new.lane.is_none() { new.delay } else { s(0) },
                ..*new
            }))),
            write => Some(write),
        }
    }

    /// Returns a write that is alone in its transaction: PostgreSQL looks for the tasks of keys after it.
    fn prune(&mut self) -> Write {
        let retention = Retention {
            tasks: s(self.below(20)),
            keys: s(self.below(60)),
        };
        Write::Prune(retention, 1_000)
    }

    fn worker(&mut self) -> WorkerId {
        WorkerId(self.one_of(&WORKERS).to_owned())
    }

    fn task(&mut self) -> TaskId {
        let limit = u64::try_from(self.tasks).unwrap() + u64::from(self.is(20));
        TaskId(i64::try_from(self.below(limit.max(1))).unwrap())
    }

    /// Returns some tasks, each once.
    fn tasks(&mut self) -> Vec<TaskId> {
        let tasks: BTreeSet<_> = (0..self.below(4)).map(|_| self.task()).collect();
        tasks.into_iter().collect()
    }

    /// Returns a lease that somebody has or had, mostly one of the latest.
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

    fn new_task(&mut self) -> NewTask {
        NewTask {
            workflow: self.one_of(&["w", "w", "v"]).to_owned(),
            version: self.one_of(&[1, 1, 2]),
            queue: self.one_of(&["q", "q", "r"]).to_owned(),
            priority: self.one_of(&[0, 0, 1, -1]),
            key: match self.below(12) {
                0 => format!("~{:032x}", self.random.random::<u128>()),
                n => format!("k{n}"),
            },
            input: self.one_of(&["[]", "[1]"]).to_owned(),
            headers: self.is(3).then(|| {
                let (name, value) = self.one_of(&HEADERS).split_once(' ').unwrap();
                let value = self.one_of(&[value.to_owned(), format!("{value:?}")]);
                format!("{{{name:?}: {value}}}")
            }),
            delay: s(self.one_of(&[0, 0, 0, 3])),
            complete_by: self.one_of(&[None, None, Some(s(20))]),
            max_failures: 3,
            on_failure: self.one_of(&[OnFailure::Undo, OnFailure::Undo, OnFailure::Keep]),
            nonce: self.random.random(),
            max_pending: self.one_of(&[None, None, None, Some(2)]),
            lane: self
                .one_of(&[None, None, Some("l"), Some("m")])
                .map(str::to_owned),
        }
    }

    fn filter(&mut self) -> Filter {
        let maybe = |is: bool, text: &str| is.then(|| text.to_owned());
        let header = self.one_of(&HEADERS).split_once(' ').unwrap();
        Filter {
            state: self.is(3).then(|| self.one_of(&State::ALL)),
            workflow: maybe(self.is(3), "w"),
            queue: maybe(self.is(3), "q"),
            key: maybe(self.is(4), "k1"),
            header: self
                .is(3)
                .then(|| (header.0.to_owned(), header.1.to_owned())),
            error: self.is(3).then(|| {
                self.one_of(&["down", "%", "_", "\\", "'", "OWN", ""])
                    .to_owned()
            }),
            since: self.is(4).then_some(self.now),
            until: self.is(4).then_some(self.now),
            before: self.is(3).then(|| self.task()),
            limit: self.one_of(&[0, 1, 3]),
        }
    }

    fn claim(&mut self) -> Claim {
        let known = |versions: &[(&str, i32)]| {
            versions
                .iter()
                .map(|(name, version)| ((*name).to_owned(), *version))
                .collect()
        };
        let (few, all) = (
            known(&[("w", 1)]),
            known(&[("v", 1), ("v", 2), ("w", 1), ("w", 2)]),
        );
        Claim {
            worker: self.worker(),
            queues: self
                .one_of(&[&["q"][..], &["q", "r"], &["r", "q"]])
                .iter()
                .map(|&queue| queue.to_owned())
                .collect(),
            workflows: self.one_of(&[few, all]),
            limit: u32::try_from(1 + self.below(4)).unwrap(),
            suspects: self.one_of(&[None, None, None, Some(s(0)), Some(s(5))]),
        }
    }

    fn record(&mut self) -> Record {
        use RecordKind::{Begun, Done, Failed, Undone};
        self.ord += 1;
        let seq = i32::try_from(self.below(5)).unwrap();
        let kind = self.one_of(&[Done, Done, Done, Begun, Failed, Undone]);
        let is_wait = kind == Begun && self.is(2);
        Record {
            seq,
            kind,
            ord: self.ord,
            name: if is_wait {
                "signal x".to_owned()
            } else {
                format!("step {seq}")
            },
            attempts: 1,
            result: (kind == Done).then(|| "7".to_owned()),
            error: (kind == Failed).then(|| "refused".to_owned()),
            due_at: (is_wait && self.is(2)).then(|| self.now.after(s(5))),
            at: Time::default(),
            fence: Fence::default(),
            args_hash: self.is(2).then(|| "hash".to_owned()),
            args: self.is(3).then(|| "[1]".to_owned()),
            undo: self.is(3).then(|| "undo".to_owned()),
        }
    }

    fn report(&mut self) -> Write {
        let mut started = Vec::new();
        let mut ended = Vec::new();
        for _ in 0..=self.below(2) {
            // One report says one thing of a step.
            let (lease, seq) = (self.lease(), i32::try_from(self.below(5)).unwrap());
            let is_started = |one: &RunningStep| one.task == lease.task;
            let is_ended = |(one, _): &(Lease, i32)| one.task == lease.task;
            if started.iter().any(is_started) || ended.iter().any(is_ended) {
                continue;
            }
            if self.is(4) {
                ended.push((lease, seq));
            } else {
                started.push(RunningStep {
                    task: lease.task,
                    seq,
                    fence: lease.fence,
                    worker: self.worker(),
                    name: format!("step {seq}"),
                    since: self.now,
                    due: self.one_of(&[None, Some(self.now.after(s(4)))]),
                });
            }
        }
        Write::Running { started, ended }
    }

    fn direction(&mut self) -> Direction {
        self.one_of(&[
            Direction::Forward,
            Direction::Forward,
            Direction::Undoing,
            Direction::Cancelling,
        ])
    }

    /// Returns a change. A worker that does not know whether it has given up a task says the same again.
    fn change_of(&mut self, lease: Lease) -> Change {
        if let Some((_, last)) = self.last.iter().find(|(of, _)| *of == lease) {
            return last.clone();
        }
        let change = self.change();
        if change.state != State::Processing {
            self.last.push((lease, change.clone()));
        }
        change
    }

    fn change(&mut self) -> Change {
        let direction = self.direction();
        let plain = Change {
            state: State::Pending,
            direction,
            counts: Counts::NONE,
            failing_step: None,
            wake: Wake::In(s(0)),
            output: None,
            error: None,
            failed_seq: None,
        };
        match self.below(8) {
            0 => Change {
                state: State::Processing,
                ..plain
            },
            1 | 2 => {
                let failures = i32::try_from(1 + self.below(3)).unwrap();
                Change {
                    counts: Counts {
                        failures,
                        deaths: 0,
                        failed_ord: self.ord,
                    },
                    failing_step: self.is(2).then(|| FailingStep {
                        direction,
                        seq: 1,
                        failures,
                        error: "down".to_owned(),
                        at: Time::default(),
                    }),
                    wake: Wake::In(s(self.below(4))),
                    error: Some("down".to_owned()),
                    ..plain
                }
            }
            3 => Change {
                state: State::Waiting,
                wake: Wake::At(self.now.after(s(self.below(9))), self.seen()),
                ..plain
            },
            4 => Change {
                state: State::Waiting,
                wake: Wake::Children {
                    at: self.now.after(s(self.below(30))),
                    seen: self.seen(),
                    ends: u32::try_from(1 + self.below(2)).unwrap(),
                },
                ..plain
            },
            5 => Change {
                state: State::Parked,
                error: Some(
                    self.one_of(&["it is unknown", "100 % of it_s \\ it's", "DOWN"])
                        .to_owned(),
                ),
                failed_seq: self.is(2).then_some(1),
                ..plain
            },
            _ => Change {
                state: direction.final_state(self.is(2)),
                output: self.is(2).then(|| "8".to_owned()),
                error: self.is(3).then(|| "refused".to_owned()),
                failed_seq: self.is(4).then_some(1),
                ..plain
            },
        }
    }

    /// Returns the newest signal that a worker has seen.
    fn seen(&mut self) -> i64 {
        if self.signals.is_empty() || self.is(2) {
            return 0;
        }
        self.one_of(&self.signals.clone())
    }

    fn next_generation(&mut self) -> NextGeneration {
        NextGeneration {
            generation: i32::try_from(1 + self.below(3)).unwrap(),
            version: self.one_of(&[1, 2]),
            input: "[2]".to_owned(),
            nonce: self.random.random(),
            heard: (0..self.below(3)).map(|_| self.seen()).collect(),
        }
    }

    fn command(&mut self) -> AdminCommand {
        let command = match self.below(8) {
            0 => AdminCommand::Cancel,
            1 => AdminCommand::Park("not today".to_owned()),
            2 => AdminCommand::Resubmit,
            3 => AdminCommand::Undo,
            4 => AdminCommand::GiveUp,
            _ => {
                return AdminCommand::Resolve(Resolution {
                    seq: i32::try_from(self.below(4)).unwrap(),
                    verdict: self.one_of(&[
                        Verdict::NotDone,
                        Verdict::Done("9".to_owned()),
                        Verdict::Undo,
                    ]),
                    by: "Ada".to_owned(),
                    why: "it is known".to_owned(),
                });
            }
        };
        if self.is(2) { signed(command) } else { command }
    }
}
