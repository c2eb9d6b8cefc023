//! The rate limiter of a cubic throttle: the curve of the rate, and the tokens that pay for calls.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::meter::Meter;
use super::nanos;
use crate::duration::Nanos;
use crate::sync::{AtomicU32, Ordering};
use crate::timer::Moment;

/// What is left of the rate when the service throttles.
const BETA: f64 = 0.7;
/// How steep the curve is.
const SCALE: f64 = 0.4;
/// Calls a second that are always allowed.
const LEAST_FILL: f64 = 0.5;
const LEAST_CAPACITY: f64 = 1.0;

#[derive(Debug)]
pub(super) struct Cubic {
    meter: Meter,
    /// 1 once the service has throttled; it never goes back.
    on: AtomicU32,
    limit: Mutex<Option<Limit>>,
}

impl Cubic {
    pub(super) const fn new() -> Self {
        Self {
            meter: Meter::new(),
            on: AtomicU32::new(0),
            limit: Mutex::new(None),
        }
    }

    // Relaxed: it is set while the lock is held, and whoever sees it takes the lock before it
    // looks at what the lock keeps.
    fn limit(&self) -> Option<MutexGuard<'_, Option<Limit>>> {
        (self.on.load(Ordering::Relaxed) != 0).then(|| self.lock())
    }

    // Nothing panics while it is held: a poisoned lock keeps nothing that is half done.
    fn lock(&self) -> MutexGuard<'_, Option<Limit>> {
        self.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a token, and answers how long to wait for it; `None` while there is no limit.
    pub(super) fn take(&self, now: impl FnOnce() -> Moment) -> Option<Duration> {
        let mut limit = self.limit()?;
        limit.as_mut().map(|limit| limit.take(now()))
    }

    pub(super) fn give_back(&self) {
        if let Some(limit) = self.limit().as_mut().and_then(|limit| limit.as_mut()) {
            limit.give_back();
        }
    }

    pub(super) fn answered(&self, now: Moment) {
        self.meter.record(half_second(now));
        if let Some(limit) = self.limit().as_mut().and_then(|limit| limit.as_mut()) {
            let rate = limit.curve.at(now);
            limit.set_rate(rate.min(2.0 * self.meter.rate()), now);
        }
    }

    pub(super) fn throttled(&self, now: Moment) {
        self.meter.record(half_second(now));
        let measured = self.meter.rate();
        let mut limit = self.lock();
        let limit = limit.get_or_insert_with(|| Limit::begun(measured, now));
        self.on.store(1, Ordering::Relaxed);
        let rate = limit.curve.throttled(measured.min(limit.fill), now);
        limit.set_rate(rate.min(2.0 * measured), now);
    }

    /// A failure that says nothing about the rate.
    pub(super) fn failed(&self, now: Moment) {
        self.meter.record(half_second(now));
    }

    pub(super) fn measured_rate(&self) -> f64 {
        self.meter.rate()
    }

    pub(super) fn fill_rate(&self) -> Option<f64> {
        self.limit()?.as_ref().map(|limit| limit.fill)
    }
}

fn half_second(now: Moment) -> u64 {
    nanos(now) / 500_000_000
}

/// The rate that is tried next: flat around the one at which the service throttled last, steep
/// far away from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Curve {
    last_max: f64,
    throttled_at: Moment,
}

impl Curve {
    /// The service throttled at this rate: the next one.
    pub(super) fn throttled(&mut self, rate: f64, now: Moment) -> f64 {
        self.last_max = rate;
        self.throttled_at = now;
        rate * BETA
    }

    /// The rate at a time when it answers.
    pub(super) fn at(&self, now: Moment) -> f64 {
        let window = (self.last_max * (1.0 - BETA) / SCALE).cbrt();
        let passed = now.since(self.throttled_at).as_secs_f64();
        SCALE * (passed - window).powi(3) + self.last_max
    }
}

