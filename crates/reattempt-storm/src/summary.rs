//! A run in a few numbers.

use std::time::Duration;

use crate::record::{Record, Second};
use crate::scene::Scene;

/// A run in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Calls that arrived.
    pub calls: u64,
    /// Attempts that the server got.
    pub attempts: u64,
    /// Attempts a second, in the [`WINDOW`] seconds in which there were most.
    pub peak_load: f64,
    /// Attempts for each call, from the beginning to the end.
    pub amplification: f64,
    /// Attempts that each call made, of those that arrived in the [`WINDOW`] seconds in which that was most.
    pub peak_amplification: f64,
    /// The share of the calls that succeeded.
    pub succeeded: f64,
    /// The share of the calls that are not over when the run ends.
    pub open: f64,
    /// The share of what the server served when nobody waited for it any more.
    pub wasted: f64,
    /// From the end of the trigger to the moment from which [`GOOD`] of the calls succeed, in any [`WINDOW`] seconds
    /// to the end of the run; nothing where there is no such moment.
    pub recovered: Option<Duration>,
    /// How long the calls took, those that are not over so far: no less than half of them.
    pub median: Duration,
    /// The same of 99 in a hundred.
    pub p99: Duration,
}

/// Seconds, so that neither a peak nor a dent is one of chance.
pub const WINDOW: usize = 10;

/// The share of the calls by whose success a server is well.
pub const GOOD: f64 = 0.9;

impl Summary {
    /// The numbers of this run.
    pub fn of(scene: &Scene, record: &Record) -> Self {
        let calls = record.total(|it| it.calls);
        let attempts = record.total(|it| it.attempts);
        let succeeded = record.total(|it| it.succeeded);
        let open = u64::try_from(record.open.len()).unwrap_or(u64::MAX);
        let wasted = record.total(|it| it.wasted);
        let peak =
            |value: fn(&Sum) -> f64| windows(record).map(|it| value(&it)).fold(0.0, f64::max);
        let mut times = [&*record.times, &*record.open].concat();
        times.sort_unstable();
        Self {
            calls,
            attempts,
            peak_load: peak(Sum::load),
            amplification: share(attempts, calls),
            peak_amplification: peak(Sum::amplification),
            succeeded: share(succeeded, calls),
            open: share(open, calls),
            wasted: share(wasted, wasted.saturating_add(succeeded)),
            recovered: recovered(scene, record),
            median: percentile(&times, 50),
            p99: percentile(&times, 99),
        }
    }
}

/// A window of seconds, added up.
#[derive(Debug, Default)]
struct Sum {
    seconds: f64,
    calls: u64,
    attempts: u64,
    made: u64,
    succeeded: u64,
}

impl Sum {
    fn of(seconds: &[Second]) -> Self {
        let mut sum = Self::default();
        for second in seconds {
            sum.seconds += 1.0;
            sum.calls = sum.calls.saturating_add(second.calls.into());
            sum.attempts = sum.attempts.saturating_add(second.attempts.into());
            sum.made = sum.made.saturating_add(second.made.into());
            sum.succeeded = sum.succeeded.saturating_add(second.succeeded.into());
        }
        sum
    }

    fn load(&self) -> f64 {
        number(self.attempts) / self.seconds
    }

    fn amplification(&self) -> f64 {
        share(self.made, self.calls)
    }

    fn is_good(&self) -> bool {
        number(self.succeeded) >= GOOD * number(self.calls)
    }
}

/// Every [`WINDOW`] seconds in a row; all of them together where there are not so many.
#[expect(clippy::disallowed_methods, reason = "at least one at a time")]
fn windows(record: &Record) -> impl Iterator<Item = Sum> {
    let width = record.seconds.len().clamp(1, WINDOW);
    record.seconds.windows(width).map(Sum::of)
}

fn recovered(scene: &Scene, record: &Record) -> Option<Duration> {
    let over = scene.trigger.time.end;
    let first = over
        .as_secs()
        .saturating_add(u64::from(over.subsec_nanos() > 0));
    let after = (0_u64..)
        .zip(windows(record))
        .filter(|(at, _)| *at >= first);
    let mut back = None;
    for (at, window) in after {
        back = window.is_good().then(|| back.unwrap_or(at));
    }
    Some(Duration::from_secs(back?).saturating_sub(over))
}

/// No less than `percent` of `sorted`; nothing of nothing.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = sorted.len().saturating_mul(percent).div_ceil(100);
    sorted
        .get(rank.saturating_sub(1))
        .copied()
        .unwrap_or_default()
}

/// `part` of `whole`; 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    number(part) / number(whole)
}

#[expect(clippy::cast_precision_loss, reason = "of no more than 2^53 events")]
const fn number(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
