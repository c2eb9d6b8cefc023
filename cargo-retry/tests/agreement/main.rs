//! What `cargo retry explain` says of a policy is what `testing::record` sees of it: 1,000 policies that are drawn from
//! a fixed seed, written as keys, explained by the program and run by the runtime, in virtual time, on an operation
//! that always fails.

mod draw;
mod run;
mod said;

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use retry_runtime::testing::CallEnd;
use retry_runtime::{GaveUp, Policy, Shape};
use run::{Ran, Random};
use said::{Said, attempts};

const POLICIES: usize = 1_000;

/// Runs of each policy.
const SEEDS: u64 = 100;

/// More attempts than this are not waited for.
const ENOUGH: u32 = 300;

/// Delays are computed in floating point.
const ROUNDING: u64 = 4;

fn close(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= ROUNDING.max(one / 1_000_000_000)
}

/// Every policy with what is said of it.
fn all() -> impl Iterator<Item = &'static (String, Policy, Said)> {
    static ALL: OnceLock<Vec<(String, Policy, Said)>> = OnceLock::new();
    let explained = || {
        let texts = draw::policies(POLICIES);
        let explained = said::explain(texts.iter().map(|(text, _)| &**text));
        let with = |((text, policy), said)| (text, policy, said);
        texts.into_iter().zip(explained).map(with).collect()
    };
    ALL.get_or_init(explained).iter()
}

#[test]
fn explain_says_what_is_recorded() {
    let mut seen = BTreeMap::<&str, usize>::new();
    let mut spread = 0_usize;
    for (text, policy, said) in all() {
        let shape = policy.shape();
        *seen.entry(shape.word()).or_default() += 1;
        let mut ends: Vec<[u64; 2]> = Vec::new();
        for seed in 0..SEEDS {
            // Attempts that take no time, all of `timeout`, and something between.
            let part = [0.0, 0.37, 1.0][usize::try_from(seed % 3).unwrap()];
            let takes = said.timeout().mul_f64(part);
            let ran = run::under(policy, Random::Seed(seed), takes, ENOUGH);
            agrees(text, said, &ran);
            *seen.entry(word(ran.end)).or_default() += 1;
            for (i, delay) in ran.delays.iter().enumerate() {
                let delay = run::nanos(*delay);
                match ends.get_mut(i) {
                    Some([least, most]) => (*least, *most) = (delay.min(*least), delay.max(*most)),
                    None => ends.push([delay, delay]),
                }
            }
        }
        if !matches!(shape, Shape::Decorrelated) {
            spread += is_tight(text, said, &ends);
        }
    }
    println!("{seen:?}, {spread} delays near both ends");
    for shape in [
        "none",
        "fixed",
        "linear",
        "exp",
        "fibonacci",
        "decorrelated",
    ] {
        assert!(seen[shape] >= 50, "{shape}: {seen:?}");
    }
    for end in ["attempts", "deadline", "enough"] {
        assert!(seen[end] >= 1_000, "{end}: {seen:?}");
    }
    assert!(spread >= 1_000, "{spread}");
}

fn word(end: CallEnd) -> &'static str {
    match end {
        CallEnd::GaveUp(reason) => reason.word(),
        _ => "enough",
    }
}

/// Every delay and every start is within its bounds, and the end is one that is foretold.
fn agrees(text: &str, said: &Said, ran: &Ran) {
    let made = u32::try_from(ran.starts.len()).unwrap();
    for (number, start) in (1..).zip(&ran.starts) {
        let start = run::nanos(*start);
        let Some(attempt) = said.attempts.get(attempts(number)) else {
            let rest = said
                .rest
                .unwrap_or_else(|| panic!("{text}: attempt {number} is not told of"));
            assert!(
                number >= rest.from && rest.to.is_none_or(|to| number <= to),
                "{text}"
            );
            continue;
        };
        assert_eq!(attempt.number, number, "{text}");
        let told = attempt.start;
        assert!(
            told.earliest_ns <= start + ROUNDING,
            "{text}: attempt {number} at {start}, {told:?}"
        );
        assert!(
            start <= told.latest_ns + ROUNDING * u64::from(number),
            "{text}: attempt {number} at {start}, {told:?}"
        );
    }
    for (number, delay) in (2..).zip(&ran.delays) {
        let delay = run::nanos(*delay);
        let (least, longest) = match said.attempts.get(attempts(number)) {
            Some(attempt) => {
                let told = attempt.delay.unwrap();
                (told.least_ns, told.longest_ns)
            }
            None => {
                let rest = said.rest.unwrap();
                (rest.least_ns, rest.longest_ns)
            }
        };
        assert!(
            least <= delay + 1 && delay <= longest + 1,
            "{text}: {delay} before attempt {number}, {least}..{longest}"
        );
    }
    let next = said.attempts.get(attempts(made + 1));
    match ran.end {
        CallEnd::GaveUp(GaveUp::Attempts) => {
            assert_eq!(Some(made), said.worst_case.attempts, "{text}");
            assert_eq!(said.never, None, "{text}");
        }
        CallEnd::GaveUp(GaveUp::Deadline) => {
            assert!(said.deadline_ns.is_some(), "{text}");
            assert!(
                said.worst_case.attempts.is_none_or(|max| made < max),
                "{text}"
            );
            assert!(
                next.is_none_or(|next| next.start.may_not_start),
                "{text}: {next:?} after {made}"
            );
        }
        CallEnd::Succeeded => assert_eq!(made, ENOUGH + 1, "{text}"),
        end => panic!("{text}: {end:?}"),
    }
    let worst = &said.worst_case;
    let slept: u64 = ran.delays.iter().copied().map(run::nanos).sum();
    assert!(
        worst
            .sleeping_ns
            .is_none_or(|most| slept <= most + ROUNDING * u64::from(made)),
        "{text}: {slept}, {worst:?}"
    );
    let last = run::nanos(*ran.starts.last().unwrap());
    assert!(
        worst
            .wall_ns
            .is_none_or(|most| last <= most + ROUNDING * u64::from(made)),
        "{text}: {last}, {worst:?}"
    );
    assert_eq!(worst.load, worst.attempts);
}

