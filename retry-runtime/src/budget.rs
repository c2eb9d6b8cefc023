//! Whether the service as a whole is well enough for another retry: one count of tokens
//! for all calls that share it, in one atomic word.
#![warn(clippy::arithmetic_side_effects)]

use core::sync::atomic::{AtomicU32, Ordering};

#[cfg(any(
    feature = "tower",
    feature = "reqwest-middleware04",
    feature = "reqwest-middleware05"
))]
use crate::verdict::Verdict;

/// A token is a thousand of these.
const TOKEN: u32 = 1000;

/// Tokens that failures take and successes bring back: while few are left, nothing is retried.
///
/// Calls of one service share one, as a `static`: `RetryLayer::budget(&SHOP)` of the feature `tower`,
/// `RetryMiddleware::budget(&SHOP)` of `reqwest-middleware`. `#[retry]` takes none yet. It does not
/// wait, and it takes nothing from a success while it is full.
///
/// # Source
///
/// gRPC's [retry throttling](https://github.com/grpc/proposal/blob/master/A6-client-retries.md).
///
/// # Examples
///
/// ```
/// # use retry_runtime as reattempt;
/// use reattempt::Budget;
///
/// static SHOP: Budget = Budget::grpc(4, 0.5);
///
/// assert!(SHOP.failed()); // 3 of 4 tokens are left
/// assert!(!SHOP.failed()); // 2 are no more than half
/// SHOP.succeeded();
/// assert_eq!(SHOP.balance(), 2.5);
/// ```
#[derive(Debug)]
pub struct Budget {
    balance: AtomicU32,
    max: u32,
    gain: u32,
}

impl Budget {
    /// As gRPC counts: full at the start, a failure costs a token, a success brings `token_ratio` of
    /// one, and retries are allowed while more than half of `max_tokens` are left.
    ///
    /// # Units and ranges
    ///
    /// `max_tokens` from 1 to 1000. `token_ratio` from 0.001, finite; three decimals count, the others
    /// are cut off. What exceeds `max_tokens` is lost.
    ///
    /// # Panics
    ///
    /// Outside these ranges; in a `static` that is an error of the compiler.
    #[must_use = "a budget does nothing unless its calls tell it how they ended"]
    pub const fn grpc(max_tokens: u32, token_ratio: f64) -> Self {
        assert!(
            1 <= max_tokens && max_tokens <= 1000,
            "`max_tokens` is from 1 to 1000; gRPC's own examples have 10"
        );
        assert!(
            token_ratio.is_finite() && token_ratio >= 0.001,
            "`token_ratio` is a finite number from 0.001; 0.1 allows one retry for ten successes"
        );
        let max = max_tokens.saturating_mul(TOKEN);
        Self {
            balance: AtomicU32::new(max),
            max,
            gain: thousandths(token_ratio),
        }
    }

    /// Counts a failed attempt, and answers whether it may be retried.
    ///
    /// Failures that are retried count, and those for which the service forbade it; others say
    /// nothing about its health.
    #[inline]
    pub fn failed(&self) -> bool {
        let balance = self.change(|balance| balance.saturating_sub(TOKEN));
        balance > self.max / 2
    }

    /// Counts a call that was answered: of `RetryLayer` and `RetryMiddleware` by every response that is not
    /// retried, a 404 too.
    #[inline]
    pub fn succeeded(&self) {
        self.change(|balance| balance.saturating_add(self.gain).min(self.max));
    }

    /// The tokens that are left.
    pub fn balance(&self) -> f64 {
        f64::from(self.balance.load(Ordering::Relaxed)) / f64::from(TOKEN)
    }

    /// Answers with the balance after the change.
    // Relaxed: all changes of one word have one order, whatever the threads see of other memory,
    // and nothing else is published through it. The loop loses no change, because an exchange
    // fails when another came between; one that changes nothing is not written at all.
    #[inline]
    fn change(&self, next: impl Fn(u32) -> u32) -> u32 {
        let mut seen = self.balance.load(Ordering::Relaxed);
        loop {
            let after = next(seen);
            if after == seen {
                return after;
            }
            let exchanged = self.balance.compare_exchange_weak(
                seen,
                after,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match exchanged {
                Ok(_) => return after,
                Err(now) => seen = now,
            }
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cut off on purpose; a positive number that is too large becomes the largest"
)]
const fn thousandths(ratio: f64) -> u32 {
    // A hair more: 1.001 times 1000 is a hair below 1001.
    (ratio * 1000.0 + 1e-6) as u32
}

/// Tells a budget, where there is one, of a call that was answered.
#[cfg(any(
    feature = "tower",
    feature = "reqwest-middleware04",
    feature = "reqwest-middleware05"
))]
#[inline]
pub(crate) fn note_success(budget: Option<&Budget>) {
    if let Some(budget) = budget {
        budget.succeeded();
    }
}

/// Whether the budget, where there is one, allows a retry. What is final says nothing about the
/// service's health.
#[cfg(any(
    feature = "tower",
    feature = "reqwest-middleware04",
    feature = "reqwest-middleware05"
))]
pub(crate) fn note_failure(budget: Option<&Budget>, verdict: Verdict) -> bool {
    match budget {
        Some(budget) if verdict != Verdict::Permanent => budget.failed(),
        _ => true,
    }
}
