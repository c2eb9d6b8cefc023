//! How long the calls of an operation take: counts in buckets whose width grows with the time, without a lock.
#![warn(clippy::arithmetic_side_effects)]

#[cfg(test)]
mod tests;

use core::fmt;
use core::time::Duration;

use core::sync::atomic::{AtomicU32, Ordering};

/// Nanoseconds of the first bucket, as a power of two: 512 ns.
const SHORTEST: u32 = 9;
/// All times are below this power of two of nanoseconds: 73 minutes.
const LONGEST: u32 = 42;
/// Each power of two is cut into 8 buckets of one width, so that the middle of a bucket is off by at most 1/16.
const CUTS: u32 = 3;
const BUCKETS: usize = ((LONGEST - SHORTEST) << CUTS) as usize;

/// No quantile rests on less.
const ENOUGH: u32 = 100;

/// All counts are halved each time so many samples are in. So at least as many count when the first thousands are
/// in, at most twice as many: 10 to 20 samples lie above the 0.99 quantile. What was measured before a change
/// of the service counts half after 1,024 calls and 1/16 after 4,096.
const HALVED: u32 = 1024;

/// How long the calls of one operation took lately, for `Hedge::quantile` of `reattempt`.
///
/// A measured call costs two atomic additions and two readings of the clock. All calls of an operation share
/// one, as a `static`; it is 1,060 bytes.
///
/// # Units and ranges
///
/// From 512 ns to 73 minutes, with an error of at most 7 %; what is beyond counts as the shortest or longest.
///
/// # Examples
///
/// ```
/// use reattempt::overload::Latencies;
/// use std::time::Duration;
///
/// static SEARCH: Latencies = Latencies::new();
///
/// assert_eq!(SEARCH.quantile(0.95), None);
/// for millis in 1..=100 {
///     SEARCH.record(Duration::from_millis(millis));
/// }
/// let slow = SEARCH.quantile(0.95).unwrap().as_millis();
/// assert!((89..=101).contains(&slow));
/// ```
pub struct Latencies {
    // Relaxed everywhere: a count stands for itself, and nothing else is published through it. A reader
    // meets a mixture of the moments before and after a change, which is as good an estimate as either.
    counts: [AtomicU32; BUCKETS],
    samples: AtomicU32,
}

impl Latencies {
    /// Nothing measured yet.
    pub const fn new() -> Self {
        Self {
            counts: [const { AtomicU32::new(0) }; BUCKETS],
            samples: AtomicU32::new(0),
        }
    }

    /// Counts a call that was answered well after `latency`.
    #[inline]
    pub fn record(&self, latency: Duration) {
        if let Some(count) = self.counts.get(bucket(latency)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        // Each number is drawn once, so that one thread halves.
        let samples = self.samples.fetch_add(1, Ordering::Relaxed);
        if samples % HALVED == HALVED - 1 {
            self.halve();
        }
    }

    /// Returns the time in which this share of the calls was answered; `None` before 100 calls
    /// were.
    ///
    /// # Units and ranges
    ///
    /// `quantile` from 0.0, the shortest, to 1.0, the longest; what is beyond is taken for one of them.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates, and what is beyond the counts is cut off"
    )]
    #[expect(
        clippy::disallowed_methods,
        reason = "there are enough samples, so at least one"
    )]
    pub fn quantile(&self, quantile: f64) -> Option<Duration> {
        // One look at each count: were they read twice, they might not add up any more.
        let mut counts = [0; BUCKETS];
        let mut total: u32 = 0;
        for (copy, count) in counts.iter_mut().zip(&self.counts) {
            *copy = count.load(Ordering::Relaxed);
            total = total.saturating_add(*copy);
        }
        if total < ENOUGH {
            return None;
        }
        let rank = (quantile * f64::from(total)).ceil() as u32;
        let mut left = rank.clamp(1, total);
        for (index, &count) in counts.iter().enumerate() {
            if left <= count {
                return Some(middle(index));
            }
            left = left.saturating_sub(count);
        }
        None
    }

    /// What is lost by rounding in one bucket is added in the next that can use it: else the few samples at the
    /// end, of which a quantile speaks, would be the ones to vanish, or would stay for ever.
    #[cold]
    fn halve(&self) {
        let mut carry = 0;
        for count in &self.counts {
            let mut seen = count.load(Ordering::Relaxed);
            // A loop, because other threads count on, and one may even halve.
            while seen != 0 {
                let half = seen.saturating_add(carry) / 2;
                match count.compare_exchange_weak(seen, half, Ordering::Relaxed, Ordering::Relaxed)
                {
                    Ok(_) => {
                        carry = seen.saturating_add(carry) % 2;
                        break;
                    }
                    Err(now) => seen = now,
                }
            }
        }
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Latencies")
            .field("median", &self.quantile(0.5))
            .field("p95", &self.quantile(0.95))
            .finish_non_exhaustive()
    }
}

/// The bucket of a time: its power of two, and the three bits behind the first.
#[inline]
#[expect(clippy::arithmetic_side_effects, reason = "bounded by the clamp")]
#[expect(clippy::disallowed_methods, reason = "the ends are constants")]
fn bucket(latency: Duration) -> usize {
    let nanos = latency
        .as_secs()
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::from(latency.subsec_nanos()))
        .clamp(1 << SHORTEST, (1 << LONGEST) - 1);
    let power = nanos.ilog2();
    let behind = (nanos >> (power - CUTS)) as usize & ((1 << CUTS) - 1);
    (((power - SHORTEST) << CUTS) as usize) | behind
}

/// The time in the middle of a bucket.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "bounded by the number of buckets"
)]
fn middle(bucket: usize) -> Duration {
    let power = SHORTEST + (bucket >> CUTS) as u32;
    let behind = (bucket & ((1 << CUTS) - 1)) as u64;
    // In units of half a bucket: 8 + behind buckets, and a half.
    let halves = 2 * ((1 << CUTS) + behind) + 1;
    Duration::from_nanos(halves << (power - CUTS - 1))
}
