//! What is said of a hedge that is refused: R12, and the part of X12 that is arithmetic.

use core::time::Duration;

use crate::duration::{LONGEST, is_shorter};
use crate::id::RuleId;
use crate::text::Text;
use crate::violation::Violation;

/// Copies beyond the first that one attempt may start.
const MOST: u32 = 10;

/// R12: a copy that starts at once is no hedge. R2: no duration is above 24 hours.
pub const fn delay(delay: Duration) -> Option<Violation> {
    if delay.is_zero() {
        return Some(Text::new().push(
            "`hedge` of 0 would start every copy at once; write `hedge = \"50ms\"`, about the time in which 95 of 100 calls are answered",
        ).breaks(RuleId::R12));
    }
    if is_shorter(LONGEST, delay) {
        let text = Text::new().push("`hedge` of ").duration(delay, "");
        return Some(
            text.push(" is above the longest duration of a policy; lower it to 24h or less")
                .breaks(RuleId::R2),
        );
    }
    None
}

/// R12: each copy is a call more that the service has to bear.
pub const fn copies(max: u32) -> Option<Violation> {
    let text = Text::new()
        .push(
            "`max` of a hedge counts the copies beyond the first and must be from 1 to 10, but is ",
        )
        .number(max as u64);
    match max {
        0 => Some(
            text.push("; write `max(1)`, or leave `hedge` out for none")
                .breaks(RuleId::R12),
        ),
        1..=MOST => None,
        _ => Some(
            text.push("; lower it to 10, or leave it out for the default of 1")
                .breaks(RuleId::R12),
        ),
    }
}

/// R12: at 0 every copy would start at once, and at 1 none ever.
pub const fn quantile(quantile: f64) -> Option<Violation> {
    if quantile > 0.0 && quantile < 1.0 {
        return None;
    }
    let text = Text::new()
        .push("the quantile of a hedge must be between 0 and 1, but is ")
        .float(quantile);
    Some(
        text.push("; write `quantile(0.95)` for the delay in which 95 of 100 calls are answered")
            .breaks(RuleId::R12),
    )
}

/// X12: a copy that the policy promises and the deadline forbids.
pub const fn beyond_deadline(
    hedges: u32,
    delay: Duration,
    deadline: Duration,
) -> Option<Violation> {
    let last = delay.saturating_mul(hedges);
    // Each is judged alone first.
    if deadline.is_zero() || !is_shorter(deadline, last) {
        return None;
    }
    Some(too_late("deadline", deadline, hedges, last).breaks(RuleId::X12))
}

/// X12: the same of the limit of one attempt, which all its copies have together.
pub const fn beyond_timeout(hedges: u32, delay: Duration, timeout: Duration) -> Option<Violation> {
    let last = delay.saturating_mul(hedges);
    if timeout.is_zero() || is_shorter(last, timeout) {
        return None;
    }
    Some(too_late("timeout", timeout, hedges, last).breaks(RuleId::X12))
}

const fn too_late(key: &str, limit: Duration, hedges: u32, last: Duration) -> Text {
    let text = Text::new()
        .key(key)
        .push(" of ")
        .duration(limit, "")
        .push(" is over before hedge ")
        .number(hedges as u64)
        .push(" of ")
        .number(hedges as u64)
        .push(" can start, at ")
        .duration(last, "");
    let text = text.push("; raise ").key(key).push(" or lower ");
    if hedges == 1 {
        text.push("`hedge`")
    } else {
        text.push("`hedge` or its `max`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn said(refusal: Option<&Violation>) -> &str {
        refusal.map_or("", Violation::message)
    }

    #[test]
    fn a_delay_is_above_0_and_at_most_a_day() {
        assert_eq!(delay(Duration::from_nanos(1)), None);
        assert_eq!(delay(LONGEST), None);
        assert_eq!(
            said(delay(Duration::ZERO).as_ref()),
            "`hedge` of 0 would start every copy at once; write `hedge = \"50ms\"`, about the time in which 95 of 100 calls are answered",
        );
        assert_eq!(
            said(delay(LONGEST + MS * 1000).as_ref()),
            "`hedge` of 24h 1s is above the longest duration of a policy; lower it to 24h or less",
        );
    }

    #[test]
    fn from_1_to_10_copies() {
        assert_eq!((copies(1), copies(10)), (None, None));
        assert_eq!(
            said(copies(0).as_ref()),
            "`max` of a hedge counts the copies beyond the first and must be from 1 to 10, but is 0; write `max(1)`, or leave `hedge` out for none",
        );
        assert_eq!(
            said(copies(11).as_ref()),
            "`max` of a hedge counts the copies beyond the first and must be from 1 to 10, but is 11; lower it to 10, or leave it out for the default of 1",
        );
    }

    #[test]
    fn a_quantile_lies_between_0_and_1() {
        for good in [f64::MIN_POSITIVE, 0.5, 0.999] {
            assert_eq!(quantile(good), None, "{good}");
        }
        for bad in [0.0, -0.5, 1.0, 95.0, f64::NAN, f64::INFINITY] {
            assert!(quantile(bad).is_some(), "{bad}");
        }
        assert_eq!(
            said(quantile(95.0).as_ref()),
            "the quantile of a hedge must be between 0 and 1, but is 95; write `quantile(0.95)` for the delay in which 95 of 100 calls are answered",
        );
    }

    #[test]
    fn the_last_hedge_starts_before_the_deadline() {
        assert_eq!(beyond_timeout(3, 100 * MS, 301 * MS), None);
        assert!(beyond_timeout(3, 100 * MS, 300 * MS).is_some());
        assert_eq!(beyond_timeout(3, 100 * MS, Duration::ZERO), None);
        assert_eq!(beyond_timeout(3, 100 * MS, LONGEST), None);
        assert_eq!(beyond_deadline(3, 100 * MS, 300 * MS), None);
        assert_eq!(beyond_deadline(3, 100 * MS, Duration::ZERO), None);
        assert_eq!(
            said(beyond_deadline(3, 100 * MS, 299 * MS).as_ref()),
            "`deadline` of 299ms is over before hedge 3 of 3 can start, at 300ms; raise `deadline` or lower `hedge` or its `max`",
        );
        assert_eq!(
            said(beyond_deadline(1, 2 * MS, MS).as_ref()),
            "`deadline` of 1ms is over before hedge 1 of 1 can start, at 2ms; raise `deadline` or lower `hedge`",
        );
    }
}
