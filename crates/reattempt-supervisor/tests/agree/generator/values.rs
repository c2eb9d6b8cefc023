//! The parts of operations.

use rand::RngExt as _;
use reattempt_supervisor::store::{
    AdminCommand, Change, Claim, Counts, Filter, Fork, Missed, NextGeneration, Resolution,
    ScheduleState, ScheduleWrite, StoredSchedule, Verdict, Wake, Write,
};
use reattempt_supervisor::{
    Direction, FailingStep, Fence, Lease, NewTask, OnFailure, OperatorNote, Origin, Record,
    RecordKind, RunningStep, State, Time,
};

use super::Generator;
use crate::ids::signed;
use crate::{kit, s};

/// Names and values of headers, also such that only look alike in SQL.
const HEADERS: [(&str, &str); 6] = [
    ("tenant", "7"),
    ("tenant", "true"),
    ("%", "7"),
    ("a.b", "null"),
    ("a_b", "[1,2]"),
    ("$", "{\"x\":1}"),
];

impl Generator {
    pub(super) fn new_task(&mut self) -> NewTask {
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
                let (name, value) = self.one_of(&HEADERS);
                let value = self.one_of(&[value.to_owned(), format!("{value:?}")]);
                format!("{{{name:?}: {value}}}")
            }),
            delay: s(self.one_of(&[0, 0, 0, 3])),
            complete_by: self.one_of(&[None, None, Some(s(20))]),
            max_failures: 3,
            on_failure: self.one_of(&[OnFailure::Undo, OnFailure::Undo, OnFailure::Keep]),
            max_pending: self.one_of(&[None, None, None, Some(2)]),
            lane: self
                .one_of(&[None, None, Some("l"), Some("m")])
                .map(str::to_owned),
        }
    }

    /// Returns a fork of a task that a worker had. Mostly one that has ended is among them.
    pub(super) fn fork(&mut self) -> Fork {
        let ended = self.last.iter().filter(|(_, last)| last.state.is_final());
        let ended: Vec<_> = ended.map(|(lease, _)| *lease).collect();
        let Lease { task, fence } = if ended.is_empty() || self.is(4) {
            self.lease()
        } else {
            self.one_of(&ended)
        };
        Fork {
            new: NewTask {
                max_pending: None,
                ..self.new_task()
            },
            origin: Origin {
                task,
                seq: self.below(3),
                ord: self.ord - self.below(20),
                began: self.now,
                seeds: vec![(4, self.random.random())],
            },
            fence: Fence(fence.0 + i64::from(self.is(4))),
            note: self.is(2).then(|| OperatorNote {
                seq: None,
                verdict: "fork".to_owned(),
                by: "Ada".to_owned(),
                why: "it is known".to_owned(),
                at: Time::default(),
            }),
        }
    }

    pub(super) fn filter(&mut self) -> Filter {
        let maybe = |is: bool, text: &str| is.then(|| text.to_owned());
        let header = self.one_of(&HEADERS);
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
            ended_since: self.is(4).then(|| self.earlier()),
            ended_until: self.is(4).then(|| self.earlier()),
            before: self.is(3).then(|| self.task()),
            limit: self.one_of(&[0, 1, 3]),
        }
    }

    /// Returns a time of the last minute.
    fn earlier(&mut self) -> Time {
        let ago = self.below(60_000_000);
        Time::from_micros(self.now.as_micros() - ago)
    }

    pub(super) fn claim(&mut self) -> Claim {
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
            limit: 1 + self.below(4),
            suspects: self.one_of(&[None, None, None, Some(s(0)), Some(s(5))]),
        }
    }

    pub(super) fn record(&mut self) -> Record {
        use RecordKind::{Begun, Done, Failed, Undone};
        self.ord += 1;
        let kind = self.one_of(&[Done, Done, Done, Begun, Failed, Undone]);
        // A wait begins before it ends, so it has a number that no other call has.
        let is_wait = self.is(3) && (kind == Begun || kind == Done && !self.waits.is_empty());
        let seq = match kind {
            Begun if is_wait => 100 + self.ord,
            _ if is_wait => self.one_of(&self.waits.clone()),
            _ => self.below(5),
        };
        if is_wait && kind == Begun {
            self.waits.push(seq);
        }
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
            due_at: (is_wait && kind == Begun && self.is(2)).then(|| self.now.after(s(5))),
            at: Time::default(),
            fence: Fence::default(),
            args_hash: self.is(2).then(|| "hash".to_owned()),
            args: self.is(3).then(|| "[1]".to_owned()),
            undo: self.is(3).then(|| "undo".to_owned()),
        }
    }

    pub(super) fn report(&mut self) -> Write {
        let mut started = Vec::new();
        let mut ended = Vec::new();
        for _ in 0..=self.below(2) {
            // One report says one thing of a step.
            let (lease, seq) = (self.lease(), self.below(5));
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

    pub(super) fn direction(&mut self) -> Direction {
        self.one_of(&[
            Direction::Forward,
            Direction::Forward,
            Direction::Undoing,
            Direction::Cancelling,
        ])
    }

    /// Returns a change. A worker that does not know whether it has given up a task says the same again.
    pub(super) fn change_of(&mut self, lease: Lease) -> Change {
        if let Some((_, last)) = self.last.iter().find(|(of, _)| *of == lease) {
            return last.clone();
        }
        let change = self.change();
        if change.state != State::Processing {
            self.last.push((lease, change.clone()));
        }
        change
    }

    pub(super) fn change(&mut self) -> Change {
        let direction = self.direction();
        let plain = Change {
            direction,
            ..kit::change_to(State::Pending)
        };
        match self.below(8) {
            0 => Change {
                state: State::Processing,
                ..plain
            },
            1 | 2 => {
                let failures = 1 + self.below(3);
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
                    ends: 1 + self.below(2),
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

    /// Returns a schedule, as a process has read it, or an older or newer one.
    pub(super) fn schedule(&mut self) -> ScheduleWrite {
        let schedule = StoredSchedule {
            name: self.one_of(&["daily", "weekly"]).to_owned(),
            version: self.below(4),
            revision: self.below(3),
            cron: "0 3 * * * UTC".to_owned(),
            missed: self.one_of(&[Missed::Run, Missed::Skip, Missed::Last]),
            task: "{}".to_owned(),
            state: self.one_of(&[
                ScheduleState::Active,
                ScheduleState::Paused,
                ScheduleState::Removed,
            ]),
            next_at: self.one_of(&[self.now, self.now.after(s(9)), Time::NEVER]),
            last_at: self.is(2).then_some(self.now),
            by: "Ada".to_owned(),
            why: "it is known".to_owned(),
        };
        let tasks = (0..self.below(3)).map(|_| NewTask {
            key: self.new_key(),
            max_pending: None,
            ..self.new_task()
        });
        ScheduleWrite {
            tasks: tasks.collect(),
            schedule,
        }
    }

    /// Returns the newest signal that a worker has seen.
    pub(super) fn seen(&mut self) -> i64 {
        if self.signals.is_empty() || self.is(2) {
            return 0;
        }
        self.one_of(&self.signals.clone())
    }

    pub(super) fn next_generation(&mut self) -> NextGeneration {
        NextGeneration {
            generation: 1 + self.below(3),
            version: self.one_of(&[1, 2]),
            input: "[2]".to_owned(),
            heard: (0..self.below(3)).map(|_| self.seen()).collect(),
        }
    }

    pub(super) fn command(&mut self) -> AdminCommand {
        if self.below(8) > 4 {
            return AdminCommand::Resolve(Resolution {
                seq: self.below(4),
                verdict: self.one_of(&[
                    Verdict::NotDone,
                    Verdict::Done("9".to_owned()),
                    Verdict::Undo,
                ]),
                by: "Ada".to_owned(),
                why: "it is known".to_owned(),
            });
        }
        let command = self.one_of(&AdminCommand::all("not today"));
        if self.is(2) { signed(command) } else { command }
    }
}
