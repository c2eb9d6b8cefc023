//! A balance between nothing and a capacity, in one word.
#![warn(clippy::arithmetic_side_effects)]

use crate::sync::{AtomicU32, Ordering, constant};

/// Tokens, all there at the start.
#[derive(Debug)]
pub(crate) struct Purse {
    balance: AtomicU32,
    capacity: u32,
}

impl Purse {
    constant! {
        pub(crate) fn new(capacity: u32) -> Self {
            Self {
                balance: AtomicU32::new(capacity),
                capacity,
            }
        }
    }

    pub(crate) const fn capacity(&self) -> u32 {
        self.capacity
    }

    pub(crate) fn balance(&self) -> u32 {
        self.balance.load(Ordering::Relaxed)
    }

    /// Takes `cost`, or nothing where there is less.
    pub(crate) fn take(&self, cost: u32) -> bool {
        self.change(|balance| balance.checked_sub(cost))
    }

    /// Takes `cost`, or what there is.
    pub(crate) fn lose(&self, cost: u32) {
        self.change(|balance| Some(balance.saturating_sub(cost)));
    }

    /// Puts `tokens` in; what exceeds the capacity is lost.
    #[inline]
    pub(crate) fn put(&self, tokens: u32) {
        self.change(|balance| Some(balance.saturating_add(tokens).min(self.capacity)));
    }

    /// Whether there is a next balance; it is the balance then.
    // Relaxed: all changes of one word have one order, whatever the threads see of other memory,
    // and nothing else is published through it. The loop loses no change, because an exchange
    // fails when another came between; one that changes nothing is not written at all.
    #[inline]
    fn change(&self, next: impl Fn(u32) -> Option<u32>) -> bool {
        let mut seen = self.balance();
        loop {
            let Some(after) = next(seen) else {
                return false;
            };
            if after == seen {
                return true;
            }
            let exchanged = self.balance.compare_exchange_weak(
                seen,
                after,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match exchanged {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
    }
}
