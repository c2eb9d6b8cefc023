//! A balance between nothing and a capacity, in one word.
#![warn(clippy::arithmetic_side_effects)]

use super::share::Share;
use crate::sync::{AtomicU32, Ordering, constant};

/// Tokens, all there at the start.
#[derive(Debug)]
pub(crate) struct TokenCount {
    balance: AtomicU32,
    capacity: u32,
}

impl TokenCount {
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

    #[inline]
    pub(crate) fn balance(&self) -> u32 {
        self.balance.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.balance.load(Ordering::Relaxed) == self.capacity
    }

    /// Takes `cost`, or nothing where there is less.
    #[inline]
    pub(crate) fn take(&self, cost: u32) -> bool {
        self.change(|balance| balance.checked_sub(cost)).is_some()
    }

    /// The same in a share, of which so many tokens are closed. What is taken counts in it whether the retry is made or not.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_share(&self, cost: u32, closed: u32, share: Share) -> bool {
        let mut is_made = false;
        let taken = self.change(|balance| {
            let spent = self.capacity.saturating_sub(balance);
            let all = u64::from(self.capacity.saturating_sub(closed));
            let left = all.saturating_sub(share.of_all(spent.into()));
            is_made = share.pay(left, cost.into())?;
            Some(balance.saturating_sub(cost))
        });
        taken.is_some() && is_made
    }

    /// Takes `cost`, or what there is, and answers with what is left.
    pub(crate) fn lose(&self, cost: u32) -> u32 {
        let left = self.change(|balance| Some(balance.saturating_sub(cost)));
        left.unwrap_or_default()
    }

    /// Puts `tokens` in; what exceeds the capacity is lost.
    #[inline]
    pub(crate) fn put(&self, tokens: u32) {
        self.change(|balance| Some(balance.saturating_add(tokens).min(self.capacity)));
    }

    /// The balance after the change, if there is a next one.
    // Relaxed: all changes of one word have one order, whatever the threads see of other memory,
    // and nothing else is published through it. The loop loses no change, because an exchange
    // fails when another came between; one that changes nothing is not written at all.
    #[inline]
    fn change(&self, mut next: impl FnMut(u32) -> Option<u32>) -> Option<u32> {
        let mut seen = self.balance();
        loop {
            let after = next(seen)?;
            if after == seen {
                return Some(after);
            }
            let exchanged = self.balance.compare_exchange_weak(
                seen,
                after,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match exchanged {
                Ok(_) => return Some(after),
                Err(now) => seen = now,
            }
        }
    }
}
