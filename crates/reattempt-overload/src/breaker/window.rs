//! The calls that are counted: the last n, or those of the last while, which alone read the clock
//! for a result.
#![warn(clippy::arithmetic_side_effects)]

use core::num::NonZeroU64;
use core::time::Duration;

use super::buckets::{BUCKETS, Buckets};
use super::ring::{Counts, Ring};
use reattempt_core::Clock;

/// The last calls, those that failed and those that were slow.
#[derive(Debug)]
pub(super) enum Window {
    Count {
        size: NonZeroU64,
        ring: Ring,
    },
    Time {
        /// In nanoseconds. Sixteen of them are the window, so nothing in it is older.
        bucket: u64,
        failed: Buckets,
        slow: Buckets,
    },
}

impl Window {
    /// At least one call.
    pub(super) const fn count(size: u32) -> Self {
        Self::Count {
            size: NonZeroU64::MIN.saturating_add(size.saturating_sub(1) as u64),
            ring: Ring::new(),
        }
    }

    pub(super) const fn time(window: Duration) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "at most a day")]
        let bucket = window.as_nanos() as u64 / BUCKETS;
        Self::Time {
            bucket,
            failed: Buckets::new(),
            slow: Buckets::new(),
        }
    }

    /// The calls of a window that has so many.
    pub(super) const fn size(&self) -> Option<u32> {
        match self {
            #[expect(clippy::cast_possible_truncation, reason = "made of 32 bits")]
            Self::Count { size, .. } => Some(size.get() as u32),
            Self::Time { .. } => None,
        }
    }

    /// The time of a window that has one.
    pub(super) const fn duration(&self) -> Option<Duration> {
        match self {
            Self::Count { .. } => None,
            Self::Time { bucket, .. } => Some(Duration::from_nanos(bucket.saturating_mul(BUCKETS))),
        }
    }

    /// Counts a call; answers with the failed ones and, where `slow_calls` is given, the slow ones.
    pub(super) fn record(
        &self,
        failed: bool,
        slow: Option<bool>,
        clock: &impl Clock,
    ) -> [Counts; 2] {
        match self {
            Self::Count { size, ring } => ring.record(*size, failed, slow),
            Self::Time {
                bucket,
                failed: failures,
                slow: slows,
            } => {
                let now = clock.shared().as_nanos().checked_div(*bucket).unwrap_or(0);
                let failed = failures.record(now, failed);
                let slow = slow.map(|slow| slows.record(now, slow));
                let none = Counts {
                    calls: 0,
                    marked: 0,
                };
                [failed, slow.unwrap_or(none)]
            }
        }
    }

    /// Returns how many calls it holds, with those that failed and those that were slow.
    pub(super) fn counts(&self, clock: &impl Clock) -> [Counts; 2] {
        match self {
            Self::Count { size, ring } => ring.counts(*size),
            Self::Time {
                bucket,
                failed,
                slow,
            } => {
                let now = clock.shared().as_nanos().checked_div(*bucket).unwrap_or(0);
                [failed.sum(now), slow.sum(now)]
            }
        }
    }

    pub(super) fn clear(&self) {
        match self {
            Self::Count { ring, .. } => ring.clear(),
            Self::Time { failed, slow, .. } => {
                failed.clear();
                slow.clear();
            }
        }
    }
}
