//! The part of a budget that this process has, where all processes that call a service share it.
//!
//! What a process has spent counts as it is, and so many times against the whole budget as there are processes. Where less
//! than its price is left, a draw decides about a retry, and the price is spent either way: all processes together make
//! the retries of one budget, in the mean. Nothing that is put in or given back depends on their number, so that a number
//! that changes makes no tokens.

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

    pub(crate) const fn processes(self) -> u32 {
        self.processes
    }

    /// Whether this process is drawn of all.
    pub(crate) fn is_drawn(self) -> bool {
        // Other bits than those that `pay` sees.
        let random = self.random.rotate_right(32);
        random
            .checked_rem(self.processes.into())
            .is_some_and(|drawn| drawn == 0)
    }

    /// What counts against the whole budget where this process has spent so much.
    pub(crate) const fn of_all(self, spent: u64) -> u64 {
        spent.saturating_mul(self.processes as u64)
    }

    /// Asks for a retry at the `price` of a whole budget, with `left` of it. `None` where nothing is left; else the price is
    /// spent, and the answer is whether it is made.
    pub(crate) fn pay(self, left: u64, price: u64) -> Option<bool> {
        if left == 0 {
            return None;
        }
        let price = self.of_all(price);
        // Remainders of 64 bits are even enough.
        let drawn = || self.random.checked_rem(price);
        Some(left >= price || drawn().is_some_and(|drawn| drawn < left))
    }
}
