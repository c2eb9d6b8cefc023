//! One word that says what is unusual in this process: a bit for each slot that a test has filled.
//!
//! Calls read the word before they ask a slot. What fills a slot sets its bit, under the lock of the
//! slot, and it stays.

use core::sync::atomic::{AtomicU32, Ordering};

/// A test has made the time of a thread virtual.
pub const VIRTUAL_TIME: u32 = 1;
/// A test has seeded the random numbers of a thread.
pub const SEED: u32 = 1 << 1;

static WATCH: AtomicU32 = AtomicU32::new(0);

/// Returns the bits that are set: 0 where no slot is filled.
// Relaxed, here and below: a bit publishes nothing. Its slot has an order of its own, and a thread
// always sees the bits that it has set itself.
#[inline(always)]
pub fn bits() -> u32 {
    WATCH.load(Ordering::Relaxed)
}

/// Sets the bit of a slot that is being filled.
#[cfg(feature = "std")]
pub fn set(bit: u32) {
    WATCH.fetch_or(bit, Ordering::Relaxed);
}