/// Over the seeds the delays come near both ends. Of those that the deadline may cut off only some are seen.
fn is_tight(text: &str, said: &Said, ends: &[[u64; 2]]) -> usize {
    let told = said
        .attempts
        .iter()
        .filter(|attempt| !attempt.start.may_not_start);
    let told = told.filter_map(|attempt| Some((attempt.number, attempt.delay?)));
    let mut spread = 0;
    for ((number, told), [least, most]) in told.zip(ends) {
        let room = (told.longest_ns - told.least_ns) / 10;
        let place = || format!("{text}: {least}..{most} before attempt {number}, {told:?}");
        assert!(*least <= told.least_ns + room + 1, "{}", place());
        assert!(*most + room + 1 >= told.longest_ns, "{}", place());
        spread += usize::from(room > 0);
    }
    spread
}

#[test]
fn the_bounds_are_reached() {
    let mut reached = 0_usize;
    for (text, policy, said) in all() {
        let worst = &said.worst_case;
        // The least that chance can do.
        let ran = run::under(policy, Random::Always(0), Duration::ZERO, ENOUGH);
        agrees(text, said, &ran);
        for (told, start) in said.attempts.iter().zip(&ran.starts) {
            assert!(
                close(told.start.earliest_ns, run::nanos(*start)),
                "{text}: {start:?}, {told:?}"
            );
        }
        // The most, with attempts that take all the time they have.
        let ran = run::under(policy, Random::Always(u64::MAX), said.timeout(), ENOUGH);
        agrees(text, said, &ran);
        for (told, start) in said.attempts.iter().zip(&ran.starts) {
            assert!(
                close(told.start.latest_ns, run::nanos(*start)),
                "{text}: {start:?}, {told:?}"
            );
        }
        let Some(attempts) = worst.attempts.filter(|attempts| *attempts < 250) else {
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
        let told: Vec<_> = said
            .attempts
            .iter()
            .filter_map(|attempt| attempt.delay)
            .take(8)
            .collect();
        for (last, delay) in told.iter().enumerate() {
            // A hair less, or the deadline comes first.
            let longest = delay.longest_ns as f64;
            let wanted = (longest * (1.0 - 1e-6)).min(longest - 2.0);
            let wanted = wanted.max(delay.least_ns as f64);
            let ran = run::under(
                policy,
                Random::Each(growing(
                    policy,
                    text.contains("fast_first = true"),
                    &told,
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
            let (_, longest) = policy.delay_bounds(u32::try_from(last).unwrap());
            cut += usize::from(delay.longest_ns < run::nanos(longest));
        }
    }
    assert!(cut >= 100, "the deadline cut {cut}");
}

/// Random numbers by which the delay `last` is `wanted` and those before it are as short as they can be then.
fn growing(
    policy: &Policy,
    is_fast: bool,
    told: &[said::Delay],
    last: usize,
    wanted: f64,
) -> Vec<u64> {
    let is_grown = matches!(policy.shape(), Shape::Decorrelated);
    let mut bits = Vec::new();
    let mut before = f64::NAN;
    for (retry, delay) in told.iter().enumerate().take(last + 1) {
        let (least, longest) = policy.delay_bounds(u32::try_from(retry).unwrap());
        let (least, mut longest) = (run::nanos(least) as f64, run::nanos(longest) as f64);
        if is_fast && retry == 0 {
            continue; // nothing is drawn
        }
        let own = if retry == last {
            wanted
        } else if is_grown {
            (wanted / 3_f64.powi(i32::try_from(last - retry).unwrap())).max(least)
        } else {
            delay.least_ns as f64
        };
        if is_grown {
            longest = 3.0 * if before.is_nan() { least } else { before };
        }
        bits.push(run::bits(own, least, longest));
        before = own;
    }
    bits
}
