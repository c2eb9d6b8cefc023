//! The nearest policies on both sides of each bound.
#![allow(clippy::expect_used, reason = "a test that panics has failed")]

use core::time::Duration;

use super::super::Rule;
use crate::backoff::Backoff;
use crate::jitter::Jitter;
use crate::values::Values;

const P: Values = Values::new();
/// 100 ms each time.
const FIXED: Values = P.backoff(Backoff::Fixed).jitter(Jitter::None);
const SECOND: Duration = Duration::from_secs(1);

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Delays from 0 to so many milliseconds.
const fn spread(milliseconds: u64) -> Values {
    P.backoff(Backoff::Fixed).base(ms(milliseconds))
}

#[test]
fn each_bound_is_where_it_is_said_to_be() {
    let day = Duration::from_secs(86_400);
    for (rule, refused, accepted) in [
        (Rule::NoAttempt, P.max(0), P.max(1)),
        (
            Rule::TooLong,
            P.deadline(Duration::new(86_400, 1)),
            P.deadline(day),
        ),
        (Rule::FactorRange, P.factor(f64::INFINITY), P.factor(1.01)),
        (Rule::FactorRange, P.factor(1.0), P.factor(1.01)),
        (
            Rule::JitterRange,
            P.jitter(Jitter::Ratio(f64::NAN)),
            P.jitter(Jitter::Ratio(1.0)),
        ),
        (
            Rule::TimeoutAboveDeadline,
            P.timeout(SECOND).deadline(SECOND),
            P.timeout(SECOND).deadline(SECOND).max(1),
        ),
        (
            Rule::Endless,
            FIXED.reset_after(Duration::from_secs(60)),
            FIXED.max(20),
        ),
        (
            Rule::TooMany,
            P.max(4).cap(Duration::from_micros(999)),
            P.max(4).cap(ms(1)),
        ),
        (
            Rule::TooMany,
            P.backoff(Backoff::None).max(4),
            P.backoff(Backoff::None).max(3),
        ),
        (Rule::TooMany, FIXED.max(21), FIXED.max(20)),
        (
            Rule::HardlyAnyTime,
            P.timeout(ms(9)).max(4),
            P.timeout(ms(9)).max(3),
        ),
        (
            Rule::HardlyAnyTime,
            FIXED.timeout(ms(100)).deadline(ms(199)),
            FIXED.timeout(ms(100)).deadline(ms(200)),
        ),
        (
            Rule::HardlyAnyTime,
            FIXED.timeout(ms(100)).deadline(ms(199)),
            FIXED.timeout(ms(100)).deadline(ms(199)).max(1),
        ),
        (
            Rule::HardlyAnyTime,
            P.timeout(ms(9)).max(4),
            P.timeout(ms(9)).max(4).decided(),
        ),
        (
            Rule::ResetTooSoon,
            P.reset_after(Duration::from_secs(10)),
            P.backoff(Backoff::None)
                .reset_after(Duration::from_secs(10)),
        ),
        (Rule::TooMuch, P.max(10_001), P.max(10_000)),
        (Rule::TooMuch, P.max(10_001), P.max(10_001).budgeted()),
        (
            Rule::TooMuch,
            FIXED.base(ms(9)).max(200).deadline(day),
            FIXED.base(ms(9)).max(101).deadline(day),
        ),
        // However long the delays may become, each may be the shortest.
        (
            Rule::TooMuch,
            P.backoff(Backoff::Decorrelated).base(ms(9)).max(200),
            P.backoff(Backoff::Decorrelated).base(ms(10)).max(200),
        ),
        // One random delay may take no time, however long it may be.
        (
            Rule::TooMuch,
            spread(9).first(ms(870)).max(108).deadline(ms(590)),
            spread(9).first(ms(870)).max(108).deadline(ms(300)),
        ),
        (
            Rule::TooMuch,
            spread(30)
                .first(ms(14_000))
                .max(20_000)
                .deadline(150 * SECOND),
            spread(30)
                .first(ms(14_000))
                .max(20_000)
                .deadline(143 * SECOND),
        ),
    ] {
        assert!(rule.check(&refused).is_some(), "{rule:?} {refused:?}");
        assert!(rule.check(&accepted).is_none(), "{rule:?} {accepted:?}");
    }
}

#[test]
fn the_first_attempt_that_never_starts_is_named() {
    let policy = FIXED.deadline(ms(350));
    for (max, text) in [
        (5, "attempt 5 of 5"),
        (6, "attempt 5 of 6"),
        (20, "attempt 5 of 20"),
    ] {
        let violation = Rule::NeverStarts
            .check(&policy.max(max))
            .expect("a violation");
        assert!(violation.to_string().contains(text), "{violation}");
    }
    assert!(Rule::NeverStarts.check(&policy.max(4)).is_none());
}

/// What a call keeps to is the nearest policy, and what it reports is the first rule.
#[test]
fn what_a_call_keeps_to_is_near() {
    let kept = |policy: Values| policy.broken().expect("a rule is broken");
    let none = P.backoff(Backoff::None);
    assert_eq!(
        kept(none.max(21)).tamed.and_then(|kept| kept.attempts()),
        Some(3)
    );
    assert_eq!(
        kept(FIXED.max(30)).tamed.and_then(|kept| kept.attempts()),
        Some(20)
    );
    let resets = kept(P.reset_after(SECOND)).tamed.expect("a policy");
    assert!(
        resets.is_same(&P.reset_after(Duration::from_secs(20))),
        "{resets:?}"
    );
    let two = kept(FIXED.base(Duration::ZERO).max(30));
    assert_eq!(two.violation.rule(), Rule::NoBase.id());
    // A key that has no effect changes nothing.
    assert!(P.base(Duration::from_secs(30)).broken().is_none());
}

/// Where a longer `base` is above the cap, or is cut by it, the cap has to be longer.
#[test]
fn too_many_attempts_below_a_short_cap_need_a_longer_one() {
    for (base, cap) in [(8, 9), (3, 3)] {
        let policy = P
            .jitter(Jitter::None)
            .base(ms(base))
            .cap(ms(cap))
            .max(1000)
            .deadline(60 * SECOND);
        let said: Vec<_> = policy.violations().map(|it| it.to_string()).collect();
        let names_it = |text: &String| text.contains("lower `max` to 101, write `cap = \"");
        assert!(said.iter().any(names_it), "{said:?}");
    }
}

/// The fix is the largest number that is accepted: of the attempts in a second, or in all.
#[test]
fn too_much_is_as_much_as_is_named() {
    let day = Duration::from_secs(86_400);
    for (policy, max) in [
        (FIXED.base(ms(9)).max(20_000).deadline(day), 101),
        (FIXED.base(ms(10)).max(20_000).deadline(day), 10_000),
        (FIXED.base(ms(11)).max(20_000).deadline(day), 10_000),
    ] {
        let said = Rule::TooMuch.check(&policy).expect("a violation");
        let said = said.to_string();
        assert!(said.contains(&format!("lower `max` to {max} ")), "{said}");
        assert!(Rule::TooMuch.check(&policy.max(max)).is_none(), "{max}");
    }
}
