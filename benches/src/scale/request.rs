//! What every task does: a request that fails twice before it is answered.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

use reattempt::GaveUp;

use crate::cases::Yield;

/// Long enough that the last task is in backoff before the first one is done.
pub(super) const DELAY: Duration = Duration::from_secs(5);

/// Of the delay, to both sides.
pub(super) const JITTER: f64 = 0.2;

pub(super) const FAILURES: u8 = 2;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fault {
    Busy,
    Broken,
}

impl From<GaveUp> for Fault {
    fn from(_: GaveUp) -> Self {
        Self::Broken
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "`on` gives a reference")]
pub(super) fn is_transient(fault: &Fault) -> bool {
    *fault == Fault::Busy
}

/// How many requests are in backoff, and the most that ever were.
static WAITING: AtomicU32 = AtomicU32::new(0);
static MOST_WAITING: AtomicU32 = AtomicU32::new(0);
static ANSWERED: AtomicU32 = AtomicU32::new(0);

#[derive(Default)]
pub(super) struct Request {
    failed: AtomicU8,
}

impl Request {
    /// Pending once, and fails as long as it has to.
    pub(super) async fn send(&self) -> Result<u64, Fault> {
        Yield::once().await;
        if self.failed.load(Ordering::Relaxed) < FAILURES {
            self.fails();
            return Err(Fault::Busy);
        }
        answers();
        Ok(1)
    }

    /// The same to the counters, without an error that one could retry on.
    pub(super) fn waits(&self) {
        self.fails();
        self.failed.store(FAILURES, Ordering::Relaxed);
    }

    fn fails(&self) {
        if self.failed.fetch_add(1, Ordering::Relaxed) == 0 {
            let waiting = WAITING.fetch_add(1, Ordering::Relaxed) + 1;
            MOST_WAITING.fetch_max(waiting, Ordering::Relaxed);
        }
    }
}

fn answers() {
    WAITING.fetch_sub(1, Ordering::Relaxed);
    ANSWERED.fetch_add(1, Ordering::Release);
}

pub(super) fn answer_count() -> u32 {
    ANSWERED.load(Ordering::Acquire)
}

pub(super) fn most_waiting() -> u32 {
    MOST_WAITING.load(Ordering::Relaxed)
}

thread_local! {
    static STATE: Cell<u64> = const { Cell::new(0x9e37_79b9_7f4a_7c15) };
}

/// A delay with its jitter, for the ways that leave chance to their user. Xorshift, as cheap as it gets.
pub(super) fn jittered() -> Duration {
    let bits = STATE.with(|state| {
        let mut x = state.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        state.set(x);
        x
    });
    let unit = f64::from((bits >> 32) as u32) / f64::from(u32::MAX);
    DELAY.mul_f64(1.0 - JITTER + 2.0 * JITTER * unit)
}
