//! Tokens that a call gets back when its retries have helped: the budget of an operation that names none.
//!
//! What is paid for decides whether a service comes back: a retry that helped costs nothing, and all others are at
//! most three in ten successes. A fault younger than a second is retried in full.
#![warn(clippy::arithmetic_side_effects)]

use core::fmt;

use reattempt_core::{Timestamp, watch};

use super::share::Share;
use crate::sync::{AtomicU32, Ordering, constant};

/// What a retry takes, in hundredths of a token.
pub(super) const PRICE: u32 = 100;

/// What a call that succeeds brings besides what it has paid.
pub(super) const GAIN: u32 = 30;

/// What the first failure of a call brings, and each second: an operation whose first attempts always fail is not shut
/// for good.
const TRICKLE: u32 = 1;

/// How long no retry is refused from a failure on that finds all tokens there, in milliseconds.
const FREE: u32 = 1000;

/// The tokens that are missing, in one word: a success that finds none missing reads it, and writes nothing.
///
/// The default budget of an operation: each expansion of `#[retry]` and `retry_block!` has one, which all its calls in
/// this process share. It has as many tokens as its largest policy asks for.
pub struct RefundBudget {
    /// In hundredths of a token.
    missing: AtomicU32,
    /// When a failure last found none missing, in milliseconds, which wrap.
    full_at: AtomicU32,
    /// Up to when the seconds have brought theirs.
    filled_at: AtomicU32,
    /// When a refusal was last reported.
    reported_at: AtomicU32,
}

/// Lets operations have a budget by default, or not: the switch of the process. A budget that a policy names stays.
///
/// # Default
///
/// They have one.
pub fn use_default_budgets(yes: bool) {
    if yes {
        watch::clear(watch::NO_DEFAULT_BUDGET);
    } else {
        watch::set(watch::NO_DEFAULT_BUDGET);
    }
}

/// What a budget says of a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payment {
    /// It has taken a token.
    Paid,
    /// It takes none: the fault is younger than a second.
    Free,
    /// There is no retry.
    Refused,
}

impl Default for RefundBudget {
    fn default() -> Self {
        Self::new()
    }
}

impl RefundBudget {
    constant! {
        /// Returns a budget that has all its tokens.
        pub fn new() -> Self {
            Self {
                missing: AtomicU32::new(0),
                full_at: AtomicU32::new(0),
                filled_at: AtomicU32::new(0),
                reported_at: AtomicU32::new(0),
            }
        }
    }

    /// Returns how many tokens a budget has whose policy allows `max` attempts.
    ///
    /// Four at least, and enough for one call: a lone call is never refused.
    pub const fn capacity(max: u32) -> u32 {
        let retries = max.saturating_sub(1);
        if retries > 4 { retries } else { 4 }
    }

