//! One function a rule: a policy in, the key and the message out.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;

use super::Key::{
    self, Base, Budget, Cap, Codes, Deadline, Factor, FastFirst, First, Idempotent, Max,
    MaxRetryAfter, Nested, ResetAfter, ThrottledBase, Timeout,
};
use crate::backoff::Backoff;
use crate::duration::{LONGEST, is_shorter};
use crate::jitter::Jitter;
use crate::text::Text;
use crate::values::Values;

pub(super) type Broken = Option<(Key, Text)>;

pub(super) const fn say(text: &str) -> Text {
    Text::new().push(text)
}

/// R1: the first call is an attempt, too.
pub(super) const fn no_attempt(policy: &Values) -> Broken {
    if policy.max != 0 {
        return None;
    }
    Some((
        Max,
        say(
            "`max` counts the first attempt too, so 0 would never call at all; write `max = 1` for no retry or `max = 3` for two",
        ),
    ))
}

/// R2: no duration is above 24 hours.
pub(super) const fn too_long(policy: &Values) -> Broken {
    const fn or_zero(limit: Option<Duration>) -> Duration {
        match limit {
            Some(limit) => limit,
            None => Duration::ZERO,
        }
    }
    let mut rest: &[(Key, Duration)] = &[
        (Base, policy.base.duration()),
        (First, policy.first.duration()),
        (Cap, policy.cap.duration()),
        (ThrottledBase, policy.throttled_base),
        (ResetAfter, or_zero(policy.reset_after)),
        (Deadline, or_zero(policy.deadline)),
        (Timeout, or_zero(policy.timeout)),
        (MaxRetryAfter, policy.max_retry_after),
        (Codes, policy.codes.longest_base()),
    ];
    while let [(key, duration), tail @ ..] = rest {
        if is_shorter(LONGEST, *duration) {
            let text = Text::new()
                .key(key.as_str())
                .push(" of ")
                .duration(*duration, "");
            return Some((
                *key,
                text.push(" is above the longest duration of a policy; lower it to 24h or less"),
            ));
        }
        rest = tail;
    }
    None
}

/// R3: a shape that grows from nothing stays nothing.
pub(super) const fn no_base(policy: &Values) -> Broken {
    match policy.backoff {
        Backoff::None | Backoff::Custom(_) => None,
        _ if policy.base.0 > 0.0 => None,
        shape => {
            let text = say("`base` of 0 makes every delay of `backoff = \"").push(shape.as_str());
            Some((
                Base,
                text.push(
                    "\"` 0; write `base = \"100ms\"`, or `backoff = \"none\"` if no delay is meant",
                ),
            ))
        }
    }
}

/// R4: what does not grow is no exponential.
pub(super) const fn factor_range(policy: &Values) -> Broken {
    if policy.factor.is_finite() && policy.factor > 1.0 {
        return None;
    }
    let text = say("`factor` must be finite and above 1, but is ").float(policy.factor);
    Some((
        Factor,
        text.push("; write `factor = 2.0`, or `backoff = \"fixed\"` for delays that do not grow"),
    ))
}

/// R5: a share lies between none and all.
pub(super) const fn jitter_range(policy: &Values) -> Broken {
    match policy.jitter {
        Jitter::Ratio(ratio) if !(ratio >= 0.0 && ratio <= 1.0) => {
            let text =
                say("`jitter` must be a share of the delay from 0.0 to 1.0, but is ").float(ratio);
            Some((Key::Jitter, text.push("; write `jitter = 0.2` for +/-20 %")))
        }
        _ => None,
    }
}

/// R6: a cap of nothing is no delay.
pub(super) const fn no_cap(policy: &Values) -> Broken {
    if policy.cap.0 > 0.0 {
        return None;
    }
    Some((
        Cap,
        say(
            "`cap` of 0 makes every delay 0; write `cap = \"20s\"`, or `backoff = \"none\"` if no delay is meant",
        ),
    ))
}

/// R7: a deadline that is over at once.
pub(super) const fn no_deadline(policy: &Values) -> Broken {
    match policy.deadline {
        Some(deadline) if deadline.is_zero() => Some((
            Deadline,
            say(
                "`deadline` of 0 is over before the first attempt; write `deadline = \"5s\"`, or leave it out for no limit",
            ),
        )),
        _ => None,
    }
}

/// R8: what no attempt can keep to.
pub(super) const fn no_timeout(policy: &Values) -> Broken {
    match policy.timeout {
        Some(timeout) if is_shorter(timeout, SHORTEST_TIMEOUT) => {
            let text = say("`timeout` of ").duration(timeout, "");
            Some((
                Timeout,
                text.push(
                    " is below 1ms, which is too short for a real attempt; write `timeout = \"1s\"`, or leave it out for no limit",
                ),
            ))
        }
        _ => None,
    }
}

