//! Every rule about values at run time: what it refuses, at which key, in which
//! words, and the nearest policy that it accepts. `tests/ui/rules` has the same
//! for literals and constants, where a refusal is a compile error.

#![allow(clippy::expect_used, reason = "a test that panics has failed")]

use std::time::Duration;

use reattempt::policy::rules::{Key, Rule};
use reattempt::{Backoff, Budget, Jitter, Policy, policy::Nested};

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

const HOURS_24: Duration = Duration::from_secs(24 * 60 * 60);

struct Case {
    id: &'static str,
    refused: Policy,
    key: Key,
    message: &'static str,
    /// The nearest policy that breaks no rule.
    accepted: Policy,
}

const fn case(
    id: &'static str,
    refused: Policy,
    key: Key,
    message: &'static str,
    accepted: Policy,
) -> Case {
    Case {
        id,
        refused,
        key,
        message,
        accepted,
    }
}

const P: Policy = Policy::new();

const RESETS: Policy = P.reset_after(ms(60_000)).deadline(HOURS_24);

static BUDGET: Budget = Budget::per_success(0.1);

const fn nothing(_: u32) -> Duration {
    Duration::ZERO
}

const CASES: &[Case] = &[
    case(
        "R1",
        P.max(0),
        Key::Max,
        "`max` counts the first attempt too, so 0 would never call at all; write `max = 1` for no retry or `max = 3` for two",
        P.max(1),
    ),
    case(
        "R2",
        P.max_retry_after(HOURS_24.saturating_add(ms(1000))),
        Key::MaxRetryAfter,
        "`max_retry_after` of 24h 1s is above the longest duration of a policy; lower it to 24h or less",
        P.max_retry_after(HOURS_24),
    ),
    case(
        "R2",
        P.cap(Duration::MAX),
        Key::Cap,
        "`cap` of an endless time is above the longest duration of a policy; lower it to 24h or less",
        P.cap(HOURS_24),
    ),
    case(
        "R2",
        P.timeout(HOURS_24.saturating_add(ms(1000))),
        Key::Timeout,
        "`timeout` of 24h 1s is above the longest duration of a policy; lower it to 24h or less",
        P.timeout(HOURS_24),
    ),
    case(
        "R3",
        P.backoff(Backoff::Linear).base(Duration::ZERO),
        Key::Base,
        "`base` of 0 makes every delay of `backoff = \"linear\"` 0; write `base = \"100ms\"`, or `backoff = \"none\"` if no delay is meant",
        P.backoff(Backoff::Linear).base(Duration::from_nanos(1)),
    ),
    case(
        "R4",
        P.factor(1.0),
        Key::Factor,
        "`factor` must be finite and above 1, but is 1; write `factor = 2.0`, or `backoff = \"fixed\"` for delays that do not grow",
        P.factor(1.001),
    ),
    case(
        "R4",
        P.factor(f64::INFINITY),
        Key::Factor,
        "`factor` must be finite and above 1, but is infinity; write `factor = 2.0`, or `backoff = \"fixed\"` for delays that do not grow",
        P.factor(f64::MAX),
    ),
    case(
        "R5",
        P.jitter(Jitter::Ratio(f64::NAN)),
        Key::Jitter,
        "`jitter` must be a share of the delay from 0.0 to 1.0, but is NaN; write `jitter = 0.2` for +/-20 %",
        P.jitter(Jitter::Ratio(0.0)),
    ),
    case(
        "R5",
        P.jitter(Jitter::Ratio(1.001)),
        Key::Jitter,
        "`jitter` must be a share of the delay from 0.0 to 1.0, but is 1.001; write `jitter = 0.2` for +/-20 %",
        P.jitter(Jitter::Ratio(1.0)),
    ),
    case(
        "R6",
        P.cap(Duration::ZERO),
        Key::Cap,
        "`cap` of 0 makes every delay 0; write `cap = \"20s\"`, or `backoff = \"none\"` if no delay is meant",
        P.base(Duration::from_nanos(1)).cap(Duration::from_nanos(1)),
    ),
    case(
        "R7",
        P.deadline(Duration::ZERO),
        Key::Deadline,
        "`deadline` of 0 is over before the first attempt; write `deadline = \"5s\"`, or leave it out for no limit",
        P.backoff(Backoff::None).deadline(Duration::from_nanos(1)),
    ),
    case(
        "R8",
        P.timeout(Duration::from_micros(999)),
        Key::Timeout,
        "`timeout` of 999us is below 1ms, which is too short for a real attempt; write `timeout = \"1s\"`, or leave it out for no limit",
        P.timeout(ms(1)),
    ),
    case(
        "R8",
        P.timeout(Duration::ZERO).deadline(ms(1000)),
        Key::Timeout,
        "`timeout` of 0s is below 1ms, which is too short for a real attempt; write `timeout = \"1s\"`, or leave it out for no limit",
        P.timeout(ms(1)).deadline(ms(1000)),
    ),
    case(
        "X1",
        P.base(ms(30_000)),
        Key::Base,
        "`base` of 30s is above `cap`, which is 20s by default; lower `base` or write `cap = \"30s\"`",
        P.base(ms(20_000)),
    ),
    case(
        "X1",
        P.first(ms(3000)).cap(ms(2000)),
        Key::First,
        "`first` of 3s is above `cap`, which is 2s; lower `first` or write `cap = \"3s\"`",
        P.first(ms(2000)).cap(ms(2000)),
    ),
    case(
        "X1",
        P.cap(ms(50)),
        Key::Cap,
        "`cap` of 50ms is below `base`, which is 100ms by default; raise `cap` or write `base = \"50ms\"`",
        P.cap(ms(100)),
    ),
    case(
        "X2",
        P.base(ms(1000)).jitter(Jitter::None).deadline(ms(1000)),
        Key::Base,
        "`base` of 1s is not below `deadline` of 1s: no retry could ever start; lower `base` or raise `deadline`",
        P.base(ms(1000)).deadline(ms(1000)),
    ),
    case(
        "X2",
        P.max(2)
            .base(ms(2000))
            .jitter(Jitter::Equal)
            .deadline(ms(1000)),
        Key::Base,
        "`base` of 2s makes a first delay of at least 1s, which is not below `deadline` of 1s: no retry could ever start; lower `base` or raise `deadline`",
        P.max(2)
            .base(ms(2000))
            .jitter(Jitter::Equal)
            .deadline(ms(1001)),
    ),
    case(
        "X2",
        P.max(2).jitter(Jitter::Equal).deadline(ms(50)),
        Key::Deadline,
        "`deadline` of 50ms leaves no time for a first delay of at least 50ms, as `base` is 100ms by default: no retry could ever start; raise `deadline` or write a shorter `base`",
        P.max(2).jitter(Jitter::Equal).deadline(ms(51)),
    ),
    case(
        "X2",
        P.backoff(Backoff::Decorrelated)
            .base(ms(1000))
            .deadline(ms(1000)),
        Key::Base,
        "`base` of 1s is not below `deadline` of 1s: no retry could ever start; lower `base` or raise `deadline`",
        P.max(2)
            .backoff(Backoff::Decorrelated)
            .base(ms(1000))
            .deadline(ms(1001)),
    ),
    case(
        "X3",
        P.timeout(ms(1001)).deadline(ms(1000)),
        Key::Timeout,
        "`timeout` of 1.001s is above `deadline` of 1s, so no attempt could use it up; lower `timeout` or raise `deadline`",
        P.timeout(ms(999)).deadline(ms(1000)),
    ),
    case(
        "X3",
        P.timeout(ms(1000)).deadline(ms(1000)),
        Key::Timeout,
        "`timeout` of 1s uses up the whole `deadline`, so no attempt could follow one that timed out; lower `timeout` or raise `deadline`, or write `max = 1`",
        P.timeout(ms(1000).saturating_sub(Duration::from_nanos(1)))
            .deadline(ms(1000)),
    ),
    case(
        "X3",
        P.max(1).timeout(ms(1001)).deadline(ms(1000)),
        Key::Timeout,
        "`timeout` of 1.001s is above `deadline` of 1s, so no attempt could use it up; lower `timeout` or raise `deadline`",
        P.max(1).timeout(ms(1000)).deadline(ms(1000)),
    ),
    case(
        "X4",
        P.max(5)
            .base(ms(200))
            .jitter(Jitter::None)
            .deadline(ms(1000)),
        Key::Deadline,
        "`deadline` of 1s is over before attempt 4 of 5 can start (at least 1.4s of delays come before it); raise `deadline` or lower `max` to 3",
        P.max(3)
            .base(ms(200))
            .jitter(Jitter::None)
            .deadline(ms(1000)),
    ),
    case(
        "X4",
        P.max(4)
            .backoff(Backoff::Fixed)
            .base(ms(100))
            .jitter(Jitter::Equal)
            .deadline(ms(150)),
        Key::Deadline,
        "`deadline` of 150ms is over before attempt 4 of 4 can start (at least 150ms of delays come before it); raise `deadline` or lower `max` to 3",
        P.max(4)
            .backoff(Backoff::Fixed)
            .base(ms(100))
            .jitter(Jitter::Equal)
            .deadline(ms(151)),
    ),
    case(
        "X4",
        P.max(5)
            .backoff(Backoff::Fixed)
            .base(ms(100))
            .jitter(Jitter::Ratio(0.5))
            .fast_first(true)
            .deadline(ms(150)),
        Key::Deadline,
        "`deadline` of 150ms is over before attempt 5 of 5 can start (at least 150ms of delays come before it); raise `deadline` or lower `max` to 4",
        P.max(4)
            .backoff(Backoff::Fixed)
            .base(ms(100))
            .jitter(Jitter::Ratio(0.5))
            .fast_first(true)
            .deadline(ms(150)),
    ),
    case(
        "X4",
        P.max(u32::MAX - 1)
            .backoff(Backoff::Decorrelated)
            .base(ms(10))
            .deadline(ms(10_000)),
        Key::Deadline,
        "`deadline` of 10s is over before attempt 1001 of 4294967294 can start (at least 10s of delays come before it); raise `deadline` or lower `max` to 1000",
        P.max(1000)
            .backoff(Backoff::Decorrelated)
            .base(ms(10))
            .deadline(ms(10_000)),
    ),
    case(
        "X5",
        P.max(1).jitter(Jitter::None),
        Key::Jitter,
        "`jitter` matters only for a retry, and `max = 1` allows none; drop `jitter` or write `max = 3`",
        P.max(1).deadline(ms(5)),
    ),
    case(
        "X5",
        P.max(1).nested(Nested::Multiply),
        Key::Nested,
        "`nested` matters only for a retry, and `max = 1` allows none; drop `nested` or write `max = 3`",
        P.max(2).nested(Nested::Multiply),
    ),
    case(
        "X4",
        P.max(500_000)
            .backoff(Backoff::Linear)
            .base(ms(2))
            .cap(HOURS_24)
            .jitter(Jitter::None)
            .deadline(HOURS_24),
        Key::Deadline,
        "`deadline` of 24h is over before attempt 9296 of 500000 can start (at least 24h 6.32s of delays come before it); raise `deadline` or lower `max` to 9295",
        P.max(9_295)
            .backoff(Backoff::Linear)
            .base(ms(2))
            .cap(HOURS_24)
            .jitter(Jitter::None)
            .deadline(HOURS_24),
    ),
    case(
        "X6",
        P.unlimited()
            .backoff(Backoff::Fixed)
            .base(ms(999))
            .jitter(Jitter::None),
        Key::Max,
        "`max = \"unlimited\"` needs longer delays or another bound, but the delay before retry 20 is at most 999ms; write `base = \"1s\"` or `max = 20`, or add `deadline = \"30s\"` or `budget = 0.1`",
        P.unlimited()
            .backoff(Backoff::Fixed)
            .base(ms(1000))
            .jitter(Jitter::None),
    ),
    case(
        "X6",
        P.unlimited()
            .backoff(Backoff::Fixed)
            .base(ms(999))
            .jitter(Jitter::None),
        Key::Max,
        "`max = \"unlimited\"` needs longer delays or another bound, but the delay before retry 20 is at most 999ms; write `base = \"1s\"` or `max = 20`, or add `deadline = \"30s\"` or `budget = 0.1`",
        P.unlimited()
            .backoff(Backoff::Fixed)
            .base(ms(999))
            .jitter(Jitter::None)
            .deadline(ms(30_000)),
    ),
    case(
        "X6",
        P.unlimited()
            .backoff(Backoff::Fixed)
            .base(ms(999))
            .jitter(Jitter::None),
        Key::Max,
        "`max = \"unlimited\"` needs longer delays or another bound, but the delay before retry 20 is at most 999ms; write `base = \"1s\"` or `max = 20`, or add `deadline = \"30s\"` or `budget = 0.1`",
        P.unlimited()
            .backoff(Backoff::Fixed)
            .base(ms(999))
            .jitter(Jitter::None)
            .budget(&BUDGET),
    ),
    case(
        "X6",
        P.unlimited().cap(ms(999)),
        Key::Max,
        "`max = \"unlimited\"` needs longer delays or another bound, but the delay before retry 20 is at most 999ms; write `cap = \"1s\"` or `max = 20`, or add `deadline = \"30s\"` or `budget = 0.1`",
        P.unlimited(),
    ),
    case(
        "X6",
        P.unlimited().backoff(Backoff::None).deadline(ms(30_000)),
        Key::Max,
        "`max = \"unlimited\"` with `backoff = \"none\"` would call for ever without a pause; write `backoff = \"exp\"` or `max = 3`",
        P.unlimited().backoff(Backoff::Exp).deadline(ms(30_000)),
    ),
    case(
        "X6",
        P.unlimited().backoff(Backoff::None).budget(&BUDGET),
        Key::Max,
        "`max = \"unlimited\"` with `backoff = \"none\"` would call for ever without a pause; write `backoff = \"exp\"` or `max = 3`",
        P.unlimited().budget(&BUDGET),
    ),
    case(
        "X6",
        P.unlimited()
            .base(Duration::from_micros(999))
            .deadline(ms(30_000)),
        Key::Max,
        "`max = \"unlimited\"` with `base = \"999us\"` would call for ever without a pause; write `base = \"100ms\"` or `max = 3`",
        P.unlimited().base(ms(1)).deadline(ms(30_000)),
    ),
    case(
        "X6",
        P.unlimited().base(Duration::from_micros(999)),
        Key::Max,
        "`max = \"unlimited\"` with `base = \"999us\"` would call for ever without a pause; write `base = \"100ms\"` or `max = 3`",
        P.unlimited().backoff(Backoff::Custom(&nothing)),
    ),
    case(
        "X7",
        P.max(21)
            .backoff(Backoff::Fixed)
            .base(ms(999))
            .jitter(Jitter::None),
        Key::Max,
        "`max` of 21 is above 20, which needs longer delays or another bound, but the delay before retry 20 is at most 999ms; write `base = \"1s\"` or `max = 20`, or add `deadline = \"30s\"` or `budget = 0.1`",
        P.max(20)
            .backoff(Backoff::Fixed)
            .base(ms(999))
            .jitter(Jitter::None),
    ),
    case(
        "X7",
        P.max(21)
            .backoff(Backoff::Fixed)
            .base(ms(999))
            .jitter(Jitter::None),
        Key::Max,
        "`max` of 21 is above 20, which needs longer delays or another bound, but the delay before retry 20 is at most 999ms; write `base = \"1s\"` or `max = 20`, or add `deadline = \"30s\"` or `budget = 0.1`",
        P.max(21)
            .backoff(Backoff::Fixed)
            .base(ms(1000))
            .jitter(Jitter::None),
    ),
    case(
        "X7",
        P.max(21)
            .backoff(Backoff::Fixed)
            .base(ms(999))
            .jitter(Jitter::None),
        Key::Max,
        "`max` of 21 is above 20, which needs longer delays or another bound, but the delay before retry 20 is at most 999ms; write `base = \"1s\"` or `max = 20`, or add `deadline = \"30s\"` or `budget = 0.1`",
        P.max(21)
            .backoff(Backoff::Fixed)
            .base(ms(999))
            .jitter(Jitter::None)
            .budget(&BUDGET),
    ),
    case(
        "X7",
        P.max(4).backoff(Backoff::None),
        Key::Max,
        "`max` of 4 with `backoff = \"none\"` hammers the service: at most 3 attempts may follow each other with less than 1ms between them; write `backoff = \"exp\"` or `max = 3`, or add `budget = 0.1`",
        P.max(3).backoff(Backoff::None),
    ),
    case(
        "X7",
        P.max(4).backoff(Backoff::None),
        Key::Max,
        "`max` of 4 with `backoff = \"none\"` hammers the service: at most 3 attempts may follow each other with less than 1ms between them; write `backoff = \"exp\"` or `max = 3`, or add `budget = 0.1`",
        P.max(4).backoff(Backoff::None).budget(&BUDGET),
    ),
    case(
        "X7",
        P.max(4).base(Duration::from_nanos(1)),
        Key::Max,
        "`max` of 4 with `base = \"1ns\"` hammers the service: at most 3 attempts may follow each other with less than 1ms between them; write `base = \"100ms\"` or `max = 3`, or add `budget = 0.1`",
        P.max(3).base(Duration::from_nanos(1)),
    ),
    case(
        "X16",
        P.max(4).timeout(ms(9)),
        Key::Timeout,
        "`timeout` of 9ms is below 10ms, so a service that is a little slower than usual gets every call several times; raise `timeout` to 10ms or more, or lower `max` to 3",
        P.max(4).timeout(ms(10)),
    ),
    case(
        "X16",
        P.max(4).timeout(ms(9)),
        Key::Timeout,
        "`timeout` of 9ms is below 10ms, so a service that is a little slower than usual gets every call several times; raise `timeout` to 10ms or more, or lower `max` to 3",
        P.max(3).timeout(ms(9)),
    ),
    case(
        "X16",
        P.max(2)
            .jitter(Jitter::None)
            .timeout(ms(901))
            .deadline(ms(1000)),
        Key::Timeout,
        "`timeout` of 901ms and a first delay of at least 100ms do not fit into `deadline` of 1s, so no attempt could follow one that timed out; lower `timeout` to 900ms or raise `deadline`",
        P.max(2)
            .jitter(Jitter::None)
            .timeout(ms(900))
            .deadline(ms(1000)),
    ),
    case(
        "X17",
        P.backoff(Backoff::None).fast_first(true),
        Key::FastFirst,
        "`fast_first` has no effect on `backoff = \"none\"`, which makes every retry immediate; drop `fast_first`",
        P.backoff(Backoff::None),
    ),
    case(
        "X17",
        P.max(2).fast_first(true).jitter(Jitter::None),
        Key::Jitter,
        "`jitter` has no effect on the only retry of `max = 2`, which `fast_first` makes immediate; drop `jitter`",
        P.max(2).fast_first(true),
    ),
    case(
        "X17",
        P.max(2).factor(3.0),
        Key::Factor,
        "`factor` has no effect on the only retry of `max = 2`; drop `factor`",
        P.max(3).factor(3.0),
    ),
    case(
        "X17",
        P.backoff(Backoff::Fixed).fast_first(true).first(ms(50)),
        Key::First,
        "`first` has no effect on the first retry, which `fast_first` makes immediate; drop `first`",
        P.backoff(Backoff::Linear).fast_first(true).first(ms(50)),
    ),
    case(
        "X8",
        P.backoff(Backoff::Fixed).factor(3.0),
        Key::Factor,
        "`factor` has no effect on `backoff = \"fixed\"`; drop `factor` or write `backoff = \"exp\"`",
        P.backoff(Backoff::Fixed),
    ),
    case(
        "X8",
        P.backoff(Backoff::None).base(ms(5)),
        Key::Base,
        "`base` has no effect on `backoff = \"none\"`; drop `base` or write `backoff = \"exp\"`",
        P.backoff(Backoff::None),
    ),
    case(
        "X8",
        P.backoff(Backoff::Decorrelated).jitter(Jitter::Full),
        Key::Jitter,
        "`jitter` has no effect on `backoff = \"decorrelated\"`; drop `jitter` or write `backoff = \"exp\"`",
        P.backoff(Backoff::Decorrelated).base(ms(5)),
    ),
    case(
        "R2",
        RESETS.reset_after(HOURS_24.saturating_add(ms(1000))),
        Key::ResetAfter,
        "`reset_after` of 24h 1s is above the longest duration of a policy; lower it to 24h or less",
        RESETS.reset_after(HOURS_24),
    ),
    case(
        "X5",
        RESETS.max(1),
        Key::ResetAfter,
        "`reset_after` matters only for a retry, and `max = 1` allows none; drop `reset_after` or write `max = 3`",
        RESETS.max(2),
    ),
    case(
        "X6",
        P.backoff(Backoff::Fixed).reset_after(ms(60_000)),
        Key::ResetAfter,
        "`reset_after` needs longer delays or another bound, but the delay before retry 20 is at most 100ms; write `base = \"1s\"`, or drop `reset_after`, or add `deadline = \"30s\"` or `budget = 0.1`",
        P.reset_after(ms(60_000)),
    ),
    case(
        "X6",
        RESETS.backoff(Backoff::None),
        Key::ResetAfter,
        "`reset_after` with `backoff = \"none\"` would call for ever without a pause; write `backoff = \"exp\"`, or drop `reset_after`",
        RESETS.backoff(Backoff::Exp),
    ),
    case(
        "X18",
        RESETS.cap(ms(5_000)).reset_after(ms(9_999)),
        Key::ResetAfter,
        "`reset_after` of 9.999s is below 10s, and an attempt that fails so soon was not a healthy one; write `reset_after = \"1m\"`",
        RESETS.cap(ms(5_000)).reset_after(ms(10_000)),
    ),
    case(
        "X18",
        RESETS.reset_after(ms(19_999)),
        Key::ResetAfter,
        "`reset_after` of 19.999s is below `cap`, which is 20s by default; write `reset_after = \"20s\"`, or lower `cap`",
        RESETS.reset_after(ms(20_000)),
    ),
    case(
        "X18",
        RESETS.cap(ms(60_001)),
        Key::ResetAfter,
        "`reset_after` of 1m is below `cap`, which is 1m 0.001s; write `reset_after = \"1m 0.001s\"`, or lower `cap`",
        RESETS.cap(ms(60_000)),
    ),
    case(
        "X19",
        P.backoff(Backoff::Fixed)
            .base(ms(9))
            .jitter(Jitter::None)
            .max(200)
            .deadline(ms(5_000)),
        Key::Max,
        "`max` of 200 makes up to 112 attempts in a second after the first, and 200 in all, of which at most 100 and 10000 need no budget of their own; lower `max` to 101, write `base = \"10ms\"`, or add `budget = 0.1`",
        P.backoff(Backoff::Fixed)
            .base(ms(10))
            .jitter(Jitter::None)
            .max(200)
            .deadline(ms(5_000)),
    ),
    case(
        "X19",
        P.backoff(Backoff::Fixed)
            .base(ms(1))
            .jitter(Jitter::None)
            .unlimited()
            .deadline(HOURS_24),
        Key::Max,
        "`max = \"unlimited\"` makes up to 1000 attempts in a second after the first, and 86400000 in all, of which at most 100 and 10000 need no budget of their own; lower `max` to 101, write `base = \"8.64s\"`, or add `budget = 0.1`",
        P.backoff(Backoff::Fixed)
            .base(ms(8_641))
            .jitter(Jitter::None)
            .unlimited()
            .deadline(HOURS_24),
    ),
    case(
        "X19",
        P.max(10_001),
        Key::Max,
        "`max` of 10001 makes up to 4 attempts in a second after the first, and 10001 in all, of which at most 100 and 10000 need no budget of their own; lower `max` to 10000 or add `budget = 0.1`",
        P.max(10_000),
    ),
];

