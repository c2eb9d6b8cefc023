//! Time: what a clock reads.

use core::time::Duration;

use crate::timestamp::Timestamp;

/// A monotonic clock.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a timer",
    label = "`Clock` is not implemented for it",
    note = "`timer` takes a value that implements `reattempt::timer::Timer` (async functions) or `reattempt::timer::BlockingTimer` (sync functions)",
    note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
)]
pub trait Clock {
    /// The time now; it never goes back.
    fn now(&self) -> Timestamp;

    /// 64 random bits for jitter.
    ///
    /// # Default
    ///
    /// With `std` a generator of the thread, seeded by the operating system;
    /// without it a hash of the time.
    fn random(&self) -> u64 {
        #[cfg(feature = "std")]
        return crate::random::random();
        #[cfg(not(feature = "std"))]
        return mixed(self.now().as_nanos());
    }

    /// Returns how much later than asked a sleep may end even when nothing delays it.
    ///
    /// # Default
    ///
    /// Zero.
    fn slack(&self) -> Duration {
        Duration::ZERO
    }

    /// The time now for what calls share, budgets and breakers: by a clock that all of them can read.
    ///
    /// # Default
    ///
    /// [`now`](Self::now): those who share one with a clock of their own have the same clock. The timers of `reattempt`
    /// answer with the clock by which deadlines travel.
    fn shared(&self) -> Timestamp {
        self.now()
    }

    /// Returns whether deadlines travel by this clock, so that they need not be converted: a conversion reads two clocks, and moves
    /// the deadline by what the readings are apart. For the timers of `reattempt`.
    #[doc(hidden)]
    fn carries_deadlines(&self) -> bool {
        false
    }
}

impl<T: Clock + ?Sized> Clock for &T {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn random(&self) -> u64 {
        (**self).random()
    }

    fn slack(&self) -> Duration {
        (**self).slack()
    }

    fn shared(&self) -> Timestamp {
        (**self).shared()
    }

    fn carries_deadlines(&self) -> bool {
        (**self).carries_deadlines()
    }
}

/// The finalizer of splitmix64: neighbouring times give unrelated numbers.
#[cfg(not(feature = "std"))]
const fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    struct Plain;

    impl Clock for Plain {
        fn now(&self) -> Timestamp {
            Timestamp::from_nanos(7)
        }
    }

    /// Everything is its own.
    struct Own;

    impl Clock for Own {
        fn now(&self) -> Timestamp {
            Timestamp::from_nanos(1)
        }

        fn random(&self) -> u64 {
            2
        }

        fn slack(&self) -> Duration {
            SECOND
        }

        fn shared(&self) -> Timestamp {
            Timestamp::from_nanos(4)
        }

        fn carries_deadlines(&self) -> bool {
            true
        }
    }

    fn said(clock: impl Clock) -> (u64, Duration, u64, bool) {
        let (now, shared) = (clock.now().as_nanos(), clock.shared().as_nanos());
        (now, clock.slack(), shared, clock.carries_deadlines())
    }

    #[test]
    fn a_reference_says_what_the_clock_says() {
        assert_eq!(said(&Own), (1, SECOND, 4, true));
        assert_eq!(Clock::random(&&Own), 2);
        assert_eq!(said(Plain), (7, Duration::ZERO, 7, false));
        assert_ne!(Plain.random(), Plain.random());
    }
}
