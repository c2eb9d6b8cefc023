//! The deadline that is around this code, and the clock on which it travels.

use core::time::Duration;

use crate::around::{Bounds, inherited};
use crate::time::Clock;
use crate::timestamp::Timestamp;

#[cfg(feature = "std")]
pub use crate::process::now;

/// No clock is shared: every call stands alone.
#[cfg(not(feature = "std"))]
pub const fn now() -> Timestamp {
    Timestamp::ENDLESS
}

/// Returns the inherited deadline, on the clock of [`now`].
#[inline(always)]
pub fn until() -> Timestamp {
    inherited().until()
}

/// Returns the time left until the inherited deadline; `None` without one.
#[inline]
pub fn remaining() -> Option<Duration> {
    let until = until();
    (!until.is_endless()).then(|| until.since(now()))
}

/// Returns the inherited deadline that an attempt here has to enforce itself. One that is enforced is left to the
/// attempt that set it, which can say that it cut this one off.
#[cfg(feature = "std")]
pub fn unenforced() -> Timestamp {
    let inherited = inherited();
    if inherited.is_enforced() {
        Timestamp::ENDLESS
    } else {
        inherited.until()
    }
}

/// Returns the time left until then.
#[cfg(feature = "std")]
pub fn remaining_unenforced() -> Option<Duration> {
    let until = unenforced();
    (!until.is_endless()).then(|| until.since(now()))
}

/// Returns these bounds, of which the deadline is a timestamp of `clock`, on the clock of [`now`].
#[inline(always)]
pub fn on_shared_clock(clock: &impl Clock, bounds: Bounds) -> Bounds {
    if clock.carries_deadlines() {
        return bounds;
    }
    bounds.moved(|at| now().after(at.since(clock.now())))
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::around::BoundsScope;
    use crate::process::tests::{at, in_virtual_time};

    struct At(u64, bool);

    impl Clock for At {
        fn now(&self) -> Timestamp {
            at(self.0)
        }

        fn carries_deadlines(&self) -> bool {
            self.1
        }
    }

    #[test]
    fn time_is_left_until_the_deadline_around() {
        let seen = || (until(), remaining(), unenforced(), remaining_unenforced());
        let none = (Timestamp::ENDLESS, None, Timestamp::ENDLESS, None);
        in_virtual_time(7, || {
            assert_eq!(seen(), none);
            let left = Some(Duration::from_secs(3));
            {
                let _around = BoundsScope::new(Bounds::new(at(10), false), false);
                assert_eq!(seen(), (at(10), left, at(10), left));
                let _low = BoundsScope::new(Bounds::LOW, true);
                assert_eq!(seen(), (at(10), left, at(10), left));
            }
            let _enforced = BoundsScope::new(Bounds::new(at(10), true), true);
            assert_eq!(seen(), (at(10), left, Timestamp::ENDLESS, None));
        });
    }

    /// The time that is left is the same on both.
    #[test]
    fn a_deadline_moves_to_the_clock_that_all_share() {
        in_virtual_time(7, || {
            for is_low in [false, true] {
                let bounds = Bounds::new(at(103), is_low);
                assert_eq!(on_shared_clock(&At(100, true), bounds), bounds);
                let moved = on_shared_clock(&At(100, false), bounds);
                assert_eq!(moved, Bounds::new(at(10), is_low));
            }
        });
    }
}
