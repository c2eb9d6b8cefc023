//! What came of a run, second by second.

use std::time::Duration;

/// What happened in one second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Second {
    /// Calls that arrived.
    pub calls: u32,
    /// Attempts that the server got.
    pub attempts: u32,
    /// Attempts that the calls that arrived in it have made so far, whenever that was.
    pub made: u32,
    /// Calls that succeeded.
    pub succeeded: u32,
    /// Calls that ended without success.
    pub failed: u32,
    /// Attempts that timed out.
    pub timed_out: u32,
    /// Requests that were served when nobody waited for them any more.
    pub wasted: u32,
}

/// How calls of one priority ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Those that succeeded.
    pub well: u64,
    /// Those that did not.
    pub badly: u64,
}

impl Ended {
    const NONE: Self = Self { well: 0, badly: 0 };

    /// The share of those that succeeded; 0 of none.
    #[expect(clippy::cast_precision_loss, reason = "of no more than 2^53 calls")]
    pub fn share(self) -> f64 {
        self.well as f64 / self.well.saturating_add(self.badly).max(1) as f64
    }
}

/// What came of a run.
#[derive(Debug, Clone)]
pub struct Record {
    /// Second by second, each of them whole.
    pub seconds: Vec<Second>,
    /// How long each call took that is over, in the order in which they ended.
    pub times: Vec<Duration>,
    /// How long those calls have taken so far that are not over when the run ends.
    pub open: Vec<Duration>,
    /// How those of a low priority ended that are over.
    pub low: Ended,
    /// The same of the others.
    pub normal: Ended,
    /// When the last attempt timed out.
    pub last_timeout: Option<Duration>,
    /// When the run ended; before the end of its scene where it was broken off.
    pub ended: Duration,
}

impl Record {
    pub(crate) const fn new() -> Self {
        Self {
            seconds: Vec::new(),
            times: Vec::new(),
            open: Vec::new(),
            low: Ended::NONE,
            normal: Ended::NONE,
            last_timeout: None,
            ended: Duration::ZERO,
        }
    }

    /// One more of what `which` names, in the second that `now` is in.
    pub(crate) fn count(&mut self, now: Duration, which: impl FnOnce(&mut Second) -> &mut u32) {
        let now = whole(now);
        self.fill(now.saturating_add(1));
        if let Some(second) = self.seconds.get_mut(now) {
            let number = which(second);
            *number = number.saturating_add(1);
        }
    }

    /// A call has ended.
    pub(crate) const fn ended(&mut self, is_low: bool, well: bool) {
        let class = if is_low {
            &mut self.low
        } else {
            &mut self.normal
        };
        let count = if well {
            &mut class.well
        } else {
            &mut class.badly
        };
        *count = count.saturating_add(1);
    }

    /// The run ends here: what was begun of a second is no rate, and one in which nothing happened is one, too.
    pub(crate) fn end(&mut self, now: Duration) {
        self.ended = now;
        self.seconds.truncate(whole(now));
        self.fill(whole(now));
    }

    fn fill(&mut self, length: usize) {
        if self.seconds.len() < length && length < usize::MAX {
            self.seconds.resize(length, Second::default());
        }
    }

    /// The sum of `which` over all seconds.
    pub fn total(&self, which: impl Fn(&Second) -> u32) -> u64 {
        self.seconds.iter().map(|it| u64::from(which(it))).sum()
    }

    /// The mean of `value` in each `width` seconds, at the middle of them; what is left over at the end is not in it.
    #[expect(clippy::disallowed_methods, reason = "at least one at a time")]
    pub fn means(&self, width: u32, value: impl Fn(&Second) -> f64) -> Vec<(f64, f64)> {
        let width = width.max(1);
        let length = f64::from(width);
        let parts = self
            .seconds
            .chunks_exact(usize::try_from(width).unwrap_or(usize::MAX));
        let middle = std::iter::successors(Some(length / 2.0), |time| Some(time + length));
        let mean = |part: &[Second]| part.iter().map(&value).sum::<f64>() / length;
        middle.zip(parts.map(mean)).collect()
    }
}

fn whole(time: Duration) -> usize {
    usize::try_from(time.as_secs()).unwrap_or(usize::MAX)
}

/// Attempts for each call that arrives meanwhile.
pub fn amplification(second: &Second) -> f64 {
    f64::from(second.attempts) / f64::from(second.calls.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_seconds_are_rates() {
        let mut record = Record::new();
        record.count(Duration::from_millis(2_900), |it| &mut it.calls);
        record.count(Duration::from_millis(4_100), |it| &mut it.calls);
        record.end(Duration::from_millis(4_500));
        let calls: Vec<u32> = record.seconds.iter().map(|it| it.calls).collect();
        assert_eq!(calls, [0, 0, 1, 0]);
        record.end(Duration::from_secs(6));
        assert_eq!((record.seconds.len(), record.total(|it| it.calls)), (6, 1));
    }

    #[test]
    fn means_stand_in_the_middle() {
        let mut record = Record::new();
        for (second, calls) in [(0, 1), (1, 3), (3, 5), (4, 7)] {
            for _ in 0..calls {
                record.count(Duration::from_secs(second), |it| &mut it.calls);
            }
        }
        let calls = |it: &Second| it.calls.into();
        assert_eq!(record.means(2, calls), [(1.0, 2.0), (3.0, 2.5)]);
        assert_eq!(record.means(0, calls).len(), 5);
        assert_eq!(record.means(9, calls), []);
    }
}
