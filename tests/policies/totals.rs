//! X19 beside a simulation in which every attempt fails at once: what it accepts stays below its bounds, and what it refuses
//! does not, or need not.

use std::collections::VecDeque;
use std::time::Duration;

use reattempt::policy::rules::Rule;
use reattempt::{Backoff, Jitter, Policy};

use super::{PARTS, Random, drawn_and_printed, in_parts};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// A policy of which the attempts may be many, and how long a call goes on at most.
fn drawn(random: &mut Random) -> (Policy, Duration) {
    let shapes = [
        Backoff::Fixed,
        Backoff::Linear,
        Backoff::Exp,
        Backoff::ExpAboveFirst,
        Backoff::Fibonacci,
        Backoff::Decorrelated,
    ];
    let mut policy = Policy::new()
        .backoff(shapes[random.below(6) as usize])
        .base(around(random, 3, 14_000))
        .factor(1.001 + 2.0 * random.unit() * random.unit());
    let magnitude = 1 << random.below(20);
    policy = match random.below(4) {
        0 => policy.unlimited(),
        1 => policy.max(90 + random.below(30) as u32),
        _ => policy.max(21 + random.below(magnitude) as u32),
    };
    policy = match random.below(4) {
        0 => policy.jitter(Jitter::None),
        1 => policy.jitter(Jitter::Equal),
        2 => policy.jitter(Jitter::Ratio(random.unit())),
        _ => policy,
    };
    if random.one_in(2) {
        policy = policy.cap(around(random, 8, 14_000));
    }
    if random.one_in(4) {
        policy = policy.first(around(random, 3, 14_000));
    }
    policy = policy.fast_first(random.one_in(4));
    // Of calls that nothing ends X6 speaks, but for each second.
    let mut limit = if policy.attempts().is_none() {
        HOUR
    } else {
        Duration::MAX
    };
    if random.one_in(2) {
        limit = around(random, 500, 86_400_000);
        policy = policy.deadline(limit);
    }
    (policy, limit)
}

/// Of every magnitude between these milliseconds.
fn around(random: &mut Random, least: u32, most: u32) -> Duration {
    let (least, most) = (f64::from(least), f64::from(most));
    Duration::from_secs_f64(least * (most / least).powf(random.unit()) / 1e3)
}

/// The most attempts in a second after the first failure, and those in all.
fn counted(
    policy: &Policy,
    limit: Duration,
    mut delay: impl FnMut(u32, Option<Duration>) -> Duration,
) -> (usize, u32) {
    let (mut now, mut previous) = (Duration::ZERO, None);
    let mut recent = VecDeque::new();
    let (mut most, mut attempts) = (0, 1);
    while policy.attempts().is_none_or(|max| attempts < max) && attempts <= 10_000 {
        let next = delay(attempts - 1, previous);
        previous = Some(next);
        now += next;
        if now >= limit {
            break;
        }
        attempts += 1;
        recent.push_back(now);
        while recent
            .front()
            .is_some_and(|first| now.saturating_sub(*first) >= SECOND)
        {
            recent.pop_front();
        }
        most = most.max(recent.len());
    }
    (most, attempts)
}

/// Policies that people have written, and some beside the bounds: by which rule each is refused.
#[test]
fn policies_that_people_write() {
    let ms = Duration::from_millis;
    let fixed = |base: u64| {
        let policy = Policy::new().backoff(Backoff::Fixed).jitter(Jitter::None);
        policy.base(ms(base))
    };
    let day = HOUR * 24;
    let table = [
        (fixed(1).unlimited().deadline(day), Some("X19")),
        (fixed(1).max(20), None),
        (fixed(100).max(20), None),
        (Policy::new().max(20).timeout(ms(40)), None),
        (Policy::new().max(4).backoff(Backoff::None), Some("X7")),
        (fixed(1).max(101).deadline(day), None),
        (fixed(1).max(102).deadline(day), Some("X19")),
        (fixed(1000).max(10_000), None),
        (fixed(1000).max(10_001), Some("X19")),
        (fixed(1000).unlimited().deadline(day), Some("X19")),
        (Policy::new().unlimited().deadline(HOUR), None),
    ];
    for (policy, expected) in table {
        let broken = policy.violations().next().map(|it| it.rule().as_str());
        assert_eq!(broken, expected, "{policy:?}");
        let limit = policy.values().deadline.unwrap_or(day * 365);
        let (most, attempts) = counted(&policy, limit, |retry, _| policy.delay_bounds(retry).1);
        let is_much = most > 100 || attempts > 10_000;
        assert_eq!(
            is_much,
            expected == Some("X19"),
            "{most} {attempts}: {policy:?}"
        );
    }
}

#[test]
fn totals_are_judged_as_calls_make_them() {
    let (seed, cases) = drawn_and_printed("REATTEMPT_TOTALS", 2_000);
    in_parts(|part| judged(seed.wrapping_add(part), cases / PARTS));
}

fn judged(seed: u64, count: u64) {
    let mut random = Random(seed);
    let (mut below, mut above) = (0, 0);
    for _ in 0..count {
        let (policy, limit) = drawn(&mut random);
        let refused = Rule::TooMuch.check(policy.values());
        let others = [Rule::Endless, Rule::TooMany];
        if others
            .iter()
            .any(|rule| rule.check(policy.values()).is_some())
        {
            continue;
        }
        let seed = random.bits();
        let mut source = Random(seed);
        let is_endless = policy.attempts().is_none() && limit == HOUR;
        let is = |(most, attempts)| most > 100 || attempts > 10_000 && !is_endless;
        let run = counted(&policy, limit, |retry, previous| {
            policy.sample_delay(retry, previous, || source.bits())
        });
        match refused {
            None => {
                below += 1;
                assert!(!is(run), "accepted, but {run:?}: {policy:?}");
            }
            Some(violation) => {
                above += 1;
                let worst = counted(&policy, limit, |retry, _| policy.delay_bounds(retry).0);
                let is_many = policy
                    .worst_case()
                    .attempts()
                    .is_none_or(|all| all > 10_000);
                assert!(
                    is(run) || is(worst) || is_many,
                    "refused: {violation}, but {run:?}, at most {worst:?}: {policy:?}"
                );
            }
        }
    }
    assert!(
        below > count / 20 && above > count / 20,
        "{below} accepted, {above} refused"
    );
}
