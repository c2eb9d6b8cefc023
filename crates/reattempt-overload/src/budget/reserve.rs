//! The retries that are there without any success: one word, the moment at which they are all back.
//! They are taken last: they are for when there is nothing else.
#![warn(clippy::arithmetic_side_effects)]

use super::share::Share;
use crate::sync::{AtomicU64, Ordering, constant};

/// A number of tokens, each of which comes back after a period: the generic cell rate algorithm.
///
/// Where nothing comes back, the word counts the tokens that were taken.
///
/// # Source
///
/// "Generic Cell Rate Algorithm", ITU-T I.371, as virtual scheduling.
#[derive(Debug)]
pub(crate) struct Reserve {
    /// 0 until the first withdrawal.
    full_at: AtomicU64,
    /// Nanoseconds; 0 where nothing comes back.
    period: u64,
    initial: u64,
}

/// 146 years: what takes longer to come back never does.
const FOR_EVER: u64 = 1 << 62;

impl Reserve {
    constant! {
        /// With `initial` tokens at the start, which is also the most there can be, but for the one that always can.
        pub(crate) fn new(initial: u64, period: u64) -> Self {
            let span = initial.saturating_add(1).saturating_mul(period);
            Self {
                full_at: AtomicU64::new(0),
                period: if span > FOR_EVER { 0 } else { period },
                initial,
            }
        }
    }

    /// Takes a token at the time `now`, if there is one.
    // Relaxed: all changes of one word have one order, and nothing else is published through it. The
    // exchange fails when another came between, so no token is taken twice.
    pub(crate) fn withdraw(&self, now: u64) -> bool {
        self.change(|seen| self.next(seen, now))
    }

    /// The same in a share.
    #[cold]
    #[inline(never)]
    pub(crate) fn withdraw_share(&self, now: u64, share: Share) -> bool {
        self.change(|seen| self.next_of_share(seen, now, share))
    }

    #[inline(always)]
    fn change(&self, after: impl Fn(u64) -> (u64, bool)) -> bool {
        let mut seen = self.full_at.load(Ordering::Relaxed);
        loop {
            let (next, is_taken) = after(seen);
            if next == seen {
                return is_taken;
            }
            let exchanged = self.full_at.compare_exchange_weak(
                seen,
                next,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match exchanged {
                Ok(_) => return is_taken,
                Err(now) => seen = now,
            }
        }
    }

    /// The word after a withdrawal, and whether it gets a token.
    fn next(&self, seen: u64, now: u64) -> (u64, bool) {
        if self.period == 0 {
            let is_taken = seen < self.initial;
            return (seen.wrapping_add(u64::from(is_taken)), is_taken);
        }
        let known = self.known(seen, now);
        let debt = self.debt(known, now);
        let after = debt.saturating_add(self.period);
        let is_taken = after <= self.span();
        if !is_taken && known != 0 {
            return (seen, false);
        }
        // A reserve that starts empty begins to fill when it is first asked.
        let debt = if is_taken { after } else { debt };
        (now.wrapping_add(debt).max(1), is_taken)
    }

    fn next_of_share(&self, seen: u64, now: u64, share: Share) -> (u64, bool) {
        if self.period == 0 {
            let left = self.initial.saturating_sub(share.of_all(seen));
            return match share.pay(left, 1) {
                Some(is_made) => (seen.saturating_add(1), is_made),
                None => (seen, false),
            };
        }
        // Time brings the tokens back, so that what is missing is longer where more processes wait for it.
        let known = self.known(seen, now);
        let debt = self.debt(known, now);
        let is_made = share.pay(self.span().saturating_sub(debt), self.period);
        if is_made.is_none() && known != 0 {
            return (seen, false);
        }
        let price = is_made.map_or(0, |_| share.of_all(self.period));
        let debt = debt.saturating_add(price).min(self.span());
        (now.wrapping_add(debt).max(1), is_made.unwrap_or(false))
    }

    /// Gives a token back that was taken in one of so many shares; after a reset nothing is missing.
    pub(crate) fn give_back(&self, processes: u32) {
        let step = if self.period == 0 {
            1
        } else {
            Share::of(processes, 0).of_all(self.period)
        };
        let mut seen = self.full_at.load(Ordering::Relaxed);
        while seen != 0 {
            let exchanged = self.full_at.compare_exchange_weak(
                seen,
                seen.wrapping_sub(step),
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match exchanged {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// As new.
    pub(crate) fn reset(&self) {
        self.full_at.store(0, Ordering::Relaxed);
    }

    /// The tokens that are left at the time `now`.
    #[expect(clippy::cast_precision_loss, reason = "a number to look at")]
    pub(crate) fn left(&self, now: u64, processes: f64) -> f64 {
        let seen = self.full_at.load(Ordering::Relaxed);
        if self.period == 0 {
            return (self.initial as f64 / processes - seen as f64).max(0.0);
        }
        let debt = self.debt(self.known(seen, now), now);
        let left = self.span().saturating_sub(debt);
        left as f64 / self.period as f64 / processes
    }

    /// The tokens that there are when none is missing.
    pub(crate) fn all(&self) -> u64 {
        if self.period == 0 {
            self.initial
        } else {
            self.most()
        }
    }

    /// The word, or 0 where it speaks of a time further ahead than it ever could by this clock, which then has
    /// gone back: the reserve starts over. A little ahead are those that read the clock later.
    fn known(&self, seen: u64, now: u64) -> u64 {
        const LATE_READER: u64 = 1_000_000_000;
        let ahead = seen.wrapping_sub(now);
        let is_lost = ahead <= u64::MAX / 2 && ahead > self.span().saturating_add(LATE_READER);
        if is_lost { 0 } else { seen }
    }

    /// The time until all tokens are back; none is missing for longer than that takes, also by a clock that went back.
    fn debt(&self, seen: u64, now: u64) -> u64 {
        if seen == 0 {
            let missing = self.most().wrapping_sub(self.initial);
            return missing.saturating_mul(self.period);
        }
        let ahead = seen.wrapping_sub(now);
        if ahead > u64::MAX / 2 {
            return 0;
        }
        ahead.min(self.span())
    }

    fn span(&self) -> u64 {
        self.most().saturating_mul(self.period)
    }

    fn most(&self) -> u64 {
        self.initial.max(1)
    }
}