/// A `timeout` is at least this long.
pub const SHORTEST_TIMEOUT: Duration = Duration::from_millis(1);

/// X3: a limit of one attempt that the limit of all makes useless.
pub(super) const fn timeout_above_deadline(policy: &Values) -> Broken {
    let (Some(timeout), Some(deadline)) = (policy.timeout, policy.deadline) else {
        return None;
    };
    // Each is judged alone first.
    if deadline.is_zero() {
        return None;
    }
    let text = say("`timeout` of ").duration(timeout, "");
    if is_shorter(deadline, timeout) {
        let text = text
            .push(" is above `deadline` of ")
            .duration(deadline, "")
            .push(", so no attempt could use it up");
        return Some((Timeout, text.push("; lower `timeout` or raise `deadline`")));
    }
    if policy.max == 1 || is_shorter(timeout, deadline) {
        return None;
    }
    let text =
        text.push(" uses up the whole `deadline`, so no attempt could follow one that timed out");
    Some((
        Timeout,
        text.push("; lower `timeout` or raise `deadline`, or write `max = 1`"),
    ))
}

/// X1: what starts above the cap never grows.
pub(super) const fn above_cap(policy: &Values) -> Broken {
    if matches!(policy.backoff, Backoff::None | Backoff::Custom(_)) || policy.cap.0 <= 0.0 {
        return None;
    }
    let cap = policy.cap.duration();
    let first = policy.first.duration();
    let base = policy.codes.longest_base();
    if is_shorter(cap, base) {
        let text = say("`codes` has a base of ").duration(base, "");
        let text = text.push(", above `cap`, which is ").duration(cap, "");
        let text = text.push(if policy.has(Cap) { "" } else { " by default" });
        let text = text
            .push("; lower it or write `cap = \"")
            .duration(base, "");
        return Some((Codes, text.push("\"`")));
    }
    let (key, delay) = if policy.has(First) && is_shorter(cap, first) {
        (First, first)
    } else if policy.has(ThrottledBase) && is_shorter(cap, policy.throttled_base) {
        (ThrottledBase, policy.throttled_base)
    } else {
        (Base, policy.base.duration())
    };
    if !is_shorter(cap, delay) {
        return None;
    }
    if !policy.has(key) {
        let text = say("`cap` of ").duration(cap, "");
        let text = text.push(" is below `base`, which is ").duration(delay, "");
        let text = text.push(" by default; raise `cap` or write `base = \"");
        return Some((Cap, text.duration(cap, "").push("\"`")));
    }
    let text = Text::new()
        .key(key.as_str())
        .push(" of ")
        .duration(delay, "");
    let text = text.push(" is above `cap`, which is ").duration(cap, "");
    let text = text.push(if policy.has(Cap) { "" } else { " by default" });
    let text = text
        .push("; lower ")
        .key(key.as_str())
        .push(" or write `cap = \"")
        .duration(delay, "");
    Some((key, text.push("\"`")))
}

/// X2: the first delay alone, at its least, takes all the time there is.
pub(super) const fn above_deadline(policy: &Values) -> Broken {
    let Some(deadline) = policy.deadline else {
        return None;
    };
    let (least, _) = policy.delay_bounds(0);
    if policy.max == 1 || deadline.is_zero() || is_shorter(least, deadline) {
        return None;
    }
    let key = if policy.has(First) && !policy.looks_back() {
        First
    } else {
        Base
    };
    if !policy.has(key) {
        let text = say("`deadline` of ").duration(deadline, "");
        let text = text.push(" leaves no time for a first delay of at least ");
        let text = text.duration(least, "").push(", as `base` is ");
        let text = text.duration(policy.base.duration(), "");
        let text = text.push(" by default: no retry could ever start; raise `deadline` or write");
        return Some((Deadline, text.push(" a shorter `base`")));
    }
    let delay = if matches!(key, First) {
        policy.first.duration()
    } else {
        policy.base.duration()
    };
    let text = Text::new()
        .key(key.as_str())
        .push(" of ")
        .duration(delay, "");
    let text = if is_shorter(least, delay) {
        let text = text.push(" makes a first delay of at least ");
        text.duration(least, "").push(", which")
    } else {
        text
    };
    let text = text
        .push(" is not below `deadline` of ")
        .duration(deadline, "");
    let text = text
        .push(": no retry could ever start; lower ")
        .key(key.as_str());
    Some((key, text.push(" or raise `deadline`")))
}