/// What a policy of its own budget makes in total the budget bounds, and the default one does not.
#[test]
fn a_budget_of_its_own_permits_more() {
    let many = P.max(10_001);
    assert_eq!(many.budget(&BUDGET).violation(), None);
    assert_eq!(many.decided().violation(), None);
    for refused in [many, many.budget(&BUDGET).without_budget()] {
        let violation = refused.violation().expect("refused");
        assert_eq!(violation.rule().as_str(), "X19");
    }
}

/// 21 attempts are not above 20 where the count starts anew, and a strategy bounds what it decides.
#[test]
fn a_count_that_starts_anew_is_unlimited() {
    for accepted in [
        RESETS.max(21),
        RESETS.unlimited(),
        P.reset_after(ms(60_000)).decided(),
    ] {
        assert_eq!(accepted.violation(), None, "{accepted:?}");
    }
    let worst = RESETS.worst_case();
    assert_eq!(
        (worst.attempts(), worst.total_delay()),
        (None, Some(HOURS_24))
    );
    let worst = P.reset_after(ms(60_000)).budget(&BUDGET).worst_case();
    assert_eq!(
        (worst.attempts(), worst.total_delay(), worst.total_time()),
        (None, None, None)
    );
    assert_eq!(
        P.reset_after(ms(60_000))
            .budget(&BUDGET)
            .explain()
            .to_string(),
        "Up to 3 attempts; delays of up to 100 ms, 200 ms, each drawn from 0 to that; after an attempt of 1 m or more \
         the count starts anew; retries while the budget lasts."
    );
}

