//! Random numbers that are the same for the same seed, for ever.

use std::time::Duration;

/// splitmix64, which is also what `testing::seed` draws from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    pub(crate) fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.index(values.len())]
    }

    pub(crate) fn some<T>(&mut self, share: u64, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.percent(share).then(|| make(self))
    }

    /// From a millisecond up to `2^bits` of them: every order of magnitude as often, every other one a round number.
    pub(crate) fn duration(&mut self, bits: u64) -> Duration {
        let most = 1 << self.below(bits + 1);
        let millis = Duration::from_millis(1 + self.below(most));
        if self.percent(50) {
            millis
        } else {
            millis + Duration::from_nanos(self.below(1_000_000))
        }
    }
}
