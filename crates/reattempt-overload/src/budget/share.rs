//! The part of a budget that this process has, where all processes that call a service share it.
//!
//! Each takes so many times the price as there are processes. Where less than that is left, a draw decides about the retry,
//! and what is left is spent either way: all processes together make the retries of one budget, in the mean.

/// How many processes share a budget, and what a draw takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    processes: u32,
    random: u64,
}

impl Share {
    /// The budget is this process's own.
    pub(crate) const WHOLE: Self = Self {
        processes: 1,
        random: 0,
    };

    pub(crate) const fn of(processes: u32, random: u64) -> Self {
        Self { processes, random }
    }

    pub(crate) const fn is_whole(self) -> bool {
        self.processes == 1
    }

    /// The price of a retry that costs `price` of a whole budget.
    #[inline]
    pub(crate) const fn price(self, price: u64) -> u64 {
        price.saturating_mul(self.processes as u64)
    }

    /// Returns what remains of `left` after a retry was asked for at the `price` of a whole budget, and whether it was paid.
    #[inline]
    pub(crate) fn pay(self, left: u64, price: u64) -> (u64, bool) {
        let all = self.price(price);
        match left.checked_sub(all) {
            Some(after) => (after, true),
            None if self.is_whole() => (left, false),
            // Remainders of 64 bits are even enough.
            None => {
                let drawn = self.random.checked_rem(all);
                (0, drawn.is_some_and(|drawn| drawn < left))
            }
        }
    }
}
