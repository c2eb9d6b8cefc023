//! Whoever does what a message names has a policy that is accepted.
#![allow(clippy::expect_used, reason = "a test that panics has failed")]

use core::time::Duration;
use std::format;
use std::string::String;
use std::vec::Vec;

use super::super::Rule;
use crate::backoff::Backoff;
use crate::jitter::Jitter;
use crate::values::Values;

/// What stands behind "; ": one fix each, of one or more keys.
fn fixes(message: &str) -> Vec<Vec<String>> {
    let (_, named) = message.split_once("; ").expect("a fix");
    let mut fixes: Vec<Vec<String>> = Vec::new();
    let mut pieces = named.split('`').peekable();
    while let (Some(before), Some(code)) = (pieces.next(), pieces.next()) {
        // "lower `max` to 101".
        let number = pieces.peek().and_then(|next| next.strip_prefix(" to "));
        let code = match number.and_then(|next| next.split([',', ' ']).next()) {
            Some(number) => format!("{code} = {number}"),
            None => String::from(code),
        };
        match fixes.last_mut() {
            Some(last) if before.starts_with(" and ") => last.push(code),
            _ => fixes.push(Vec::from([code])),
        }
    }
    fixes
}

fn duration(value: &str) -> Duration {
    crate::duration::parse(value.trim_matches('"')).expect("a duration")
}

/// The policy with `base = "1s"` in it.
fn set(policy: Values, code: &str) -> Values {
    let Some((key, value)) = code.split_once(" = ") else {
        assert_eq!(code, "reset_after", "what is dropped");
        return Values {
            reset_after: None,
            ..policy
        };
    };
    match key {
        "max" => policy.max(value.parse().expect("a number")),
        "base" => policy.base(duration(value)),
        "cap" => policy.cap(duration(value)),
        "deadline" => policy.deadline(duration(value)),
        "backoff" => policy.backoff(Backoff::Exp),
        "budget" => policy.budgeted(),
        _ => panic!("no fix is known of {code}"),
    }
}

fn rules(policy: &Values) -> Vec<Rule> {
    let broken = |rule: &&Rule| rule.check(policy).is_some();
    Rule::ALL.iter().filter(broken).copied().collect()
}

const JUDGED: [Rule; 3] = [Rule::Endless, Rule::TooMany, Rule::TooMuch];

/// Checks the fixes of each policy, and returns how many there are.
fn judge(policy: Values) -> usize {
    let before = rules(&policy);
    let judged = JUDGED.iter().filter_map(|rule| rule.check(&policy));
    let mut count = 0_usize;
    for violation in judged {
        let all = fixes(violation.message());
        assert!(!all.is_empty(), "{violation}");
        for codes in all {
            let fixed = codes.iter().fold(policy, |policy, code| set(policy, code));
            let mut new = rules(&fixed);
            new.retain(|rule| JUDGED.contains(rule) || !before.contains(rule));
            assert!(
                new.is_empty(),
                "{codes:?} breaks {new:?}: {violation} {policy:?}"
            );
            count = count.saturating_add(1);
        }
    }
    count
}

#[test]
fn the_fix_that_the_deadline_was_no_longer_is() {
    let policy = Values::new()
        .unlimited()
        .backoff(Backoff::Fixed)
        .base(Duration::from_millis(10));
    let violation = policy.known_violation(&[]).expect("X6");
    assert_eq!(
        violation.message(),
        "`max = \"unlimited\"` needs longer delays or another bound, but the delay before retry 20 is at most 10ms; write `base = \"1s\"` or `max = 20`, or add `budget = 0.1`"
    );
}

#[test]
fn what_a_message_names_is_accepted() {
    let times = [1_000, 1_000_000, 10_000_000, 999_000_000, 60_000_000_000];
    let times = times.map(Duration::from_nanos);
    let shapes = [
        Backoff::None,
        Backoff::Fixed,
        Backoff::Linear,
        Backoff::Fibonacci,
        Backoff::Exp,
        Backoff::Decorrelated,
    ];
    let mut count = 0_usize;
    for (max, shape) in [3, 4, 21, 200, 20_000, u32::MAX]
        .iter()
        .flat_map(|max| shapes.map(|shape| (*max, shape)))
    {
        let plain = Values::new().max(max).backoff(shape);
        for (base, jitter) in times
            .iter()
            .flat_map(|base| [Jitter::None, Jitter::Full].map(|jitter| (*base, jitter)))
        {
            let based = plain.base(base).jitter(jitter);
            for policy in times.iter().map(|cap| based.cap(*cap)).chain([based]) {
                for policy in [
                    policy,
                    policy.deadline(Duration::from_secs(86_400)),
                    policy.reset_after(Duration::from_secs(60)),
                    policy.timeout(Duration::from_secs(60)),
                    policy.decided(),
                ] {
                    count += judge(policy);
                }
            }
        }
        count += judge(plain);
    }
    assert!(count > 1000, "{count}");
}
