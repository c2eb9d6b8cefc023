//! What `cargo retry explain` says of a policy is what `testing::record` sees of it: 1,000 policies that are drawn from
//! a fixed seed, written as keys, explained by the program and run by the runtime, in virtual time, on an operation
//! that always fails.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test, whose numbers are small or rounded anyway"
)]

mod draw;
mod reach;
mod run;
mod said;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use reattempt::testing::CallEnd;
use retry_runtime::{Backoff, GiveUpReason, Policy};
use run::{Ran, Random};
use said::{Said, attempts};

const POLICIES: usize = 1_000;

/// Runs of each policy.
const SEEDS: u64 = 100;

/// More attempts than this are not waited for.
const ENOUGH: u32 = 300;

/// Delays are computed in floating point.
const ROUNDING: u64 = 4;

/// Every policy with what is said of it.
fn all() -> impl Iterator<Item = &'static (String, Policy, Said)> {
    static ALL: OnceLock<Vec<(String, Policy, Said)>> = OnceLock::new();
    let explained = || {
        let texts = draw::policies(POLICIES);
        let written: Vec<_> = texts.iter().map(|(text, _)| &**text).collect();
        let explained = said::explain(&written);
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
        *seen.entry(shape.as_str()).or_default() += 1;
        let mut ends: Vec<[u64; 2]> = Vec::new();
        for seed in 0..SEEDS {
            // Attempts that take no time, all of `timeout`, and something between.
            let part = [0.0, 0.37, 1.0][seed as usize % 3];
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
        if !matches!(shape, Backoff::Decorrelated) {
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
        CallEnd::GaveUp(reason) => reason.as_str(),
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
                .unwrap_or_else(|| panic!("{text}: attempt {number} is not shown"));
            assert!(
                number >= rest.from && rest.to.is_none_or(|to| number <= to),
                "{text}"
            );
            continue;
        };
        assert_eq!(attempt.number, number, "{text}");
        let reported = attempt.start;
        assert!(
            reported.earliest_ns <= start + ROUNDING,
            "{text}: attempt {number} at {start}, {reported:?}"
        );
        assert!(
            start <= reported.latest_ns + ROUNDING * u64::from(number),
            "{text}: attempt {number} at {start}, {reported:?}"
        );
    }
    for (number, delay) in (2..).zip(&ran.delays) {
        let delay = run::nanos(*delay);
        let attempt = said.attempts.get(attempts(number));
        let reported = attempt.and_then(|attempt| attempt.delay);
        let rest = said.rest.map(|rest| (rest.least_ns, rest.longest_ns));
        let reported = reported
            .map(|reported| (reported.least_ns, reported.longest_ns))
            .or(rest);
        let (least, longest) = reported.unwrap();
        assert!(
            least <= delay + 1 && delay <= longest + 1,
            "{text}: {delay} before attempt {number}, {least}..{longest}"
        );
    }
    let next = said.attempts.get(attempts(made + 1));
    match ran.end {
        CallEnd::GaveUp(GiveUpReason::Attempts) => {
            assert_eq!(Some(made), said.worst_case.attempts, "{text}");
            assert_eq!(said.never, None, "{text}");
        }
        CallEnd::GaveUp(GiveUpReason::Deadline) => {
            assert!(said.deadline_ns.is_some(), "{text}");
            assert!(
                said.worst_case.attempts.is_none_or(|max| made < max),
                "{text}"
            );
            assert!(
                next.is_none_or(|next| !next.start.is_certain),
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
    // None of them has a hedge.
    assert!(!text.contains("hedge"), "{text}");
    assert_eq!(worst.load, worst.attempts, "{text}");
}

/// Over the seeds the delays come near both ends. Of those that the deadline may cut off only some are seen.
fn is_tight(text: &str, said: &Said, ends: &[[u64; 2]]) -> usize {
    let reported = said
        .attempts
        .iter()
        .filter(|attempt| attempt.start.is_certain);
    let reported = reported.filter_map(|attempt| Some((attempt.number, attempt.delay?)));
    let mut spread = 0;
    for ((number, reported), [least, most]) in reported.zip(ends) {
        let room = (reported.longest_ns - reported.least_ns) / 10;
        let place = || format!("{text}: {least}..{most} before attempt {number}, {reported:?}");
        assert!(*least <= reported.least_ns + room + 1, "{}", place());
        assert!(*most + room + 1 >= reported.longest_ns, "{}", place());
        spread += usize::from(room > 0);
    }
    spread
}
