//! What a breaker is refused for (R10, X10), in words.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;

use crate::duration::{LONGEST, is_shorter};
use crate::id::RuleId;
use crate::text::Text;
use crate::violation::Violation;

type Broken = Option<Violation>;

const fn say(text: &str) -> Text {
    Text::new().push(text)
}

/// The most calls of a count window.
pub const MOST_CALLS: u32 = 1024;

const SHORTEST_WINDOW: Duration = Duration::from_millis(1);

/// R10: a window of no call tells nothing.
pub const fn count_window(calls: u32) -> Broken {
    if 1 <= calls && calls <= MOST_CALLS {
        return None;
    }
    let text = say("a breaker's `count_window` must be a number of calls from 1 to 1024, but is ");
    Some(
        text.number(calls as u64)
            .push("; write `count_window(20)`")
            .breaks(RuleId::R10),
    )
}

/// R10: the same in time.
pub const fn time_window(window: Duration) -> Broken {
    if !is_shorter(window, SHORTEST_WINDOW) && !is_shorter(LONGEST, window) {
        return None;
    }
    let text = say("a breaker's `time_window` must be from 1 ms to 24 h, but is ");
    let text = text.duration(window, " ");
    Some(
        text.push("; write `time_window(Duration::from_secs(10))`")
            .breaks(RuleId::R10),
    )
}

/// R10: a share of the calls; at 0 it would open without a failure.
pub const fn failure_ratio(ratio: f64) -> Broken {
    if ratio > 0.0 && ratio <= 1.0 {
        return None;
    }
    let text = say(
        "a breaker's `failure_ratio` must be a share of the calls above 0.0 up to 1.0, but is ",
    );
    Some(
        text.float(ratio)
            .push("; write `failure_ratio(0.5)` to open when half of them fail")
            .breaks(RuleId::R10),
    )
}

/// R10: the same for slow calls, and a threshold that a call can be faster than.
pub const fn slow_calls(threshold: Duration, ratio: f64) -> Broken {
    if threshold.is_zero() {
        return Some(say(
            "a breaker's `slow_calls` threshold of 0 makes every call slow; write `slow_calls(Duration::from_secs(1), 0.5)`",
        ).breaks(RuleId::R10));
    }
    if ratio > 0.0 && ratio <= 1.0 {
        return None;
    }
    let text = say(
        "a breaker's `slow_calls` ratio must be a share of the calls above 0.0 up to 1.0, but is ",
    );
    Some(
        text.float(ratio)
            .push("; write `slow_calls(Duration::from_secs(1), 0.5)` to open when half of them are slow")
            .breaks(RuleId::R10),
    )
}

/// R10: at least one call; X10: no more than the window ever holds.
pub const fn min_calls(calls: u32, window: Option<u32>) -> Broken {
    if calls == 0 {
        return Some(
            say("a breaker's `min_calls` must be at least 1, but is 0; write `min_calls(10)`")
                .breaks(RuleId::R10),
        );
    }
    match window {
        Some(window) if calls > window => {
            let text = say("a breaker's `min_calls` of ").number(calls as u64);
            let text = text.push(" is above its window of ").number(window as u64);
            let text = text.push(" calls, so it would never open; lower it to ");
            Some(
                text.number(window as u64)
                    .push(" or less")
                    .breaks(RuleId::X10),
            )
        }
        _ => None,
    }
}

/// R10: without a wait it would not be open at all.
pub const fn cooldown(cooldown: Duration) -> Broken {
    if cooldown.is_zero() {
        return Some(say(
            "a breaker's `cooldown` of 0 would never keep it open; write `cooldown(Duration::from_secs(5))`",
        ).breaks(RuleId::R10));
    }
    longest("`cooldown`", cooldown)
}

/// R10: the longest wait is not below the first.
pub const fn cooldown_cap(cap: Duration, cooldown: Duration) -> Broken {
    if is_shorter(cap, cooldown) {
        let text = say("a breaker's `cooldown_cap` of ").duration(cap, " ");
        let text = text.push(" is below its `cooldown` of ");
        let text = text.duration(cooldown, " ");
        return Some(
            text.push("; raise the cap or lower the cool-down")
                .breaks(RuleId::R10),
        );
    }
    longest("`cooldown_cap`", cap)
}

const fn longest(key: &str, duration: Duration) -> Broken {
    if !is_shorter(LONGEST, duration) {
        return None;
    }
    let text = say("a breaker's ").push(key).push(" of ");
    let text = text.duration(duration, " ");
    let text = text.push(" is above the longest duration there is; lower it to 24 h or less");
    Some(text.breaks(RuleId::R2))
}

/// R10: without a probe it would never close.
pub const fn probes(probes: u32) -> Broken {
    if 1 <= probes && probes <= 255 {
        return None;
    }
    let text = say("a breaker's `probes` must be from 1 to 255 calls, but is ");
    Some(
        text.number(probes as u64)
            .push("; write `probes(1)` to close after one call that succeeds")
            .breaks(RuleId::R10),
    )
}

/// X10: attempts that last as long as the window are forgotten as soon as they have failed.
pub const fn window_below_timeout(window: Duration, timeout: Duration) -> Broken {
    let least = timeout.saturating_mul(2);
    if !is_shorter(window, least) {
        return None;
    }
    let text = say("the `breaker`'s window of ").duration(window, " ");
    let text = text.push(" is below twice the `timeout` of ");
    let text = text.duration(timeout, " ");
    let text = text.push(", so it would forget time-outs before it has counted them; widen it to ");
    Some(
        text.duration(least, " ")
            .push(" or lower `timeout`")
            .breaks(RuleId::X10),
    )
}
