//! One word that says what is unusual in this process: a bit for each slot that is filled.
//!
//! Calls read the word before they ask a slot. What fills a slot sets its bit, under the lock of the
//! slot. Slots of tests stay set.

use crate::sync::{AtomicU32, Ordering, shared};

/// A test has made the time of a thread virtual.
pub const VIRTUAL_TIME: u32 = 1;
/// A test has seeded the random numbers of a thread.
pub const SEED: u32 = 1 << 1;
/// A test records the calls of a thread.
pub const RECORDER: u32 = 1 << 2;
/// An observer of the process was added.
pub const OBSERVER: u32 = 1 << 3;
/// A scope of a thread or a task has an observer.
pub const SCOPE: u32 = 1 << 4;
/// A call of `config::stop_retries` has switched retries off.
pub const OFF_BY_CALL: u32 = 1 << 5;
/// `enabled = false` in the configuration has switched retries off.
pub const OFF_BY_FILE: u32 = 1 << 6;
/// No operation has a budget by default.
pub const NO_DEFAULT_BUDGET: u32 = 1 << 7;
/// A test has planned faults.
pub const FAULTS: u32 = 1 << 8;
/// Retries are switched off.
pub const OFF: u32 = OFF_BY_CALL | OFF_BY_FILE;
/// Somebody may want a report of a failure.
pub const SINKS: u32 = RECORDER | OBSERVER | SCOPE;

shared!(WATCH: AtomicU32 = AtomicU32::new(0));

/// Returns the bits that are set: 0 where no slot is filled.
// Relaxed, here and below: a bit publishes nothing. Its slot has an order of its own, and a thread
// always sees the bits that it has set itself.
#[inline(always)]
pub fn bits() -> u32 {
    WATCH.load(Ordering::Relaxed)
}

/// Returns whether one of these bits is set.
#[inline(always)]
pub fn has_any(of: u32) -> bool {
    bits() & of != 0
}

/// Sets the bit of a slot that is being filled. Returns the bits before.
pub fn set(bit: u32) -> u32 {
    WATCH.fetch_or(bit, Ordering::Relaxed)
}

/// Clears the bit of a slot that nobody fills any more. Returns the bits before.
pub fn clear(bit: u32) -> u32 {
    WATCH.fetch_and(!bit, Ordering::Relaxed)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn each_slot_has_a_bit_of_its_own() {
        let slots = [
            VIRTUAL_TIME,
            SEED,
            RECORDER,
            OBSERVER,
            SCOPE,
            OFF_BY_CALL,
            OFF_BY_FILE,
            NO_DEFAULT_BUDGET,
            FAULTS,
        ];
        assert!(slots.iter().all(|slot| slot.is_power_of_two()));
        let all = slots.iter().fold(0, |all, slot| all | slot);
        assert_eq!(all.count_ones(), 9);
        assert_eq!((OFF.count_ones(), SINKS.count_ones()), (2, 3));
    }

    #[test]
    fn a_bit_comes_and_goes_alone() {
        // Slots that nobody else fills.
        let slots = [1 << 29, 1 << 30, 1 << 31];
        for filled in 0..8_u32 {
            let of = |those: u32| {
                (0..3)
                    .filter(move |bit| those >> bit & 1 == 1)
                    .map(|bit| slots[bit])
            };
            for slot in slots {
                set(slot);
            }
            for slot in of(!filled) {
                assert_ne!(clear(slot) & slot, 0);
                assert_eq!(clear(slot) & slot, 0);
            }
            for asked in 0..8 {
                assert_eq!(
                    has_any(of(asked).sum()),
                    filled & asked != 0,
                    "{filled} {asked}"
                );
            }
        }
    }
}
