//! How many calls a second there are, measured by the half second and smoothed.
#![warn(clippy::arithmetic_side_effects)]

use crate::sync::{AtomicU64, Ordering, constant};

/// Two words: `[begun: 1 | half second: 31 | calls in it: 32]` and the rate until then.
#[derive(Debug)]
pub(crate) struct Meter {
    count: AtomicU64,
    /// The bits of an `f64`.
    rate: AtomicU64,
}

const BEGUN: u64 = 1 << 63;
const INDEX: u64 = (1 << 31) - 1;
const CALLS: u64 = (1 << 32) - 1;
/// The share of the newest half second.
const SMOOTH: f64 = 0.8;

impl Meter {
    constant! {
        /// Nothing has been measured yet.
        pub(crate) fn new() -> Self {
            Self { count: AtomicU64::new(0), rate: AtomicU64::new(0) }
        }
    }

    /// Calls a second; 0 until the first half second is over.
    pub(crate) fn rate(&self) -> f64 {
        f64::from_bits(self.rate.load(Ordering::Relaxed))
    }

    /// As new. A half second that ends at this moment may still leave its rate.
    pub(crate) fn reset(&self) {
        self.count.swap(0, Ordering::Relaxed);
        self.rate.swap(0, Ordering::Relaxed);
    }

    /// Counts a call in this half second of the clock. The first one of another half second still
    /// counts for those before, as in the SDKs, and closes them.
    // Relaxed: an exchange that fails is tried again, so every call counts once, and only the
    // thread that wins the exchange that empties the count hands its calls on. Between the two words
    // a reader may see the rate before; two half seconds that end at once may be smoothed in
    // either order.
    pub(crate) fn record(&self, half_second: u64) {
        let index = half_second & INDEX;
        let mut seen = self.count.load(Ordering::Relaxed);
        loop {
            let (before, calls) = ((seen >> 32) & INDEX, seen & CALLS);
            let with = calls.saturating_add(1);
            let gap = index.wrapping_sub(before) & INDEX;
            // Late by one: held up between the clock and here.
            let same = gap == 0 || gap == INDEX;
            let closed = seen & BEGUN != 0 && !same && gap <= INDEX / 2;
            let next = match (seen & BEGUN != 0, same) {
                (true, true) => BEGUN | (before << 32) | with.min(CALLS),
                _ if closed => BEGUN | (index << 32),
                // The first call of all, or a clock that was set back.
                _ => BEGUN | (index << 32) | 1,
            };
            let exchanged =
                self.count
                    .compare_exchange_weak(seen, next, Ordering::Relaxed, Ordering::Relaxed);
            match exchanged {
                Ok(_) if closed => return self.smooth(with, gap),
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "both have at most 33 bits, by their masks"
    )]
    fn smooth(&self, calls: u64, half_seconds: u64) {
        let newest = calls as f64 / (half_seconds as f64 / 2.0);
        let mut seen = self.rate.load(Ordering::Relaxed);
        loop {
            let next = newest * SMOOTH + f64::from_bits(seen) * (1.0 - SMOOTH);
            let exchanged = self.rate.compare_exchange_weak(
                seen,
                next.to_bits(),
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match exchanged {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }
}
