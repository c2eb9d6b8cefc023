//! The bounds are no wider than they must be: an adversary who chooses the random numbers reaches them.

use std::time::Duration;

use retry_runtime::{Backoff, Policy};

use super::run::{self, Random};
use super::said;
use super::{ENOUGH, ROUNDING, agrees, all};

fn close(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= ROUNDING.max(one / 1_000_000_000)
}

#[test]
fn the_bounds_are_reached() {
    let mut reached = 0_usize;
    for (text, policy, said) in all() {
        let worst = &said.worst_case;
        // The least that chance can do.
        let ran = run::under(policy, Random::Always(0), Duration::ZERO, ENOUGH);
        agrees(text, said, &ran);
        for (reported, start) in said.attempts.iter().zip(&ran.starts) {
            assert!(
                close(reported.start.earliest_ns, run::nanos(*start)),
                "{text}: {start:?}, {reported:?}"
            );
        }
        // The most, with attempts that take all the time they have.
        let ran = run::under(policy, Random::Always(u64::MAX), said.timeout(), ENOUGH);
        agrees(text, said, &ran);
        for (reported, start) in said.attempts.iter().zip(&ran.starts) {
            assert!(
                close(reported.start.latest_ns, run::nanos(*start)),
                "{text}: {start:?}, {reported:?}"
            );
        }
        let Some(attempts) = worst.attempts.filter(|attempts| *attempts < ENOUGH) else {
            continue;
        };
        // And the most that still makes every attempt, which with a deadline is what the worst case is about.
        let slept = run::most(policy, Duration::ZERO, attempts, |ran| {
            ran.delays.iter().copied().map(run::nanos).sum()
        });
        let most = worst.sleeping_ns.unwrap();
        assert!(
            slept + ROUNDING * 256 + most / 1_000 >= most,
            "{text}: slept {slept} of {worst:?}"
        );
        if let Some(wall) = worst
            .wall_ns
            .filter(|_| said.timeout_ns.is_some() || attempts == 1)
        {
            let last = run::most(policy, said.timeout(), attempts, |ran| {
                run::nanos(*ran.starts.last().unwrap())
            });
            assert!(
                last + ROUNDING * 256 + wall / 1_000 >= wall,
                "{text}: the last at {last} of {worst:?}"
            );
        }
        reached += 1;
    }
    assert!(reached >= 500, "{reached}");
}

#[test]
fn each_delay_can_be_as_long_as_explain_says() {
    let mut cut = 0_usize;
    for (text, policy, said) in all() {
        let reported: Vec<_> = said
            .attempts
            .iter()
            .filter_map(|attempt| attempt.delay)
            .take(8)
            .collect();
        for (last, delay) in reported.iter().enumerate() {
            // A hair less, or the deadline comes first.
            let longest = delay.longest_ns as f64;
            let wanted = (longest * (1.0 - 1e-6)).min(longest - 2.0);
            let wanted = wanted.max(delay.least_ns as f64);
            let ran = run::under(
                policy,
                Random::Each(growing(
                    policy,
                    text.contains("fast_first = true"),
                    &reported,
                    last,
                    wanted,
                )),
                Duration::ZERO,
                ENOUGH,
            );
            agrees(text, said, &ran);
            let reached = ran.delays.get(last).copied().map_or(0, run::nanos);
            assert!(
                reached + 2 + delay.longest_ns / 1_000 >= delay.longest_ns,
                "{text}: {reached}, {delay:?}"
            );
            let (_, high) = policy.delay_bounds(u32::try_from(last).unwrap());
            cut += usize::from(delay.longest_ns < run::nanos(high));
        }
    }
    assert!(cut >= 100, "the deadline cut {cut}");
}

/// Random numbers by which the delay `last` is `wanted` and those before it are as short as they can be then.
fn growing(
    policy: &Policy,
    is_fast: bool,
    reported: &[said::Delay],
    last: usize,
    wanted: f64,
) -> Vec<u64> {
    let is_grown = matches!(policy.shape(), Backoff::Decorrelated);
    let mut bits = Vec::new();
    let mut before = f64::NAN;
    for (retry, delay) in reported.iter().enumerate().take(last + 1) {
        let (low, high) = policy.delay_bounds(u32::try_from(retry).unwrap());
        let (low, mut high) = (run::nanos(low) as f64, run::nanos(high) as f64);
        if is_fast && retry == 0 {
            continue; // nothing is drawn
        }
        let own = if retry == last {
            wanted
        } else if is_grown {
            (wanted / 3_f64.powi(i32::try_from(last - retry).unwrap())).max(low)
        } else {
            delay.least_ns as f64
        };
        if is_grown {
            high = 3.0 * if before.is_nan() { low } else { before };
        }
        bits.push(run::bits(own, low, high));
        before = own;
    }
    bits
}