/// Tokens that come at a rate. Who takes one that is not there yet reserves it: the balance goes
/// below 0, and the next one waits longer.
#[derive(Debug)]
struct Limit {
    curve: Curve,
    fill: f64,
    capacity: f64,
    balance: f64,
    filled_at: Moment,
}

impl Limit {
    /// Empty: the service has just had too much.
    fn begun(measured: f64, now: Moment) -> Self {
        Self {
            curve: Curve {
                last_max: measured,
                throttled_at: now,
            },
            fill: measured,
            capacity: LEAST_CAPACITY,
            balance: 0.0,
            filled_at: now,
        }
    }

    fn refill(&mut self, now: Moment) {
        let more = now.since(self.filled_at).as_secs_f64() * self.fill;
        self.balance = (self.balance + more).min(self.capacity);
        // Also back: where it could not, a clock that was set back would stop the tokens.
        self.filled_at = now;
    }

    fn take(&mut self, now: Moment) -> Duration {
        self.refill(now);
        self.balance -= 1.0;
        if self.balance >= 0.0 {
            return Duration::ZERO;
        }
        // Rounded up: who waits has its token then, and a wait is never nothing.
        let nanos = -self.balance / self.fill * 1e9;
        Nanos(nanos.ceil().max(1.0)).duration()
    }

    fn give_back(&mut self) {
        self.balance = (self.balance + 1.0).min(self.capacity);
    }

    fn set_rate(&mut self, rate: f64, now: Moment) {
        self.refill(now);
        self.fill = rate.max(LEAST_FILL);
        self.capacity = rate.max(LEAST_CAPACITY);
        self.balance = self.balance.min(self.capacity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of the steps of a calculation: the second, whether the service throttles then, and the
    /// rate that must come out.
    type Step = (u64, bool, f64);

    fn second(second: u64) -> Moment {
        Moment::from_origin(Duration::from_secs(second))
    }

    fn calculate(steps: &[Step]) {
        let mut curve = Curve {
            last_max: 10.0,
            throttled_at: second(5),
        };
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

    fn limit(fill: f64) -> Limit {
        Limit {
            fill,
            ..Limit::begun(0.0, second(1))
        }
    }

    #[test]
    fn those_who_wait_are_told_different_moments() {
        let mut limit = limit(2.0);
        let waits: Vec<_> = (0..4).map(|_| limit.take(second(1))).collect();
        let halves = [1, 2, 3, 4].map(|n| Duration::from_millis(500) * n);
        assert_eq!(waits, halves);
        // A second later two of them are paid for.
        assert_eq!(limit.take(second(2)), Duration::from_millis(1500));
        limit.give_back();
        assert_eq!(limit.take(second(2)), Duration::from_millis(1500));
    }

    #[test]
    fn what_is_not_there_is_never_waited_for_in_no_time() {
        let mut limit = limit(1e12);
        let wait = limit.take(second(1));
        assert_eq!(wait, Duration::from_nanos(1));
        limit.fill = 0.5;
        limit.balance = 1.0 - f64::EPSILON;
        assert_eq!(limit.take(second(1)), Duration::from_nanos(1));
        limit.balance = 1.0;
        assert_eq!(limit.take(second(1)), Duration::ZERO);
    }

    #[test]
    fn tokens_are_bounded_and_a_clock_set_back_does_not_stop_them() {
        let mut limit = limit(0.5);
        limit.set_rate(0.1, second(1));
        assert_eq!((limit.fill, limit.capacity), (LEAST_FILL, LEAST_CAPACITY));
        limit.refill(second(1000));
        assert!((limit.balance - 1.0).abs() < 1e-9, "{}", limit.balance);
        assert_eq!(limit.take(second(3)), Duration::ZERO);
        assert_eq!(limit.take(second(5)), Duration::ZERO);
        assert_eq!(limit.take(second(5)), Duration::from_secs(2));
        limit.give_back();
        limit.give_back();
        limit.give_back();
        assert!((limit.balance - 1.0).abs() < 1e-9, "{}", limit.balance);
    }
}
