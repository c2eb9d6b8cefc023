//! The log, call by call.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use reattempt::GiveUpReason;

use crate::calls::Spec;
use crate::log::{self, At, AttemptEnd, CallEnd, Hook, Id, Record, What};
use crate::ops::Op;
use crate::plan::Plan;
use crate::run::Counts;
use crate::stalls::Stalls;

/// All of a run.
pub(crate) struct Run<'c> {
    pub(crate) plan: Plan,
    pub(crate) counts: &'c Counts,
    pub(crate) records: Vec<Record>,
    pub(crate) tales: BTreeMap<Id, Tale>,
    pub(crate) stalls: Stalls,
}

/// A call.
#[derive(Debug)]
pub(crate) struct Tale {
    pub(crate) id: Id,
    pub(crate) spec: Spec,
    pub(crate) began: At,
    pub(crate) ended: At,
    pub(crate) end: CallEnd,
    pub(crate) bodies: Vec<Ran>,
    pub(crate) hooks: Vec<(Hook, At)>,
    /// The events, in order.
    pub(crate) reported: Vec<(At, What)>,
}

/// A body of an attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ran {
    pub(crate) number: u32,
    pub(crate) copy: u32,
    pub(crate) began: At,
    pub(crate) ended: At,
    pub(crate) end: AttemptEnd,
}

impl<'c> Run<'c> {
    pub(crate) fn read(plan: Plan, counts: &'c Counts) -> Self {
        let (records, specs) = log::take();
        let last = records.last().map_or(Duration::ZERO, |record| record.at);
        let mut tales: BTreeMap<Id, Tale> = specs
            .into_iter()
            .map(|(id, spec)| (id, Tale::new(id, spec, last)))
            .collect();
        for record in &records {
            if let Some(tale) = tales.get_mut(&record.call) {
                tale.note(record);
            }
        }
        single_attempts(&mut tales);
        let stalls = Stalls::of(&records);
        Self {
            plan,
            counts,
            records,
            tales,
            stalls,
        }
    }

    pub(crate) fn tolerance(&self, from: At, to: At) -> Duration {
        self.stalls.tolerance(from, to)
    }

    /// Events without a call, such as the changes of breakers.
    pub(crate) fn common(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| record.call == 0)
    }
}

/// Inside a retry of the outer call, the inner one makes a single attempt once it has used up its retries.
fn single_attempts(tales: &mut BTreeMap<Id, Tale>) {
    let mut used_up = BTreeSet::new();
    for (id, tale) in tales {
        if tale.spec.op != Op::Inner {
            continue;
        }
        let outer = id >> 16;
        if used_up.contains(&outer) && !tale.spec.multiplies {
            tale.spec.max = 1;
        }
        if tale.has_used_up() {
            used_up.insert(outer);
        }
    }
}

impl Tale {
    fn new(id: Id, spec: Spec, last: At) -> Self {
        Self {
            id,
            spec,
            began: Duration::ZERO,
            ended: last,
            end: CallEnd::Dropped,
            bodies: Vec::new(),
            hooks: Vec::new(),
            reported: Vec::new(),
        }
    }

    fn note(&mut self, record: &Record) {
        let at = record.at;
        match record.what {
            What::Began => self.began = at,
            What::Attempt { number, copy } => self.bodies.push(Ran {
                number,
                copy,
                began: at,
                ended: self.ended,
                end: AttemptEnd::Dropped,
            }),
            What::AttemptEnded { copy, end } => {
                let body = self.bodies.iter_mut().find(|body| body.copy == copy);
                let body = body.expect("what ends has begun");
                (body.ended, body.end) = (at, end);
            }
            What::Hook(hook) => self.hooks.push((hook, at)),
            What::CallEnded(end) => (self.ended, self.end) = (at, end),
            What::Failed { .. }
            | What::Retry { .. }
            | What::GaveUp { .. }
            | What::Recovered { .. } => self.reported.push((at, record.what)),
            _ => (),
        }
    }

    /// How many attempts there were, copies of one counted once.
    pub(crate) fn attempts(&self) -> u32 {
        self.bodies
            .iter()
            .map(|body| body.number)
            .max()
            .unwrap_or_default()
    }

    pub(crate) fn bodies_of(&self, number: u32) -> impl Iterator<Item = &Ran> {
        self.bodies.iter().filter(move |body| body.number == number)
    }

    /// When it has to be over.
    pub(crate) fn limit(&self) -> Option<At> {
        self.spec.limit().map(|limit| self.began + limit)
    }

    /// Whether its attempts are cut off when their time is over: a call without a limit of its own looks at the deadline
    /// around it between attempts.
    pub(crate) fn is_cut_off(&self) -> bool {
        let spec = &self.spec;
        let has_limit = spec.deadline.is_some() || spec.timeout.is_some() || spec.op.has_limit();
        has_limit && spec.op.is_cut_off()
    }

    pub(crate) fn had(&self, hook: Hook) -> bool {
        self.hooks.iter().any(|(had, _)| *had == hook)
    }

    pub(crate) fn gave_up(&self) -> impl Iterator<Item = (At, u32, GiveUpReason)> {
        self.reported.iter().filter_map(|(at, what)| match *what {
            What::GaveUp { attempt, reason } => Some((*at, attempt, reason)),
            _ => None,
        })
    }

    /// Whether it gave up in a way that marks it in the calls around it, or was dropped after a failure.
    fn has_used_up(&self) -> bool {
        if let Some((_, _, reason)) = self.gave_up().last() {
            return matches!(
                reason,
                GiveUpReason::Attempts | GiveUpReason::Deadline | GiveUpReason::Budget
            );
        }
        let is_failure = |(_, what): &(At, What)| matches!(what, What::Failed { .. });
        self.end == CallEnd::Dropped && self.reported.iter().any(is_failure)
    }

    pub(crate) fn retries(&self) -> impl Iterator<Item = (At, u32, Duration)> {
        self.reported.iter().filter_map(|(at, what)| match *what {
            What::Retry { attempt, delay } => Some((*at, attempt, delay)),
            _ => None,
        })
    }
}
