//! The curve of a cubic throttle: the rate that is tried next.
#![warn(clippy::arithmetic_side_effects)]

use reattempt_core::Timestamp;

/// What is left of the rate when the service throttles.
const BETA: f64 = 0.7;
/// How steep the curve is.
const SCALE: f64 = 0.4;

/// The rate that is tried next: flat around the one at which the service throttled last, steep
/// far away from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Curve {
    last_max: f64,
    throttled_at: Timestamp,
}

impl Curve {
    /// The service throttled at this rate for the first time.
    pub(super) const fn starting(rate: f64, now: Timestamp) -> Self {
        Self {
            last_max: rate,
            throttled_at: now,
        }
    }

    /// The service throttled at this rate: the next one.
    pub(super) fn throttled(&mut self, rate: f64, now: Timestamp) -> f64 {
        self.last_max = rate;
        self.throttled_at = now;
        rate * BETA
    }

    /// The rate at a time when it answers.
    pub(super) fn at(&self, now: Timestamp) -> f64 {
        let window = (self.last_max * (1.0 - BETA) / SCALE).cbrt();
        let passed = now.since(self.throttled_at).as_secs_f64();
        SCALE * (passed - window).powi(3) + self.last_max
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    /// One of the steps of a calculation: the second, whether the service throttles then, and the
    /// rate that must come out.
    type Step = (u64, bool, f64);

    fn second(second: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs(second))
    }

    fn calculate(steps: &[Step]) {
        let mut curve = Curve::starting(10.0, second(5));
        let mut rate = 0.0;
        for (at, throttles, expected) in steps {
            rate = if *throttles {
                curve.throttled(rate, second(*at))
            } else {
                curve.at(second(*at))
            };
            assert!((rate - expected).abs() < 1e-6, "{at} s: {rate}");
        }
    }

    #[test]
    fn grows_slowly_near_the_last_limit_and_fast_beyond_it() {
        calculate(&[
            (5, false, 7.0),
            (6, false, 9.648_936),
            (7, false, 10.000_030_8),
            (8, false, 10.453_284_5),
            (9, false, 13.408_697),
            (10, false, 21.266_268_4),
            (11, false, 36.425_998_5),
        ]);
    }

    #[test]
    fn falls_by_the_factor_whenever_it_is_throttled() {
        calculate(&[
            (5, false, 7.0),
            (6, false, 9.648_936),
            (7, true, 6.754_255_2),
            (8, true, 4.727_978_6),
            (9, false, 6.606_547_4),
            (10, false, 6.763_279_3),
            (11, false, 7.598_174_8),
            (12, false, 11.511_232_5),
        ]);
    }
}
