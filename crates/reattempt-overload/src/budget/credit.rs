//! What deposits are worth and what has been spent of it: one word that grows by successes, one that
//! retries move.
#![warn(clippy::arithmetic_side_effects)]

use crate::sync::{AtomicU64, Ordering, constant};

/// A token is a thousand million of these, so that no ratio is off by a token in ten million deposits.
pub(crate) const TOKEN: u64 = 1_000_000_000;

/// Deposits, each worth `unit`, and the part of them that is gone: spent, or too old.
///
/// Both words count for ever and wrap; only their distance means anything. It stays below 2^63 for 70
/// million deposits a second, because what is too old is taken out now and then (`expire`).
#[derive(Debug)]
pub(crate) struct Credit {
    deposits: AtomicU64,
    gone: AtomicU64,
    unit: u64,
}

impl Credit {
    constant! {
        pub(crate) fn new(unit: u64) -> Self {
            Self {
                deposits: AtomicU64::new(0),
                gone: AtomicU64::new(0),
                unit,
            }
        }
    }

    pub(crate) const fn unit(&self) -> u64 {
        self.unit
    }

    /// Counts a deposit, and answers with the number of those before it.
    // Release, and acquire below: a thread that sees a deposit sees the samples that were taken before it.
    #[inline]
    pub(crate) fn deposit(&self) -> u64 {
        self.deposits.fetch_add(1, Ordering::Release)
    }

    pub(crate) fn deposits(&self) -> u64 {
        self.deposits.load(Ordering::Acquire)
    }

    /// Takes a token, if there is one beside what the first `expired` deposits brought.
    // `gone` never passes what was deposited: it is raised only as far as deposits that were seen, and
    // these only become more. It cannot be raised twice for one token, because the exchange fails
    // when another came between. Acquire and release: a thread that sees `gone` raised sees the deposits for
    // which it was; else the distance could look negative, and a token would be refused that is there.
    pub(crate) fn withdraw(&self, expired: u64) -> bool {
        let mut seen = self.gone.load(Ordering::Acquire);
        loop {
            let gone = self.later(seen, expired);
            if self.distance(gone) < TOKEN {
                return false;
            }
            let exchanged = self.gone.compare_exchange_weak(
                seen,
                gone.wrapping_add(TOKEN),
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            match exchanged {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
    }

    /// Returns what all deposits but the first `expired` have brought, spent or not.
    pub(crate) fn earned(&self, expired: u64) -> u64 {
        let deposits = self.deposits().wrapping_sub(expired);
        deposits.wrapping_mul(self.unit)
    }

    /// Gives a token back that was taken. If its deposit is too old by now, the next withdrawal sees to it.
    // Release, as above.
    pub(crate) fn give_back(&self) {
        self.gone.fetch_sub(TOKEN, Ordering::Release);
    }

    /// Takes out what the first `expired` deposits brought, if it is still there.
    pub(crate) fn expire(&self, expired: u64) {
        let mut seen = self.gone.load(Ordering::Acquire);
        loop {
            let gone = self.later(seen, expired);
            if gone == seen {
                return;
            }
            let exchanged =
                self.gone
                    .compare_exchange_weak(seen, gone, Ordering::AcqRel, Ordering::Acquire);
            match exchanged {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// What is left beside what the first `expired` deposits brought.
    pub(crate) fn left(&self, expired: u64) -> u64 {
        let gone = self.later(self.gone.load(Ordering::Acquire), expired);
        self.distance(gone)
    }

    /// Deposits are spent in their order, so what is too old is a matter of one comparison.
    fn later(&self, gone: u64, expired: u64) -> u64 {
        let expired = expired.wrapping_mul(self.unit);
        if is_ahead(expired, gone) {
            expired
        } else {
            gone
        }
    }

    fn distance(&self, gone: u64) -> u64 {
        let earned = self.deposits().wrapping_mul(self.unit);
        if is_ahead(earned, gone) {
            earned.wrapping_sub(gone)
        } else {
            0
        }
    }
}

/// Of two numbers that wrap and are less than half their range apart.
const fn is_ahead(one: u64, other: u64) -> bool {
    let distance = one.wrapping_sub(other);
    distance != 0 && distance <= u64::MAX / 2
}
