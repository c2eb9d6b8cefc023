//! The rate limiter of a cubic throttle: when it is on, and what the ends of calls do to the rate.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::limit::Limit;
use super::meter::Meter;
use super::nanos;
use crate::sync::{AtomicU32, Ordering};
use reattempt_core::Timestamp;

#[derive(Debug)]
pub(super) struct Cubic {
    meter: Meter,
    pub(super) max_wait: Duration,
    /// 1 once the service has throttled, until it is reset.
    on: AtomicU32,
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    limit: Option<Limit>,
    /// The first place of the next limit. Places are never given out twice, so one of a limit before
    /// a reset means nothing to the limit after it.
    first_place: u64,
}

impl Cubic {
    pub(super) const fn new() -> Self {
        Self {
            meter: Meter::new(),
            max_wait: Duration::from_secs(60),
            on: AtomicU32::new(0),
            held: Mutex::new(Held {
                limit: None,
                first_place: 1,
            }),
        }
    }

    // Relaxed: it is set while the lock is held, and a thread that sees it takes the lock before
    // it looks at what the lock keeps.
    fn limited<T>(&self, act: impl FnOnce(&mut Limit) -> T) -> Option<T> {
        if self.on.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.lock().limit.as_mut().map(act)
    }

    // Nothing panics while it is held: a poisoned lock keeps nothing that is half done.
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place, now, and answers how long it is until its turn; `None` while there is no limit.
    pub(super) fn take(
        &self,
        now: impl FnOnce() -> Timestamp,
    ) -> Option<(u64, Duration, Timestamp)> {
        self.limited(|limit| {
            let now = now();
            let (place, wait) = limit.take(now);
            (place, wait, now)
        })
    }

    /// How long it is until the turn of a place now.
    pub(super) fn wait(&self, place: u64, now: Timestamp) -> Duration {
        self.limited(|limit| limit.wait(place, now))
            .unwrap_or(Duration::ZERO)
    }

    pub(super) fn spend(&self, place: u64) {
        self.limited(|limit| limit.spend(place));
    }

    pub(super) fn give_back(&self, place: u64) {
        self.limited(|limit| limit.give_back(place));
    }

    pub(super) fn succeeded(&self, now: Timestamp) {
        self.meter.record(half_second(now));
        self.limited(|limit| {
            let rate = limit.curve.at(now);
            limit.set_rate(rate.min(2.0 * self.meter.rate()), now);
        });
    }

    pub(super) fn throttled(&self, now: Timestamp) {
        self.meter.record(half_second(now));
        let measured = self.meter.rate();
        let mut held = self.lock();
        let first_place = held.first_place;
        let limit = held
            .limit
            .get_or_insert_with(|| Limit::starting(measured, now, first_place));
        self.on.store(1, Ordering::Relaxed);
        let rate = limit.curve.throttled(measured.min(limit.fill()), now);
        limit.set_rate(rate, now);
    }

    /// A failure that says nothing about the rate.
    pub(super) fn failed(&self, now: Timestamp) {
        self.meter.record(half_second(now));
    }

    /// Calls that wait may begin when they look again.
    pub(super) fn reset(&self) {
        let mut held = self.lock();
        if let Some(limit) = held.limit.take() {
            held.first_place = limit.next_place();
        }
        self.on.store(0, Ordering::Relaxed);
        self.meter.reset();
    }

    pub(super) fn measured_rate(&self) -> f64 {
        self.meter.rate()
    }

    pub(super) fn fill_rate(&self) -> Option<f64> {
        self.limited(|limit| limit.fill())
    }
}

fn half_second(now: Timestamp) -> u64 {
    nanos(now) / 500_000_000
}