#[test]
fn refused_and_nearest_accepted() {
    for Case {
        id,
        refused,
        key,
        message,
        accepted,
    } in CASES
    {
        let found: Vec<_> = refused.violations().collect();
        let [violation] = found.as_slice() else {
            panic!(
                "{id}: expected one violation, found {:?}",
                found.iter().map(ToString::to_string).collect::<Vec<_>>()
            );
        };
        assert_eq!(violation.rule().as_str(), *id, "{violation}");
        assert_eq!(violation.key(), Some(*key), "{violation}");
        assert_eq!(violation.message(), *message);
        let anchor = id.to_lowercase();
        assert_eq!(
            refused.violation().expect("refused").to_string(),
            format!(
                "{message} (rule {id}: https://reattempt.github.io/reattempt/errors.html#{anchor})"
            )
        );
        assert_eq!(accepted.violation(), None, "{id}: {accepted:?}");
    }
}

#[test]
fn every_rule_has_a_case() {
    for rule in Rule::ALL {
        assert!(
            CASES.iter().any(|case| case.id == rule.id().as_str()),
            "{rule:?}"
        );
    }
}

/// The form that all messages keep.
#[test]
fn messages_name_the_rule_then_the_fix() {
    for case in CASES {
        let (rule, fix) = case.message.split_once("; ").unwrap_or_default();
        assert!(!rule.is_empty() && !fix.is_empty(), "{}", case.message);
        assert!(
            !case.message.starts_with(char::is_uppercase) && !case.message.ends_with('.'),
            "{}",
            case.message
        );
        assert!(
            rule.contains(&format!("`{}`", case.key)) || rule.contains(&format!("`{} ", case.key)),
            "{}",
            case.message
        );
    }
}

/// What breaks several rules hears of all of them.
#[test]
fn all_at_once() {
    let policy = P
        .max(0)
        .factor(0.5)
        .jitter(Jitter::Ratio(-0.5))
        .cap(Duration::ZERO)
        .deadline(Duration::ZERO)
        .timeout(Duration::ZERO);
    let ids: Vec<_> = policy
        .violations()
        .map(|violation| violation.rule().as_str())
        .collect();
    assert_eq!(ids, ["R1", "R4", "R5", "R6", "R7", "R8"]);
}

/// A constant is refused when it is evaluated, with the same words.
#[test]
fn a_constant_panics_with_the_message() {
    let panic = std::panic::catch_unwind(|| P.max(0).checked()).expect_err("refused");
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref().copied());
    assert!(
        message.is_some_and(|message| message.starts_with("`max` counts")),
        "{message:?}"
    );
}
