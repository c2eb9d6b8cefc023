//! A policy at work, in virtual time, on an operation that always fails.

use std::cell::RefCell;
use std::time::Duration;

use reattempt::testing::{self, CallEnd};
use retry_runtime::Policy;
use retry_runtime::timer::{BlockingTimer, Clock, ThreadTimer, Timestamp};

/// What one call came to.
pub(crate) struct Ran {
    /// Of each attempt, counted from that of the call.
    pub(crate) starts: Vec<Duration>,
    pub(crate) delays: Vec<Duration>,
    pub(crate) end: CallEnd,
}

/// Where random numbers come from.
#[derive(Debug, Clone)]
pub(crate) enum Random {
    Seed(u64),
    /// An adversary's.
    Always(u64),
    /// One after the other, then 0.
    Each(Vec<u64>),
}

/// Sleeps on the virtual clock; its random numbers are given.
struct Fixed<R>(R);

impl<R: Fn() -> u64> Clock for Fixed<R> {
    fn now(&self) -> Timestamp {
        ThreadTimer.now()
    }

    fn random(&self) -> u64 {
        (self.0)()
    }
}

impl<R: Fn() -> u64> BlockingTimer for Fixed<R> {
    fn sleep(&self, duration: Duration) {
        ThreadTimer.sleep(duration);
    }
}

/// Runs an operation whose attempts take so long, and which succeeds when it has failed `enough` times.
pub(crate) fn under(policy: &Policy, random: Random, takes: Duration, enough: u32) -> Ran {
    let time = testing::virtual_time();
    let record = testing::record();
    let mut starts = Vec::new();
    let attempt = || {
        starts.push(time.elapsed());
        time.advance(takes);
        if starts.len() > enough as usize {
            Ok(())
        } else {
            Err("down")
        }
    };
    let runner = policy.on(|_: &&str| true).name("agreement");
    // What it comes to the record knows.
    let _answer = match random {
        Random::Seed(seed) => {
            let _seeded = testing::seed(seed);
            runner.timer(ThreadTimer).run(attempt)
        }
        Random::Always(bits) => runner.timer(Fixed(|| bits)).run(attempt),
        Random::Each(bits) => {
            let next = RefCell::new(bits.into_iter());
            let next = || next.borrow_mut().next().unwrap_or_default();
            runner.timer(Fixed(next)).run(attempt)
        }
    };
    let calls = record.calls();
    let [call] = calls.as_slice() else {
        panic!("{} calls", calls.len());
    };
    assert_eq!(call.attempts().len(), starts.len());
    Ran {
        starts,
        delays: call.delays(),
        end: call.end(),
    }
}

/// The most of `figure` that an adversary gets out of it and has all `attempts` made: random numbers and the time of
/// each attempt that grow together, until the deadline comes first.
pub(crate) fn most(
    policy: &Policy,
    takes: Duration,
    attempts: u32,
    figure: impl Fn(&Ran) -> u64,
) -> u64 {
    let run = |part: f64| {
        let bits = if part >= 1.0 {
            u64::MAX
        } else {
            (part * 2_f64.powi(64)) as u64
        };
        under(policy, Random::Always(bits), takes.mul_f64(part), attempts)
    };
    let has_all = |ran: &Ran| ran.starts.len() == attempts as usize;
    let all = run(1.0);
    if has_all(&all) {
        return figure(&all);
    }
    let (mut good, mut bad) = (0.0, 1.0);
    let mut best = 0;
    for _ in 0..60 {
        let middle = f64::midpoint(good, bad);
        let ran = run(middle);
        if has_all(&ran) {
            best = best.max(figure(&ran));
            good = middle;
        } else {
            bad = middle;
        }
    }
    best
}

/// The random number that makes a delay so long, of one between these two.
pub(crate) fn bits(delay: f64, least: f64, longest: f64) -> u64 {
    let part = (delay - least) / (longest - least).max(1.0);
    (part.clamp(0.0, 1.0) * 2_f64.powi(64)) as u64
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
