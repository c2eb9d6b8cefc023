//! One slot of the window of an adaptive throttle: how many calls there were, and how many of
//! them the service accepted, in one word.
#![warn(clippy::arithmetic_side_effects)]

use crate::sync::{AtomicU64, Ordering, constant};

/// `[lap: 20 | requests: 22 | accepts: 22]`. A window is a ring of buckets, and the lap says in
/// which round of the ring a bucket was filled: what a former round has left counts as nothing.
#[derive(Debug)]
pub(crate) struct Bucket(AtomicU64);

const COUNT: u64 = (1 << 22) - 1;
const LAP: u64 = (1 << 20) - 1;

#[derive(Clone, Copy)]
struct Word {
    lap: u64,
    requests: u64,
    accepts: u64,
}

impl Word {
    const fn of(bits: u64) -> Self {
        Self {
            lap: bits >> 44,
            requests: (bits >> 22) & COUNT,
            accepts: bits & COUNT,
        }
    }

    const fn bits(self) -> u64 {
        (self.lap << 44) | (self.requests << 22) | self.accepts
    }

    const fn with(self, lap: u64, accepted: bool) -> Self {
        // A call that is late by one round, held up between the clock and here, counts where the
        // others are; a clock that was set back begins anew.
        let stays = lap == self.lap || lap.wrapping_add(1) & LAP == self.lap;
        let (lap, requests, accepts) = match (stays, self.requests) {
            (false, _) | (true, 0) => (lap, 0, 0),
            // Full: the share is what counts.
            (true, COUNT) => (self.lap, COUNT / 2, self.accepts / 2),
            (true, requests) => (self.lap, requests, self.accepts),
        };
        Self {
            lap,
            requests: requests.saturating_add(1),
            accepts: accepts.saturating_add(accepted as u64),
        }
    }
}

impl Bucket {
    constant! {
        /// Nothing has been counted yet.
        pub(crate) fn new() -> Self {
            Self(AtomicU64::new(0))
        }
    }

    /// Counts a call in this round, and whether it was accepted.
    // Relaxed: all changes of one word have one order, and nothing else is published through it.
    // The exchange fails when another came between, so no count is lost and none is made twice.
    pub(crate) fn add(&self, lap: u64, accepted: bool) {
        let lap = lap & LAP;
        let mut seen = self.0.load(Ordering::Relaxed);
        loop {
            let next = Word::of(seen).with(lap, accepted).bits();
            let exchanged =
                self.0
                    .compare_exchange_weak(seen, next, Ordering::Relaxed, Ordering::Relaxed);
            match exchanged {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// As new. A call that is counted at this moment counts before it or after it.
    pub(crate) fn reset(&self) {
        self.0.swap(0, Ordering::Relaxed);
    }

    /// Requests and accepts of this round.
    pub(crate) fn counts(&self, lap: u64) -> (u64, u64) {
        let word = Word::of(self.0.load(Ordering::Relaxed));
        if word.lap == lap & LAP {
            (word.requests, word.accepts)
        } else {
            (0, 0)
        }
    }
}
