//! The window of an adaptive throttle, and the share of calls that it turns away.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;

use super::bucket::Bucket;
use super::nanos;
use reattempt_core::{Timestamp, around};

/// A power of two, so that the ring goes on where the numbers of the buckets wrap.
const BUCKETS: usize = 16;

#[derive(Debug)]
pub(super) struct Adaptive {
    pub(super) factor: f64,
    /// Nanoseconds of a bucket.
    width: u64,
    pub(super) ceiling: f64,
    /// Requests in the window below which nothing is turned away.
    pub(super) minimum: u64,
    buckets: [Bucket; BUCKETS],
}

impl Adaptive {
    pub(super) const fn new() -> Self {
        let mut this = Self {
            factor: 2.0,
            width: 0,
            // Without one it stays shut for many minutes after the service is well, as its own
            // refusals count as requests.
            ceiling: 0.8,
            minimum: 10,
            buckets: [const { Bucket::new() }; BUCKETS],
        };
        this.set_window(Duration::from_secs(120));
        this
    }

    /// Each bucket is a sixteenth of the window.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "24 hours are 47 bits of nanoseconds"
    )]
    pub(super) const fn set_window(&mut self, window: Duration) {
        self.width = (window.as_nanos() as u64).div_euclid(BUCKETS as u64);
    }

    /// The number of the bucket of this moment, counted from the clock's origin.
    fn number(&self, now: Timestamp) -> u64 {
        nanos(now).checked_div(self.width).unwrap_or(0)
    }

    /// The bucket of a number, and the round of the ring that it is of.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "less than 16, by the remainder"
    )]
    fn bucket(&self, number: u64) -> (Option<&Bucket>, u64) {
        let ring = BUCKETS as u64;
        let place = number.rem_euclid(ring) as usize;
        (self.buckets.get(place), number.div_euclid(ring))
    }

    pub(super) fn add(&self, now: Timestamp, accepted: bool) {
        if let (Some(bucket), lap) = self.bucket(self.number(now)) {
            bucket.add(lap, accepted);
        }
    }

    /// Requests and accepts of the bucket that has begun and the 15 before it.
    pub(super) fn counts(&self, now: Timestamp) -> (u64, u64) {
        let number = self.number(now);
        let (mut requests, mut accepts) = (0u64, 0u64);
        for age in 0..BUCKETS as u64 {
            if let (Some(bucket), lap) = self.bucket(number.wrapping_sub(age)) {
                let (more, accepted) = bucket.counts(lap);
                requests = requests.saturating_add(more);
                accepts = accepts.saturating_add(accepted);
            }
        }
        (requests, accepts)
    }

    /// The share that the formula says.
    pub(super) fn rejection_probability(&self, now: Timestamp) -> f64 {
        share(self.factor, self.counts(now))
    }

    pub(super) fn reset(&self) {
        for bucket in &self.buckets {
            bucket.reset();
        }
    }

    /// Whether a call is turned away here; then it is counted, unless its priority is low: others would be turned away for
    /// it. No random number is drawn while nothing is turned away.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit into an `f64`")]
    pub(super) fn refuses(&self, now: Timestamp, random: impl FnOnce() -> u64) -> bool {
        const PARTS: f64 = (1u64 << 53) as f64;
        let counts = self.counts(now);
        if counts.0 < self.minimum {
            return false;
        }
        let is_low = around::is_low();
        let (factor, ceiling) = if is_low {
            // At least one: the service gets as much as it accepts. Of what passes at the ceiling, half.
            (
                (self.factor / 2.0).max(1.0),
                f64::midpoint(1.0, self.ceiling),
            )
        } else {
            (self.factor, self.ceiling)
        };
        let rejection = share(factor, counts).min(ceiling);
        let refused = rejection > 0.0 && ((random() >> 11) as f64) < rejection * PARTS;
        // Those of low calls do not count as requests: with a fifth of the calls normal, and all of
        // these accepted, three of five of them would be refused.
        if refused && !is_low {
            self.add(now, false);
        }
        refused
    }
}

/// The share of the calls that are turned away, so that hardly more than `factor` are made for each that is accepted.
#[expect(clippy::cast_precision_loss, reason = "sums of counts of 22 bits")]
fn share(factor: f64, (requests, accepts): (u64, u64)) -> f64 {
    let (requests, accepts) = (requests as f64, accepts as f64);
    let share = (requests - factor * accepts) / (requests + 1.0);
    share.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_random_number_is_drawn_while_all_is_accepted() {
        let (throttle, now) = (Adaptive::new(), Timestamp::ENDLESS);
        for _ in 0..100 {
            throttle.add(now, true);
        }
        assert_eq!(throttle.counts(now).1, 100);
        assert!(!throttle.refuses(now, || panic!("it was drawn")));
    }
}
