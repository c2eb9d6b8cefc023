//! A request of another process, as the code that serves it sees it: the call that it belongs to is around that code.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::vec::Vec;

use crate::around::{Bounds, BoundsScope, RetryScope};
use crate::marks::{self, InheritedMarks, ReceivedMarks};
use crate::name::OperationId;
use crate::process;
use crate::timestamp::Timestamp;

/// This process has served such a request. Most serve none, and their operations need no name that others know.
// Relaxed: a thread sees what it has set itself, and asks for nothing else.
static HAS_SERVED: AtomicBool = AtomicBool::new(false);

/// Returns whether this process has served a request of another process.
#[inline]
pub fn has_served() -> bool {
    HAS_SERVED.load(Ordering::Relaxed)
}

/// Returns a name for what has but a number, which no other instance of this program knows.
pub fn own_name(number: u64) -> u64 {
    static NAMES: OnceLock<RandomState> = OnceLock::new();
    NAMES.get_or_init(RandomState::new).hash_one(number)
}

/// What a request says about the call that it belongs to.
#[derive(Debug)]
pub struct Inbound {
    retries: u32,
    bounds: Bounds,
    marks: ReceivedMarks,
}

impl Inbound {
    /// Returns that of attempt number `attempt`, whose caller waits for the time `left`. In its call the operations in `used`
    /// have used up their retries.
    pub fn new(
        attempt: u32,
        left: Option<Duration>,
        is_low: bool,
        used: impl IntoIterator<Item = OperationId>,
    ) -> Self {
        HAS_SERVED.store(true, Ordering::Relaxed);
        let until = left.map_or(Timestamp::ENDLESS, |left| process::now().after(left));
        Self {
            retries: attempt.saturating_sub(1),
            bounds: Bounds::new(until, is_low),
            marks: ReceivedMarks::new(used),
        }
    }

    /// Runs what serves the request, or one poll of it.
    pub fn run<R>(&mut self, f: impl FnOnce() -> R) -> R {
        let _bounds = BoundsScope::new(self.bounds, false);
        let _retries = RetryScope::new(self.retries);
        self.marks.run(f)
    }

    /// Returns the operations that have used up their retries while it was served, the newest first.
    pub fn used(&self) -> Vec<OperationId> {
        self.marks.since()
    }
}

/// Returns the operations whose names a request can carry that is sent here, the newest first.
pub fn used_here() -> Vec<OperationId> {
    InheritedMarks::current().known_elsewhere()
}

/// Marks an operation that has used up its retries, in the calls that run here.
pub fn learn(operation: OperationId) {
    marks::mark(operation);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::around::{inherited, is_low, retries};
    use crate::process::tests::{at, in_virtual_time};

    #[test]
    fn what_a_request_says_holds_where_it_is_served() {
        let [known, other] = [1, 2].map(OperationId::shared);
        in_virtual_time(7, || {
            let left = Some(Duration::from_secs(3));
            let mut inbound = Inbound::new(3, left, true, [known]);
            assert!(has_served());
            inbound.run(|| {
                let inherited = inherited();
                assert_eq!(
                    (inherited.until(), inherited.is_enforced()),
                    (at(10), false)
                );
                assert_eq!((retries(), is_low(), used_here()), (2, true, vec![known]));
                learn(other);
                assert_eq!(used_here(), [other, known]);
            });
            assert_eq!(inbound.used(), [other]);
            assert_eq!((retries(), is_low(), used_here()), (0, false, Vec::new()));
            let mut first = Inbound::new(1, None, false, []);
            first.run(|| {
                assert_eq!((inherited().until(), retries()), (Timestamp::ENDLESS, 0));
                assert!(!is_low() && used_here().is_empty());
            });
            assert!(first.used().is_empty());
        });
        assert_eq!(own_name(1), own_name(1));
        assert_ne!(own_name(1), own_name(2));
    }
}
