//! A wait for a throttle that ends late.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "a test that panics has failed"
)]

use core::cell::Cell;
use core::time::Duration;

use crate::throttle::Throttle;
use crate::timer::{Blocking, Clock, Moment};
use crate::{GaveUp, Policy, Verdict};

const LATE: Duration = Duration::from_millis(255);

/// Whose sleeps end late.
struct Hand(Cell<Duration>);

impl Clock for Hand {
    fn now(&self) -> Moment {
        Moment::from_origin(self.0.get())
    }

    fn random(&self) -> u64 {
        0
    }
}

impl Blocking for Hand {
    fn sleep(&self, duration: Duration) {
        self.0.set(self.0.get() + duration + LATE);
    }
}

#[test]
fn no_attempt_starts_after_the_deadline_though_the_wait_for_a_throttle_ends_late() {
    // Two seconds until the turn, in four sleeps: each is late, and the last too late.
    let deadline = Duration::from_millis(2071);
    let (throttle, clock) = (Throttle::cubic(), Hand(Cell::new(Duration::ZERO)));
    let policy = Policy::new().deadline(deadline);
    let answer = policy
        .on(|(): &()| Verdict::Throttled(None))
        .timer(&clock)
        .throttle(&throttle)
        .try_run(|| {
            assert!(clock.0.get() < deadline, "it starts at {:?}", clock.0.get());
            Err::<(), _>(())
        });
    let ended = answer.map_err(|failed| (failed.reason(), failed.attempts()));
    assert_eq!(ended, Err((GaveUp::Deadline, 1)));
}
