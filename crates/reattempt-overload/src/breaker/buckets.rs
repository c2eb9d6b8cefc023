//! The calls of the last while: sixteen buckets, each in one word.
#![warn(clippy::arithmetic_side_effects)]

use super::ring::Counts;
use crate::sync::{AtomicU64, Ordering, constant};

/// The buckets of a window: the one of now and fifteen before.
pub(crate) const BUCKETS: u64 = 16;

const TAG: u32 = 44;
const CALLS: u32 = 22;
/// The most that a count holds; then both are halved, which keeps their ratio.
const MOST: u64 = (1 << CALLS) - 1;

/// Counts by bucket: tag (20 bits), calls (22), marked calls (22). The tag tells this round of the sixteen from
/// earlier ones. What has another tag is of another time, before or, where the clock went back, after; it is
/// replaced when its bucket is needed and not counted until then.
// Relaxed: each word is complete in itself, and a sum may miss what is being counted.
#[derive(Debug)]
pub(crate) struct Buckets {
    words: [AtomicU64; 16],
    // One more than the latest bucket with a marked call: while that is long past, no thread has to add up.
    marked: AtomicU64,
}

impl Buckets {
    constant! {
        pub(crate) fn new() -> Self {
            Self {
                words: [
                    AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0),
                    AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0),
                    AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0),
                    AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0),
                ],
                marked: AtomicU64::new(0),
            }
        }
    }

    /// Counts a call; `now` is the number of its bucket since the clock's origin. Where no call in the window is
    /// marked the answer does not count the others.
    pub(crate) fn record(&self, now: u64, marked: bool) -> Counts {
        // A thread that does not see another's mark yet misses nothing: the other adds up itself.
        let latest = if marked {
            self.marked
                .fetch_max(now.saturating_add(1), Ordering::Relaxed);
            now
        } else {
            self.marked.load(Ordering::Relaxed)
        };
        let index = usize::try_from(now % BUCKETS).unwrap_or(0);
        if let Some(word) = self.words.get(index) {
            let tag = tag(now / BUCKETS);
            let mut seen = word.load(Ordering::Relaxed);
            loop {
                let next = counted(seen, tag, marked);
                let exchanged =
                    word.compare_exchange_weak(seen, next, Ordering::Relaxed, Ordering::Relaxed);
                match exchanged {
                    Ok(_) => break,
                    Err(other) => seen = other,
                }
            }
        }
        if latest.saturating_add(BUCKETS) <= now.saturating_add(1) {
            return Counts {
                calls: 1,
                marked: 0,
            };
        }
        self.sum(now)
    }

    /// The calls of this bucket and the fifteen before.
    pub(crate) fn sum(&self, now: u64) -> Counts {
        let (this_round, newest) = (now / BUCKETS, now % BUCKETS);
        let mut counts = Counts {
            calls: 0,
            marked: 0,
        };
        for (index, word) in (0_u64..).zip(&self.words) {
            let round = if index <= newest {
                this_round
            } else {
                this_round.wrapping_sub(1)
            };
            let seen = word.load(Ordering::Relaxed);
            if seen >> TAG == tag(round) {
                counts.calls = counts.calls.saturating_add((seen >> CALLS) & MOST);
                counts.marked = counts.marked.saturating_add(seen & MOST);
            }
        }
        counts
    }

    pub(crate) fn clear(&self) {
        for word in &self.words {
            word.store(0, Ordering::Relaxed);
        }
    }
}

const fn tag(round: u64) -> u64 {
    round & 0xf_ffff
}

fn counted(seen: u64, tag: u64, marked: bool) -> u64 {
    let (mut calls, mut hits) = if seen >> TAG == tag {
        ((seen >> CALLS) & MOST, seen & MOST)
    } else {
        (0, 0)
    };
    if calls == MOST {
        (calls, hits) = (calls / 2, hits / 2);
    }
    calls = calls.saturating_add(1);
    hits = hits.saturating_add(u64::from(marked));
    tag << TAG | calls << CALLS | hits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_is_full_is_halved_with_what_it_has_marked() {
        let word = |tag: u64, calls: u64, hits: u64| tag << TAG | calls << CALLS | hits;
        assert_eq!(counted(word(7, MOST, 6), 7, true), word(7, MOST / 2 + 1, 4));
        assert_eq!(
            counted(word(7, MOST, MOST), 7, false),
            word(7, MOST / 2 + 1, MOST / 2)
        );
        assert_eq!(counted(word(7, 3, 1), 7, true), word(7, 4, 2));
        assert_eq!(counted(word(6, 3, 1), 7, true), word(7, 1, 1));
        assert_eq!(counted(word(6, 3, 1), 7, false), word(7, 1, 0));
    }
}
