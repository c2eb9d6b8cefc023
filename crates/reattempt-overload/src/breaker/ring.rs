//! The last calls: a ring with a bit for each call, and how many bits are set.
#![warn(clippy::arithmetic_side_effects)]

use core::num::NonZeroU64;

use crate::sync::{AtomicU64, Ordering, constant};

/// For 1024 calls.
const WORDS: usize = 16;

/// What a window holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    pub(crate) marked: u64,
}

/// A bit for each of the last calls.
// Relaxed throughout: a bit and the count have no order but their own. The count follows what an exchange
// has really changed, so that it is the number of set bits once no thread is in the middle of a change, whatever the
// order was. Before that it may be off by such threads, as if they had not come yet.
#[derive(Debug)]
pub(crate) struct Marks {
    words: [AtomicU64; WORDS],
    /// Below 0 for a moment when a bit is cleared before the thread that set it has counted it.
    set: AtomicU64,
}

impl Marks {
    constant! {
        pub(crate) fn new() -> Self {
            Self {
                words: [
                    AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0),
                    AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0),
                    AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0),
                    AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0),
                ],
                set: AtomicU64::new(0),
            }
        }
    }

    /// Sets the bit at `place`, or clears it; a bit that is right already is only read.
    #[inline(always)]
    pub(crate) fn mark(&self, place: u64, on: bool) {
        let index = usize::try_from(place / 64).unwrap_or(usize::MAX);
        let Some(word) = self.words.get(index) else {
            return;
        };
        let bit = 1 << (place % 64);
        if (word.load(Ordering::Relaxed) & bit != 0) != on {
            self.turn(word, bit, on);
        }
    }

    #[inline(never)]
    fn turn(&self, word: &AtomicU64, bit: u64, on: bool) {
        if on {
            if word.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
                self.set.fetch_add(1, Ordering::Relaxed);
            }
        } else if word.fetch_and(!bit, Ordering::Relaxed) & bit != 0 {
            self.set.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// How many bits are set.
    #[inline(always)]
    pub(crate) fn count(&self) -> u64 {
        counted(self.set.load(Ordering::Relaxed))
    }

    pub(crate) fn clear(&self) {
        for word in &self.words {
            let cleared = word.swap(0, Ordering::Relaxed).count_ones();
            if cleared > 0 {
                self.set.fetch_sub(cleared.into(), Ordering::Relaxed);
            }
        }
    }

    /// How many bits are set, by the bits.
    #[cfg(test)]
    pub(crate) fn bits(&self) -> u64 {
        let ones = |word: &AtomicU64| u64::from(word.load(Ordering::Relaxed).count_ones());
        self.words.iter().map(ones).sum()
    }
}

/// Alone in its line of the cache: every call writes it, and what they all read stays where it is.
#[derive(Debug)]
#[repr(align(64))]
struct Line(AtomicU64);

/// The last calls, those that failed and those that were slow.
#[derive(Debug)]
pub(crate) struct Ring {
    /// The calls since it was emptied.
    calls: Line,
    failed: Marks,
    slow: Marks,
}

impl Ring {
    constant! {
        pub(crate) fn new() -> Self {
            Self {
                calls: Line(AtomicU64::new(0)),
                failed: Marks::new(),
                slow: Marks::new(),
            }
        }
    }

    /// Counts a call in place of the one `size` calls before, and answers with the failed ones and, where `slow_calls`
    /// is given, the slow ones.
    pub(crate) fn record(&self, size: NonZeroU64, failed: bool, slow: Option<bool>) -> [Counts; 2] {
        let before = self.calls.0.fetch_add(1, Ordering::Relaxed);
        let place = before % size;
        let calls = before.saturating_add(1).min(size.get());
        self.failed.mark(place, failed);
        let failed = Counts {
            calls,
            marked: self.failed.count(),
        };
        let Some(slow) = slow else {
            return [failed, Counts { calls, marked: 0 }];
        };
        self.slow.mark(place, slow);
        let marked = self.slow.count();
        [failed, Counts { calls, marked }]
    }

    /// Returns how many of the last `size` calls it holds, with those that failed and those that were slow.
    pub(crate) fn counts(&self, size: NonZeroU64) -> [Counts; 2] {
        let calls = self.calls.0.load(Ordering::Relaxed).min(size.get());
        [&self.failed, &self.slow].map(|marks| Counts {
            calls,
            // By those in the middle of a change it may be off.
            marked: marks.count().min(calls),
        })
    }

    /// Whether none of the calls failed: a bit that is set belongs to a thread that has not counted it yet, as if it
    /// had not come yet.
    #[inline(always)]
    pub(crate) fn is_well(&self) -> bool {
        self.failed.count() == 0
    }

    /// Counts a call whose bits are right as they are.
    #[inline(always)]
    pub(crate) fn count_well(&self) {
        self.calls.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn clear(&self) {
        self.calls.0.swap(0, Ordering::Relaxed);
        self.failed.clear();
        self.slow.clear();
    }

    /// Those that failed and those that were slow.
    #[cfg(test)]
    pub(crate) fn marks(&self) -> [&Marks; 2] {
        [&self.failed, &self.slow]
    }
}

/// What a count that may be below 0 for a moment stands for.
const fn counted(set: u64) -> u64 {
    if set > u64::MAX / 2 { 0 } else { set }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bit was cleared before the thread that set it has counted it.
    #[test]
    fn a_count_below_nothing_is_nothing() {
        for (set, is_counted) in [(u64::MAX, 0), (u64::MAX - 7, 0), (1024, 1024)] {
            assert_eq!(counted(set), is_counted);
        }
    }
}
