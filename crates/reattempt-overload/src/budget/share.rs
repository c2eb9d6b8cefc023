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
    pub(crate) const fn of(processes: u32, random: u64) -> Self {
        Self { processes, random }
    }

    /// The price of a retry that costs `price` of a whole budget.
    pub(crate) const fn price(self, price: u64) -> u64 {
        price.saturating_mul(self.processes as u64)
    }

    /// Returns what remains of `left` after a retry was asked for at the `price` of a whole budget, and whether it was paid.
    pub(crate) fn pay(self, left: u64, price: u64) -> (u64, bool) {
        let all = self.price(price);
        if let Some(after) = left.checked_sub(all) {
            return (after, true);
        }
        // Remainders of 64 bits are even enough.
        let drawn = self.random.checked_rem(all);
        (0, drawn.is_some_and(|drawn| drawn < left))
    }
}
