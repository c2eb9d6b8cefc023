//! Random policies, new ones in each run: what the rules accept keeps its promises, and what rule X4 refuses could
//! indeed never start.
//!
//! `REATTEMPT_SEED` and `REATTEMPT_CASES` choose other ones; a run prints its own.
#![allow(
    clippy::expect_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a test that panics has failed, and its numbers are small"
)]

use std::cell::Cell;
use std::hash::{BuildHasher as _, RandomState};
use std::thread;
use std::time::Duration;

use reattempt::policy::rules::RuleId;
use reattempt::{Backoff, GiveUpReason, Jitter, Policy, Verdict, runner::Call, runner::CallEnv};

/// Beside each other, each with a seed of its own.
const PARTS: u64 = 4;

/// The splitmix64 generator: the same policies for the same seed.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn unit(&mut self) -> f64 {
        self.below(1 << 53) as f64 / (1u64 << 53) as f64
    }

    /// Of every magnitude from nanoseconds to days, and sometimes nothing.
    fn duration(&mut self) -> Duration {
        let magnitude = self.below(48);
        Duration::from_nanos(self.bits() & ((1 << magnitude) - 1))
    }

    /// Of the magnitude that people write.
    fn usual(&mut self) -> Duration {
        Duration::from_millis(self.below(3000))
    }

    /// A policy, with its cap and its limits in time for the test to hold it to.
    fn policy(&mut self) -> Drawn {
        let wild = self.one_in(4);
        let mut policy = Policy::new();
        policy = match self.below(12) {
            0 => policy.unlimited(),
            1 => policy.max(self.bits() as u32),
            2 => policy,
            _ => policy.max(self.below(25) as u32),
        };
        let shapes = [
            Backoff::None,
            Backoff::Fixed,
            Backoff::Linear,
            Backoff::Exp,
            Backoff::Fibonacci,
            Backoff::Decorrelated,
        ];
        if !self.one_in(3) {
            policy = policy.backoff(shapes[self.below(6) as usize]);
        }
        let duration = if wild { Self::duration } else { Self::usual };
        if !self.one_in(3) {
            policy = policy.base(duration(self));
        }
        if self.one_in(4) {
            policy = policy.first(duration(self));
        }
        if self.one_in(4) {
            policy = policy.factor(if wild {
                f64::from_bits(self.bits())
            } else {
                1.0 + 3.0 * self.unit()
            });
        }
        let mut cap = Duration::from_secs(20);
        if self.one_in(2) {
            cap = duration(self) * 4;
            policy = policy.cap(cap);
        }
        policy = match self.below(6) {
            0 => policy.jitter(Jitter::None),
            1 => policy.jitter(Jitter::Equal),
            2 => policy.jitter(Jitter::Full),
            3 => policy.jitter(Jitter::Ratio(self.unit() * 1.05)),
            _ => policy,
        };
        if self.one_in(5) {
            policy = policy.fast_first(true);
        }
        let deadline = self.one_in(2).then(|| duration(self) * 8);
        if let Some(deadline) = deadline {
            policy = policy.deadline(deadline);
        }
        let timeout = self.one_in(4).then(|| duration(self));
        if let Some(timeout) = timeout {
            policy = policy.timeout(timeout);
        }
        Drawn {
            policy,
            cap,
            deadline,
            timeout,
        }
    }
}

struct Drawn {
    policy: Policy,
    cap: Duration,
    deadline: Option<Duration>,
    timeout: Option<Duration>,
}

/// A clock that moves with the sleeps and the attempts, and a random source
/// that gives the least, the most, or anything.
struct World {
    now: Cell<Duration>,
    deadline: Option<Duration>,
    source: Cell<u64>,
    chance: Chance,
}

#[derive(Clone, Copy)]
enum Chance {
    Least,
    Most,
    Any,
}

impl CallEnv for World {
    fn remaining(&self) -> Option<Duration> {
        self.deadline
            .map(|deadline| deadline.saturating_sub(self.now.get()))
    }

    fn random(&self) -> u64 {
        match self.chance {
            Chance::Least => 0,
            Chance::Most => u64::MAX,
            Chance::Any => {
                let mut random = Random(self.source.get());
                let bits = random.bits();
                self.source.set(random.0);
                bits
            }
        }
    }
}

struct Run {
    attempts: u32,
    slept: Duration,
    last_start: Duration,
    reason: GiveUpReason,
}

/// Attempts that are simulated; no rule depends on more.
const LONGEST_RUN: u32 = 2000;

fn run(drawn: &Drawn, chance: Chance, attempt: Duration, seed: u64) -> Option<Run> {
    let Drawn {
        policy,
        cap,
        deadline,
        timeout,
    } = drawn;
    // What takes longer is cut off, which is a transient failure, too.
    let attempt = timeout.map_or(attempt, |timeout| attempt.min(timeout));
    let mut world = World {
        now: Cell::new(Duration::ZERO),
        deadline: *deadline,
        source: Cell::new(seed),
        chance,
    };
    let mut call = Call::new();
    let mut slept = Duration::ZERO;
    // A delay too short to be accepted is one of up to a millisecond.
    let longest = match policy.build() {
        Ok(_) => *cap,
        Err(_) => (*cap).max(Duration::from_millis(1)),
    };
    for attempts in 1..LONGEST_RUN {
        let last_start = world.now.get();
        world.now.set(last_start.saturating_add(attempt));
        match call.failed(policy, Verdict::Transient, &mut world) {
            Ok(delay) => {
                assert!(delay <= longest, "{delay:?} above the cap: {policy:?}");
                slept = slept.saturating_add(delay);
                world.now.set(world.now.get().saturating_add(delay));
            }
            Err(reason) => {
                return Some(Run {
                    attempts,
                    slept,
                    last_start,
                    reason,
                });
            }
        }
    }
    None
}

