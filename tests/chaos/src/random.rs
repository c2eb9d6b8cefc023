//! Random numbers that a seed alone decides.

use std::time::Duration;

/// `SplitMix64`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Random(u64);

impl Random {
    /// Another one for each of `parts`.
    pub(crate) fn of(seed: u64, parts: &[u64]) -> Self {
        let mut random = Self(seed);
        for part in parts {
            random = Self(random.next() ^ part.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// From `least` up to `most`, which it may be.
    pub(crate) fn range(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    pub(crate) fn millis(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(self.range(least, most))
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.range(1, 100) <= percent
    }

    pub(crate) fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        let last = of.len() as u64 - 1;
        of[self.range(0, last) as usize]
    }
}