/// X4: an attempt that the policy promises and the deadline forbids.
pub(super) const fn never_starts(policy: &Values) -> Broken {
    if above_deadline(policy).is_some() {
        return None; // said already
    }
    let (Some(deadline), Some(max)) = (policy.deadline, policy.attempts()) else {
        return None;
    };
    let Some((attempt, before)) = first_unreachable(policy, deadline, max) else {
        return None;
    };
    let text = say("`deadline` of ")
        .duration(deadline, "")
        .push(" is over before attempt ");
    let text = text.number(attempt as u64).push(" of ").number(max as u64);
    let text = text.push(" can start (at least ").duration(before, "");
    let text = text.push(" of delays come before it); raise `deadline` or lower `max` to ");
    Some((Deadline, text.number(attempt.saturating_sub(1) as u64)))
}

/// The first attempt that can't start before `deadline`, whatever the random
/// numbers, and the least sum of the delays before it.
const fn first_unreachable(
    policy: &Values,
    deadline: Duration,
    max: u32,
) -> Option<(u32, Duration)> {
    // Of a shape of one's own the least delay is 0.
    if deadline.is_zero() {
        return None;
    }
    let mut retries = max.saturating_sub(1);
    let mut sum = policy.least_waiting(retries);
    if is_shorter(sum, deadline) {
        return None;
    }
    // Before `reached` retries an attempt starts, before `retries` none does.
    let mut reached = 0;
    while retries.saturating_sub(reached) > 1 {
        let middle = reached.midpoint(retries);
        let before = policy.least_waiting(middle);
        if is_shorter(before, deadline) {
            reached = middle;
        } else {
            (retries, sum) = (middle, before);
        }
    }
    Some((retries.saturating_add(1), sum))
}

/// X5: a key that nothing will ever read.
pub(super) const fn only_for_retries(policy: &Values) -> Broken {
    if policy.max != 1 {
        return None;
    }
    let mut rest: &[Key] = &[
        Key::Backoff,
        Base,
        First,
        Factor,
        Cap,
        Key::Jitter,
        FastFirst,
        ThrottledBase,
        ResetAfter,
        MaxRetryAfter,
        Idempotent,
        Nested,
    ];
    while let [key, tail @ ..] = rest {
        if policy.has(*key) {
            let text = Text::new()
                .key(key.as_str())
                .push(" matters only for a retry, and `max = 1` allows none; drop ");
            return Some((*key, text.key(key.as_str()).push(" or write `max = 3`")));
        }
        rest = tail;
    }
    None
}

/// The number of attempts as X6 and X7 see it: a count that starts anew bounds nothing.
const fn bounded_attempts(policy: &Values) -> Option<u32> {
    match policy.reset_after {
        Some(_) => None,
        None => policy.attempts(),
    }
}

/// Whether retries follow each other without a pause: a delay below 1 ms is none. What a function of one's own
/// answers nobody knows.
pub(super) const fn hammers(policy: &Values) -> bool {
    match policy.backoff {
        Backoff::None => true,
        Backoff::Custom(_) => false,
        _ => is_shorter(policy.base.min(policy.cap).duration(), SHORTEST_DELAY),
    }
}

pub(super) const SHORTEST_DELAY: Duration = Duration::from_millis(1);

/// The longest that the delay before retry 20 can be; from [`PATIENT`] on, retries need no other bound.
pub(super) const fn twentieth(policy: &Values) -> Duration {
    let (_, longest) = policy.delay_bounds(19);
    longest
}

pub(super) const PATIENT: Duration = Duration::from_secs(1);

/// Whether nothing ends a call, and its delays do not become long. What a strategy decides it bounds.
pub(super) const fn is_endless(policy: &Values) -> bool {
    // Of a single attempt X5 speaks.
    if bounded_attempts(policy).is_some() || policy.decided || policy.max == 1 {
        return false;
    }
    hammers(policy) || (!policy.has(Budget) && is_unbounded(policy))
}

/// Whether many retries need another bound.
const fn is_unbounded(policy: &Values) -> bool {
    policy.deadline.is_none() && is_shorter(twentieth(policy), PATIENT)
}

/// Whether the number of attempts is too large for their delays. What a strategy decides it bounds.
pub(super) const fn is_too_many(policy: &Values) -> bool {
    match bounded_attempts(policy) {
        Some(max) if !policy.has(Budget) && !policy.decided => {
            (max > 3 && hammers(policy)) || (max > 20 && is_unbounded(policy))
        }
        _ => false,
    }
}

