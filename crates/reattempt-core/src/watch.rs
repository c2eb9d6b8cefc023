//! One word that says what is unusual in this process: a bit for each slot that somebody has filled.
//!
//! Calls read the word where they would ask each slot. Whoever fills a slot sets its bit, and
//! whoever empties the slot clears the bit, both under the lock of the slot.

use core::sync::atomic::{AtomicU32, Ordering};

/// A test has made the time of a thread virtual.
pub const VIRTUAL_TIME: u32 = 1;
/// A test has seeded the random numbers of a thread.
pub const SEED: u32 = 1 << 1;
/// A test records the calls of a thread.
pub const RECORDER: u32 = 1 << 2;
/// Somebody observes the calls.
pub const OBSERVER: u32 = 1 << 3;
/// Policies come from a configuration.
pub const CONFIGURATION: u32 = 1 << 4;
/// Retries are switched off.
pub const SWITCHED_OFF: u32 = 1 << 5;

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

/// Clears the bit of a slot that nobody fills any more.
#[cfg(feature = "std")]
pub fn clear(bit: u32) {
    WATCH.fetch_and(!bit, Ordering::Relaxed);
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn a_bit_comes_and_goes_alone() {
        set(RECORDER);
        set(OBSERVER);
        clear(RECORDER);
        assert_eq!(bits() & (RECORDER | OBSERVER), OBSERVER);
    }
}
