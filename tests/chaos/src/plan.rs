//! What the seed decides: which faults when, which calls with which parameters.

use std::time::Duration;

use reattempt::Policy;

use crate::calls::Spec;
use crate::ops::Op;
use crate::policies;
use crate::random::Random;

/// Whom a fault is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The way to the HTTP server.
    Http,
    /// The way to PostgreSQL.
    Database,
    /// The HTTP server itself.
    Server,
}

/// How something misbehaves. Percentages are of connections, of pieces of data or of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Each piece comes later, by up to so many milliseconds.
    Latency(u64),
    /// A reset in the middle of what is said.
    Reset(u64),
    /// From some moment on nothing comes through, and nobody says so.
    HalfOpen(u64),
    /// Accepted, and never answered.
    Silent(u64),
    /// So many bytes a millisecond.
    Slow(u64),
    /// Accepted, and reset at once.
    Refusing(u64),
    /// The server turns requests away.
    Overloaded(u64),
    /// It fails before or after it has done what it was asked for.
    Broken(u64),
    /// It takes long, before or after.
    Late(u64),
}

/// Something that happens to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Fault(Side, Fault),
    /// The file of this number is read.
    Reload(usize),
    RetriesOn(bool),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) length: Duration,
}

/// A call, and how long its worker waits afterwards.
#[derive(Debug)]
pub(crate) struct Next {
    pub(crate) spec: Spec,
    pub(crate) policy: Policy,
    pub(crate) pause: Duration,
}

impl Plan {
    /// What happens to all, in order of time.
    pub(crate) fn acts(&self) -> Vec<(Duration, Act)> {
        let mut acts = Vec::new();
        for (number, side) in [Side::Http, Side::Database, Side::Server]
            .into_iter()
            .enumerate()
        {
            let mut random = Random::of(self.seed, &[1, number as u64]);
            let mut at = random.millis(0, 300);
            while at < self.length {
                acts.push((at, Act::Fault(side, fault(&mut random, side))));
                at += random.millis(500, 1800);
            }
        }
        let mut random = Random::of(self.seed, &[2]);
        let mut at = random.millis(500, 2000);
        while at < self.length {
            let file = random.range(0, policies::FILES.len() as u64 - 1) as usize;
            acts.push((at, Act::Reload(file)));
            at += random.millis(1000, 4000);
        }
        let mut at = random.millis(2000, 9000);
        while at < self.length {
            acts.push((at, Act::RetriesOn(false)));
            let on = at + random.millis(300, 900);
            acts.push((on.min(self.length), Act::RetriesOn(true)));
            at = on + random.millis(6000, 12000);
        }
        acts.sort_by_key(|(at, _)| *at);
        acts
    }

    /// Call number `number` of a worker; `blocking` where it is a thread.
    pub(crate) fn call(&self, worker: u64, number: u64, blocking: bool) -> Next {
        let mut random = Random::of(self.seed, &[3, worker, number]);
        let ops = if blocking { Op::BLOCKING } else { Op::ASYNC };
        let op = random.one_of(ops);
        Next::draw(random, op)
    }

    /// The same of one operation.
    pub(crate) fn call_of(&self, op: Op, worker: u64, number: u64) -> Next {
        Next::draw(Random::of(self.seed, &[3, worker, number]), op)
    }

    /// Whether the requests of a key fail in the storm, whatever else there is.
    pub(crate) fn is_sick(&self, key: u16, at: Duration) -> bool {
        let phase = at.as_millis() as u64 / 1200;
        at < self.length && Random::of(self.seed, &[4, u64::from(key), phase]).chance(45)
    }
}

impl Next {
    fn draw(mut random: Random, op: Op) -> Self {
        let (spec, policy) = policies::draw(&mut random, op);
        Self {
            spec,
            policy,
            pause: random.millis(0, 25),
        }
    }
}

fn fault(random: &mut Random, side: Side) -> Fault {
    if random.chance(25) {
        return Fault::None;
    }
    let kinds = if side == Side::Server { 3 } else { 6 };
    match (side, random.range(1, kinds)) {
        (Side::Server, 1) => Fault::Overloaded(random.range(20, 80)),
        (Side::Server, 2) => Fault::Broken(random.range(20, 90)),
        (Side::Server, _) => Fault::Late(random.range(10, 60)),
        (_, 1) => Fault::Latency(random.range(5, 120)),
        (_, 2) => Fault::Reset(random.range(2, 30)),
        (_, 3) => Fault::HalfOpen(random.range(1, 8)),
        (_, 4) => Fault::Silent(random.range(10, 50)),
        (_, 5) => Fault::Slow(random.range(2, 40)),
        _ => Fault::Refusing(random.range(20, 90)),
    }
}

#[cfg(test)]
mod tests {
    use std::mem::discriminant;

    use super::*;

    const LENGTH: Duration = Duration::from_secs(60);

    fn plan(seed: u64) -> Plan {
        Plan {
            seed,
            length: LENGTH,
        }
    }

    fn calls(seed: u64) -> String {
        let calls = (0..50).map(|number| plan(seed).call(3, number, false));
        format!("{:?}", calls.collect::<Vec<_>>())
    }

    #[test]
    fn a_seed_decides_everything() {
        assert_eq!(plan(7).acts(), plan(7).acts());
        assert_ne!(plan(7).acts(), plan(8).acts());
        assert_eq!(calls(7), calls(7));
        assert_ne!(calls(7), calls(8));
    }

    #[test]
    fn a_minute_has_every_fault_and_every_operation() {
        for seed in 1..=20 {
            let mut faults: Vec<_> = plan(seed).acts().iter().map(|(_, act)| *act).collect();
            faults.sort_by_key(|act| format!("{act:?}"));
            let faults = faults.into_iter().filter_map(|act| match act {
                Act::Fault(_, fault) => Some(discriminant(&fault)),
                _ => None,
            });
            let different: std::collections::HashSet<_> = faults.collect();
            assert_eq!(different.len(), 10, "seed {seed}");
            for (ops, blocking) in [(Op::ASYNC, false), (Op::BLOCKING, true)] {
                let drawn = (0..2000).map(|n| plan(seed).call(n % 8, n, blocking).spec.op);
                let drawn: Vec<_> = drawn.collect();
                assert!(ops.iter().all(|op| drawn.contains(op)), "seed {seed}");
            }
        }
    }
}
