//! R11: what a budget is made of.
use core::time::Duration;

use crate::duration::is_shorter;
use crate::id::RuleId;
use crate::text::Text;
use crate::violation::Violation;

const SHORTEST_TTL: Duration = Duration::from_secs(1);
const LONGEST_TTL: Duration = Duration::from_secs(60);

/// A share of the calls: more than one retry for each is no bound.
pub const fn ratio(ratio: f64) -> Option<Violation> {
    if ratio > 0.0 && ratio <= 1.0 {
        return None;
    }
    let text = Text::new()
        .push("`budget` must be a share of the successful calls above 0.0 up to 1.0, but is ")
        .float(ratio);
    Some(
        text.push("; write `budget = 0.1` for one retry per ten successes")
            .breaks(RuleId::R11),
    )
}

/// Fewer tokens than a retry costs never pay for one.
pub const fn tokens(capacity: u32, cost: u32) -> Option<Violation> {
    if capacity >= cost {
        return None;
    }
    let text = Text::new().push("`tokens` of ").number(capacity as u64);
    let text = text.push(" is less than the cost of a retry, which is ");
    let text = text.number(cost as u64);
    let text =
        text.push(", so it could never pay for a retry; write `Budget::tokens(500)`, or `cost(");
    Some(text.number(capacity as u64).push(")`").breaks(RuleId::R11))
}

/// Too short a time forgets every success, too long a time remembers a service that was well.
pub const fn ttl(ttl: Duration) -> Option<Violation> {
    let is_short = is_shorter(ttl, SHORTEST_TTL);
    if !is_short && !is_shorter(LONGEST_TTL, ttl) {
        return None;
    }
    let text = Text::new().push("`ttl` of ").duration(ttl, "").push(" is ");
    let text = text.push(if is_short {
        "below 1s, so hardly any success would count"
    } else {
        "above 60s, and successes long past would pay for the retries of an outage"
    });
    Some(
        text.push("; leave it out for the default of 10s")
            .breaks(RuleId::R11),
    )
}

/// Retries that no success pays for.
pub const fn floor(per_second: f64) -> Option<Violation> {
    if per_second.is_finite() && per_second >= 0.0 {
        return None;
    }
    let text = Text::new()
        .push("`floor` must be a finite number of retries per second, at least 0.0, but is ")
        .float(per_second);
    Some(
        text.push("; write `floor(1.0)`, or `floor(0.0)` for none without a success")
            .breaks(RuleId::R11),
    )
}