fn accepted(drawn: &Drawn, random: &mut Random) {
    let policy = &drawn.policy;
    let worst = policy.worst_case();
    for chance in [Chance::Least, Chance::Most, Chance::Any] {
        for attempt in [Duration::ZERO, random.usual()] {
            let Some(run) = run(drawn, chance, attempt, random.bits()) else {
                assert!(
                    policy.attempts().is_none_or(|max| max >= LONGEST_RUN),
                    "{policy:?}"
                );
                continue;
            };
            if let Some(max) = worst.attempts() {
                assert!(run.attempts <= max, "{policy:?}");
            }
            if let Some(most) = worst.total_delay() {
                assert!(
                    run.slept <= most,
                    "slept {:?} of {most:?}: {policy:?}",
                    run.slept
                );
            }
            if let Some(most) = worst.total_time() {
                assert!(
                    run.last_start <= most,
                    "started after {:?} of {most:?}: {policy:?}",
                    run.last_start
                );
            }
            let bounded = policy.attempts().is_some() && drawn.timeout.is_some();
            assert!(worst.total_time().is_some() || !bounded, "{policy:?}");
            if let Some(deadline) = drawn.deadline {
                assert!(run.last_start < deadline || run.attempts == 1, "{policy:?}");
            }
            let promised = matches!(chance, Chance::Least) && attempt.is_zero();
            if promised && let Some(max) = policy.attempts().filter(|max| *max < 250) {
                assert_eq!(
                    (run.attempts, run.reason),
                    (max, GiveUpReason::Attempts),
                    "{policy:?}"
                );
            }
        }
    }
}

/// The attempt of which the message says that it can't start must not start.
fn never_starts(drawn: &Drawn, message: &str, random: &mut Random) {
    let number = |before: &str| -> u32 {
        let start = message.find(before).map(|at| at + before.len());
        let rest = &message[start.expect("the message names the attempt")..];
        rest.chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
            .parse()
            .expect("a number")
    };
    let refused = number("before attempt ");
    assert_eq!(number("lower `max` to "), refused - 1);
    let policy = &drawn.policy;
    for chance in [Chance::Least, Chance::Any, Chance::Any, Chance::Any] {
        if let Some(run) = run(drawn, chance, Duration::ZERO, random.bits()) {
            assert!(
                run.attempts < refused,
                "attempt {refused} started: {policy:?}"
            );
        } else {
            assert!(refused >= LONGEST_RUN, "{policy:?}");
        }
    }
    if refused > 2 && refused < 250 {
        let fixed = policy.max(refused - 1);
        assert!(
            fixed.violations().all(|other| other.rule() != RuleId::X4),
            "{fixed:?}"
        );
    }
}

#[path = "policies/totals.rs"]
mod totals;

#[test]
fn random_policies() {
    let (seed, cases) = drawn_and_printed("REATTEMPT_CASES", 100_000);
    in_parts(|part| policies(seed.wrapping_add(part), cases / PARTS));
}

/// The seed of this run, and how many policies it draws, which a variable may say.
fn drawn_and_printed(variable: &str, usual: u64) -> (u64, u64) {
    let number = |variable| Some(std::env::var(variable).ok()?.parse().expect(variable));
    let drawn = || RandomState::new().hash_one(0);
    let seed = number("REATTEMPT_SEED").unwrap_or_else(drawn);
    let cases = number(variable).unwrap_or(usual);
    println!("REATTEMPT_SEED={seed}, {cases} policies");
    (seed, cases)
}

fn in_parts(run: impl Fn(u64) + Sync) {
    thread::scope(|scope| {
        for part in 0..PARTS {
            let run = &run;
            scope.spawn(move || run(part));
        }
    });
}

fn policies(seed: u64, count: u64) {
    let mut random = Random(seed);
    let (mut kept, mut refused) = (0, 0);
    for _ in 0..count {
        let drawn = random.policy();
        let policy = &drawn.policy;
        let mut broken = policy.violations().peekable();
        if broken.peek().is_none() {
            kept += 1;
            accepted(&drawn, &mut random);
            continue;
        }
        // Alone: next to other faults the numbers mean nothing.
        let broken: Vec<_> = broken.collect();
        if let [only] = broken.as_slice()
            && only.rule() == RuleId::X4
        {
            refused += 1;
            never_starts(&drawn, only.message(), &mut random);
        }
        // A policy that breaks rules does not panic either.
        run(&drawn, Chance::Any, Duration::ZERO, 7);
    }
    assert!(kept > count / 10, "only {kept} policies were accepted");
    assert!(
        refused > count / 200,
        "only {refused} policies broke X4 alone"
    );
}