    /// Returns whether no token is missing: then a success has nothing to do.
    // Relaxed: a success that comes while another call pays may see either.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.missing.load(Ordering::Relaxed) == 0
    }

    /// Returns how many of `capacity` tokens are there.
    pub fn balance(&self, capacity: u32) -> f64 {
        let all = capacity.saturating_mul(PRICE);
        let left = all.saturating_sub(self.missing.load(Ordering::Relaxed));
        f64::from(left) / f64::from(PRICE)
    }

    /// Asks for a retry at `now`, the time of a clock that all calls share. `is_first` says that the call has not
    /// failed before.
    pub fn pay(&self, capacity: u32, is_first: bool, now: Timestamp) -> Payment {
        let now = millis(now);
        self.bring(is_first, now, true);
        if self.take(capacity, 0) {
            Payment::Paid
        } else if passed(self.full_at.load(Ordering::Relaxed), now) < FREE {
            Payment::Free
        } else {
            Payment::Refused
        }
    }

    /// Asks as [`pay`](Self::pay) does, for a call that asks `pay` again where the answer is no. A refusal takes back what the
    /// first failure brought, so that it counts once.
    pub fn pays(&self, capacity: u32, is_first: bool, now: Timestamp) -> bool {
        let is_paid = self.pay(capacity, is_first, now) == Payment::Paid;
        if !is_paid && is_first {
            self.missing.fetch_add(TRICKLE, Ordering::Release);
        }
        is_paid
    }

    /// Asks for a retry in a share. Its first second is not free: no process knows how many retries the others make in
    /// theirs.
    #[cold]
    #[inline(never)]
    pub(super) fn pay_share(
        &self,
        capacity: u32,
        is_first: bool,
        now: Timestamp,
        share: Share,
    ) -> bool {
        // One process of all brings what the time brings to the whole budget.
        self.bring(is_first, millis(now), share.is_drawn());
        let most = u64::from(capacity.saturating_mul(PRICE));
        let mut is_made = false;
        let take = |missing: u32| {
            let left = most.saturating_sub(share.of_all(missing.into()));
            is_made = share.pay(left, PRICE.into())?;
            Some(missing.saturating_add(PRICE))
        };
        let taken = self
            .missing
            .fetch_update(Ordering::Release, Ordering::Acquire, take);
        taken.is_ok() && is_made
    }

    /// Puts in what a first failure and the time bring, if it counts.
    #[inline(always)]
    fn bring(&self, is_first: bool, now: u32, counts: bool) {
        // Acquire: a thread that sees that something is missing sees when the first was taken.
        if self.missing.load(Ordering::Acquire) == 0 {
            self.full_at.store(now, Ordering::Relaxed);
            self.filled_at.store(now, Ordering::Relaxed);
        } else {
            let gain = self
                .seconds(now)
                .saturating_add(u32::from(is_first))
                .saturating_mul(TRICKLE);
            if gain > 0 && counts {
                self.put(gain);
            }
        }
    }

    /// Asks for a retry of a call that has paid for one before, without a look at the time. Where it returns `false`,
    /// [`pay`](Self::pay) knows more.
    #[inline]
    pub fn pays_again(&self, capacity: u32) -> bool {
        self.take(capacity, 1)
    }

    /// Takes a token, if one is there and `least` are missing: the first comes with the time.
    #[inline]
    fn take(&self, capacity: u32, least: u32) -> bool {
        let most = capacity.saturating_mul(PRICE);
        let take = |missing: u32| {
            let after = missing.saturating_add(PRICE);
            (missing >= least && after <= most).then_some(after)
        };
        // Release: a thread that sees it sees when the first was taken. All changes of one word
        // have one order, so that none is lost.
        self.missing
            .fetch_update(Ordering::Release, Ordering::Acquire, take)
            .is_ok()
    }

    /// Returns how many whole seconds have passed that have brought nothing yet.
    fn seconds(&self, now: u32) -> u32 {
        let filled_at = self.filled_at.load(Ordering::Relaxed);
        let seconds = passed(filled_at, now) / 1000;
        if seconds == 0 {
            return 0;
        }
        let until = filled_at.wrapping_add(seconds.saturating_mul(1000));
        let counted =
            self.filled_at
                .compare_exchange(filled_at, until, Ordering::Relaxed, Ordering::Relaxed);
        // Another thread has counted them.
        if counted.is_ok() { seconds } else { 0 }
    }

    /// Counts a call that has succeeded after so many retries that were paid.
    #[cold]
    #[inline(never)]
    pub fn succeeded(&self, paid: u32) {
        self.put(paid.saturating_mul(PRICE).saturating_add(GAIN));
    }

    /// Gives back what was paid for a retry that was not made.
    #[cold]
    pub fn give_back(&self) {
        self.put(PRICE);
    }

    /// Puts hundredths of tokens in, of which as many count as are missing.
    pub(super) fn put(&self, hundredths: u32) {
        let put = |missing: u32| (missing > 0).then(|| missing.saturating_sub(hundredths));
        // Nothing is missing where it fails.
        let _ = self
            .missing
            .fetch_update(Ordering::Release, Ordering::Relaxed, put);
    }

    /// As new.
    pub fn reset(&self) {
        self.missing.store(0, Ordering::Relaxed);
    }

    /// Returns whether a refusal at `now` should be reported: once a minute.
    pub fn may_report(&self, now: Timestamp) -> bool {
        let now = millis(now);
        let before = self.reported_at.load(Ordering::Relaxed);
        // 0 is never.
        if before != 0 && passed(before, now) < 60_000 {
            return false;
        }
        let reported = self.reported_at.compare_exchange(
            before,
            now.max(1),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        reported.is_ok()
    }
}

impl fmt::Debug for RefundBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missing = f64::from(self.missing.load(Ordering::Relaxed)) / f64::from(PRICE);
        f.debug_struct("RefundBudget")
            .field("missing", &missing)
            .finish_non_exhaustive()
    }
}

/// Returns the milliseconds from `before` to `now`: none where two threads read the clock in another order.
pub(super) const fn passed(before: u32, now: u32) -> u32 {
    let passed = now.wrapping_sub(before);
    if passed.cast_signed() < 0 { 0 } else { passed }
}

#[expect(clippy::cast_possible_truncation, reason = "they wrap")]
const fn millis(now: Timestamp) -> u32 {
    (now.as_nanos() / 1_000_000) as u32
}
