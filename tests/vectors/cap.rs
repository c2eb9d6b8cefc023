//! No delay that a function under `#[retry]` waits is above `cap`, whatever is drawn.

use std::cell::RefCell;
use std::future::{Ready, ready};
use std::time::Duration;

use futures::FutureExt as _;
use proptest::prelude::*;
use reattempt::timer::{BlockingTimer, Clock, Timer, Timestamp};
use reattempt::{Policy, retry};

use crate::{jitters, shapes};

/// Draws the same number each time, and records the waits.
struct Draws {
    random: u64,
    waits: RefCell<Vec<Duration>>,
}

impl Draws {
    const fn of(random: u64) -> Self {
        Self {
            random,
            waits: RefCell::new(Vec::new()),
        }
    }
}

impl Clock for Draws {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(self.waits.borrow().iter().sum())
    }

    fn random(&self) -> u64 {
        self.random
    }
}

impl BlockingTimer for Draws {
    fn sleep(&self, duration: Duration) {
        self.waits.borrow_mut().push(duration);
    }
}

impl Timer for Draws {
    type Sleep = Ready<()>;

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        BlockingTimer::sleep(self, duration);
        ready(())
    }
}

#[retry(policy = policy, on(_), timer = timer)]
fn blocking(policy: Policy, timer: &Draws) -> Result<(), &'static str> {
    Err("struck")
}

#[retry(policy = policy, cut_off = false, on(_), timer = timer)]
async fn asynchronous(policy: Policy, timer: &Draws) -> Result<(), &'static str> {
    Err("struck")
}

// What nearly everybody writes: the shape and the jitter by default, and constant.
#[retry(max = 6, base = "1s", cap = "3s", on(_), timer = timer)]
fn blocking_by_default(timer: &Draws) -> Result<(), &'static str> {
    Err("struck")
}

#[retry(max = 6, base = "1s", cap = "3s", on(_), timer = timer)]
async fn asynchronous_by_default(timer: &Draws) -> Result<(), &'static str> {
    Err("struck")
}

#[test]
fn by_default() {
    let timers = [(); 2].map(|()| Draws::of(u64::MAX));
    let [sync, unsync] = &timers;
    assert_eq!(blocking_by_default(sync), Err("struck"));
    let answer = asynchronous_by_default(unsync).now_or_never();
    assert_eq!(answer, Some(Err("struck")));
    for timer in timers {
        let expected = [1, 2, 3, 3, 3].map(Duration::from_secs);
        assert_eq!(timer.waits.into_inner(), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_every_shape_and_jitter(
        shape in shapes(),
        jitter in jitters(),
        base in 1u64..1_000_000_000,
        above in 0u64..5_000_000_000,
        factor in 1.01..10.0f64,
        fast in any::<bool>(),
        random in prop_oneof![Just(u64::MAX), any::<u64>()],
    ) {
        let cap = Duration::from_nanos(base + above);
        let policy = Policy::new()
            .max(8)
            .backoff(shape)
            .jitter(jitter)
            .base(Duration::from_nanos(base))
            .factor(factor)
            .cap(cap)
            .fast_first(fast);
        let timers = [(); 2].map(|()| Draws::of(random));
        let [sync, unsync] = &timers;
        prop_assert!(blocking(policy, sync).is_err());
        // It yields where delays of zero follow each other.
        let answer = futures::executor::block_on(asynchronous(policy, unsync));
        prop_assert_eq!(answer, Err("struck"));
        for timer in timers {
            let waits = timer.waits.into_inner();
            prop_assert!(waits.iter().all(|wait| *wait <= cap), "{waits:?}");
        }
    }
}