/// X8: a key that this shape does not read.
pub(super) const fn without_effect(policy: &Values) -> Broken {
    let ignored: &[Key] = match policy.backoff {
        Backoff::None => &[Base, First, Factor, Cap, ThrottledBase, Key::Jitter],
        Backoff::Decorrelated => &[First, Factor, Key::Jitter],
        Backoff::Custom(_) => &[Base, First, Factor, ThrottledBase],
        Backoff::Fixed | Backoff::Linear | Backoff::Fibonacci => &[Factor],
        Backoff::Exp | Backoff::ExpAboveFirst => &[],
    };
    let mut rest = ignored;
    while let [key, tail @ ..] = rest {
        if policy.has(*key) {
            let text = Text::new().key(key.as_str()).push(" has no effect on ");
            let text = match policy.backoff {
                Backoff::Custom(_) => text.push("a `backoff` of your own"),
                shape => text.push("`backoff = \"").push(shape.as_str()).push("\"`"),
            };
            let text = text
                .push("; drop ")
                .key(key.as_str())
                .push(" or write `backoff = \"exp\"`");
            return Some((*key, text));
        }
        rest = tail;
    }
    None
}

/// X16: attempts that have hardly any time.
pub(super) const fn hardly_any_time(policy: &Values) -> Broken {
    let Some(timeout) = policy.timeout else {
        return None;
    };
    // Each is judged alone first.
    if policy.max == 1 || policy.decided || is_shorter(timeout, SHORTEST_TIMEOUT) {
        return None;
    }
    let text = say("`timeout` of ").duration(timeout, "");
    if policy.max > 3 && is_shorter(timeout, HASTY_TIMEOUT) {
        let text = text.push(
            " is below 10ms, so a service that is a little slower than usual gets every call ",
        );
        return Some((
            Timeout,
            text.push("several times; raise `timeout` to 10ms or more, or lower `max` to 3"),
        ));
    }
    let Some(deadline) = policy.deadline else {
        return None;
    };
    let (least, _) = policy.delay_bounds(0);
    let first_retry = timeout.saturating_add(least);
    if !is_shorter(timeout, deadline)
        || !is_shorter(least, deadline)
        || !is_shorter(deadline, first_retry)
    {
        return None;
    }
    let text = text
        .push(" and a first delay of at least ")
        .duration(least, "");
    let text = text.push(" do not fit into `deadline` of ");
    let text = text.duration(deadline, "");
    let text = text.push(", so no attempt could follow one that timed out; lower `timeout` to ");
    let text = text.duration(deadline.saturating_sub(least), "");
    Some((Timeout, text.push(" or raise `deadline`")))
}

const HASTY_TIMEOUT: Duration = Duration::from_millis(10);

/// X17: a key that has no effect on the retries that there are.
pub(super) const fn no_difference(policy: &Values) -> Broken {
    let (keys, why): (&[Key], _) = match (policy.backoff, policy.max) {
        // Not twice: what 0 and 1 allow is judged by R1 and X5.
        (_, 0 | 1) | (Backoff::Custom(_), _) => return None,
        (Backoff::None, _) if policy.fast_first => (
            &[FastFirst],
            "`backoff = \"none\"`, which makes every retry immediate",
        ),
        (Backoff::None, _) => return None,
        (_, 2) if policy.fast_first => (
            &[Base, First, Factor, Cap, Key::Jitter],
            "the only retry of `max = 2`, which `fast_first` makes immediate",
        ),
        (Backoff::Exp | Backoff::ExpAboveFirst, 2) => (&[Factor], "the only retry of `max = 2`"),
        (Backoff::Fixed | Backoff::Fibonacci, _) if policy.fast_first => (
            &[First],
            "the first retry, which `fast_first` makes immediate",
        ),
        _ => return None,
    };
    let mut rest = keys;
    while let [key, tail @ ..] = rest {
        if policy.has(*key) {
            let text = Text::new().key(key.as_str()).push(" has no effect on ");
            let text = text.push(why).push("; drop ").key(key.as_str());
            return Some((*key, text));
        }
        rest = tail;
    }
    None
}

/// X18: an attempt that was no better than a failure must not start the count anew.
pub(super) const fn reset_too_soon(policy: &Values) -> Broken {
    let Some(reset_after) = policy.reset_after else {
        return None;
    };
    let text = say("`reset_after` of ").duration(reset_after, "");
    if is_shorter(reset_after, SHORTEST_RESET) {
        let text =
            text.push(" is below 10s, and an attempt that fails so soon was not a healthy one");
        return Some((ResetAfter, text.push("; write `reset_after = \"1m\"`")));
    }
    let cap = policy.cap.duration();
    // What does not read the cap has no delay as long.
    if policy.backoff.is_none() || !is_shorter(reset_after, cap) {
        return None;
    }
    let text = text.push(" is below `cap`, which is ").duration(cap, "");
    let text = text.push(if policy.has(Cap) { "" } else { " by default" });
    let text = text.push("; write `reset_after = \"").duration(cap, "");
    Some((ResetAfter, text.push("\"`, or lower `cap`")))
}

pub(super) const SHORTEST_RESET: Duration = Duration::from_secs(10);
