//! Limits of lanes: which one a lane has, and when the next of its tasks may begin.

use std::collections::BTreeMap;
use std::time::Duration;

use super::TaskLimit;
use crate::time::Time;

/// The limits of lanes by pattern: a name, or what names begin with and `*`.
pub(crate) type LaneLimits = BTreeMap<String, TaskLimit>;

/// Returns the limit of a lane: by its name, or by the longest pattern that fits.
pub(crate) fn limit_of(limits: &LaneLimits, lane: &str) -> TaskLimit {
    let by_name = limits.get(lane);
    let fits = |pattern: &&String| is_of(pattern, lane);
    let longest = || {
        limits
            .keys()
            .filter(fits)
            .max_by_key(|pattern| pattern.len())
    };
    let limit = by_name.or_else(|| limits.get(longest()?));
    limit.copied().unwrap_or_default()
}

/// Returns whether a lane fits a pattern.
pub(crate) fn is_of(pattern: &str, lane: &str) -> bool {
    let start = pattern.strip_suffix('*');
    pattern == lane || start.is_some_and(|start| lane.starts_with(start))
}

/// What a lane has given out of its rate: turns of tasks that have not begun yet, and when others have begun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate<'a> {
    pub(crate) unbegun: usize,
    /// In their order.
    pub(crate) begun: &'a [Time],
}

impl Rate<'_> {
    /// Returns when the next task may begin, if one may get the turn now.
    ///
    /// A rate of `tasks` in a period is as many tokens. A turn takes the one that is free first. It is free again a
    /// period after its task has begun, so any period has at most `tasks` of them, wherever it begins.
    pub(crate) fn next(&self, (tasks, period): (u32, Duration), now: Time) -> Option<Time> {
        let tasks = usize::try_from(tasks).unwrap_or(usize::MAX);
        let free = tasks.checked_sub(self.unbegun).filter(|free| *free > 0)?;
        let counts = |at: &&Time| at.after(period) > now;
        let taken: Vec<_> = self.begun.iter().filter(counts).collect();
        // The clock may have been set back.
        let again = taken
            .len()
            .checked_sub(free)
            .and_then(|place| taken.get(place));
        Some(again.map_or(now, |at| now.min(**at).after(period)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_micros(100);

    fn next(tasks: u32, unbegun: usize, begun: &[i64], now: i64) -> Option<i64> {
        let begun: Vec<_> = begun.iter().copied().map(Time::from_micros).collect();
        let rate = Rate {
            unbegun,
            begun: &begun,
        };
        let next = rate.next((tasks, PERIOD), Time::from_micros(now));
        next.map(Time::as_micros)
    }

    #[test]
    fn a_name_comes_first_and_then_the_longest_pattern() {
        let one = |tasks| TaskLimit::new().concurrency(tasks);
        let all = ["*", "customer-*", "customer-7", "customer-7*"];
        let limits = (1..)
            .zip(all)
            .map(|(nth, pattern)| (pattern.to_owned(), one(nth)));
        let limits: LaneLimits = limits.collect();
        let of = |lane| limit_of(&limits, lane).max_concurrency();
        assert_eq!(of("other"), Some(1));
        assert_eq!(of("customer-8"), Some(2));
        assert_eq!(of("customer-7"), Some(3));
        assert_eq!(of("customer-70"), Some(4));
        assert_eq!(limit_of(&LaneLimits::new(), "other"), TaskLimit::new());
    }

    #[test]
    fn each_token_is_free_again_a_period_after_its_task_has_begun() {
        // Free ones are left.
        assert_eq!(next(3, 0, &[], 50), Some(50));
        assert_eq!(next(3, 1, &[10], 50), Some(50));
        // All are taken: each turn waits for another one.
        assert_eq!(next(3, 0, &[10, 20, 30], 50), Some(110));
        assert_eq!(next(3, 1, &[10, 20, 30], 50), Some(120));
        assert_eq!(next(3, 2, &[10, 20, 30], 50), Some(130));
        assert_eq!(next(3, 3, &[10, 20, 30], 50), None);
        assert_eq!(next(3, 3, &[], 50), None);
        // The first one counts no more.
        assert_eq!(next(3, 0, &[10, 20, 30], 110), Some(110));
        assert_eq!(next(3, 1, &[10, 20, 30], 110), Some(120));
        // The clock was set back.
        assert_eq!(next(1, 0, &[1_000], 50), Some(150));
    }
}
