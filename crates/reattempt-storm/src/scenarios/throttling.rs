//! How soon throttles let calls through again when the service is back.

use std::time::Duration;

use retry_runtime::throttle::Permit;
use retry_runtime::{Throttle, Verdict};

use crate::clock::Virtual;
use crate::figures::{Expected, Figure};

/// One call by `throttle` each `gap`, until `share` of them or less would be turned away: how long that takes.
fn until(throttle: &Throttle, clock: &Virtual, gap: Duration, share: f64) -> Duration {
    let start = clock.elapsed();
    while throttle.rejection_probability_with_clock(clock) > share {
        clock.sleep(gap);
        if let Ok(permit) = throttle.permit_with_clock(clock) {
            permit.succeeded_with_clock(clock);
        }
    }
    clock.elapsed().saturating_sub(start)
}

/// T1: an outage of 5 minutes, and then a service that is well.
pub fn after_an_outage() -> Vec<Figure> {
    let mut figures = Vec::new();
    for a_second in [10, 100, 1000_u32] {
        let (throttle, clock) = (Throttle::adaptive(), Virtual::new(1));
        let gap = Duration::from_secs(1)
            .checked_div(a_second)
            .unwrap_or(Duration::MAX);
        while clock.elapsed() < Duration::from_secs(300) {
            clock.sleep(gap);
            if let Ok(permit) = throttle.permit_with_clock(&clock) {
                permit.failed_with_clock(Verdict::Transient, &clock);
            }
        }
        let half = until(&throttle, &clock, gap, 0.5);
        let none = half.saturating_add(until(&throttle, &clock, gap, 0.0));
        for (share, time, limit) in [("half of them", half, 115.0), ("none", none, 170.0)] {
            let case = format!("5 min outage, {a_second} calls/s: s until {share} turned away");
            let expected = Expected::AtMost(limit);
            figures.push(Figure::new("T1", case, expected, time.as_secs_f64()));
        }
    }
    figures
}

/// When the last of `calls` begins that wait because the service has just throttled one, and answers at once from
/// then on.
#[expect(clippy::disallowed_methods, reason = "it has been found there")]
fn last_to_begin(calls: u32) -> Option<Duration> {
    let (throttle, clock) = (Throttle::cubic(), Virtual::new(1));
    let throttled = throttle.permit_with_clock(&clock).ok()?;
    throttled.failed_with_clock(Verdict::Throttled(None), &clock);
    let mut waiting: Vec<(Duration, Permit<'_>)> = (0..calls)
        .filter_map(|_| Some((Duration::ZERO, throttle.permit_with_clock(&clock).ok()?)))
        .collect();
    // Who looks next: of those of one moment the one who asked first.
    while let Some(next) = (0..waiting.len()).min_by_key(|at| waiting.get(*at).map(|it| it.0)) {
        let (at, permit) = waiting.get_mut(next)?;
        clock.sleep(at.saturating_sub(clock.elapsed()));
        let wait = permit.wait_with_clock(&clock).ok()?;
        *at = at.saturating_add(wait);
        if wait.is_zero() {
            waiting.remove(next).1.succeeded_with_clock(&clock);
        }
    }
    Some(clock.elapsed())
}

/// T2: a quota that was exceeded once.
pub fn after_a_quota() -> Vec<Figure> {
    let case = "100 calls wait after one was throttled: s until the last begins".to_owned();
    vec![Figure {
        id: "T2",
        case,
        expected: Expected::Between(5.0, 7.5),
        came_out: last_to_begin(100).map(|time| time.as_secs_f64()),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::assert_met;

    #[test]
    fn t1_after_an_outage() {
        assert_met(&after_an_outage());
    }

    #[test]
    fn t2_after_a_quota() {
        assert_met(&after_a_quota());
    }
}
