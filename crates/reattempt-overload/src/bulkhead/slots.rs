//! How many attempts run, in one word: plain numbers in and out, for the models of `tests/loom`.
#![warn(clippy::arithmetic_side_effects)]

use crate::sync::{AtomicU64, Ordering, constant};

/// The attempts that run.
// Acquire and release: what an attempt did before it freed its slot has happened before the next one takes that slot.
#[derive(Debug)]
pub(crate) struct Slots(AtomicU64);

impl Slots {
    constant! {
        /// All free.
        pub(crate) fn new() -> Self {
            Self(AtomicU64::new(0))
        }
    }

    /// Takes a slot of `limit`. Returns whether one was free.
    #[inline]
    pub(crate) fn take(&self, limit: u64) -> bool {
        let mut taken = self.0.load(Ordering::Relaxed);
        while taken < limit {
            let more = taken.saturating_add(1);
            let exchanged =
                self.0
                    .compare_exchange_weak(taken, more, Ordering::Acquire, Ordering::Relaxed);
            match exchanged {
                Ok(_) => return true,
                Err(other) => taken = other,
            }
        }
        false
    }

    /// Frees `slots` that were taken.
    #[inline]
    pub(crate) fn free(&self, slots: u64) {
        self.0.fetch_sub(slots, Ordering::Release);
    }

    /// Returns how many are taken.
    pub(crate) fn taken(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
