//! `strategy`: every shape asks it, its state is that of one call, and everything beside it holds as in any other
//! call.
#![allow(
    clippy::panic_in_result_fn,
    clippy::unused_async,
    clippy::unwrap_used,
    reason = "a test that panics has failed, and bodies are as short as they can be"
)]

use std::cell::{Cell, RefCell};
use std::time::Duration;

use reattempt::timer::{BlockingTimer, Clock, Timestamp};
use reattempt::{
    Breaker, Budget, GaveUp, GiveUpReason, Policy, RetryError, Strategy, Verdict, deadline, retry,
    retry_block, strategy, strategy::Decision, strategy::FailedAttempt, testing,
};

#[path = "strategy/around.rs"]
mod around;
#[path = "strategy/shapes.rs"]
mod shapes;

const SECOND: Duration = Duration::from_secs(1);

/// A clock that goes on only while somebody sleeps; its random numbers are all one half.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    sleeps: RefCell<Vec<Duration>>,
}

impl Recorder {
    fn seconds(&self) -> Vec<u64> {
        self.sleeps.borrow().iter().map(Duration::as_secs).collect()
    }
}

impl Clock for Recorder {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(1000 * SECOND + self.sleeps.borrow().iter().sum::<Duration>())
    }

    fn random(&self) -> u64 {
        1 << 63
    }
}

impl BlockingTimer for Recorder {
    fn sleep(&self, duration: Duration) {
        self.sleeps.borrow_mut().push(duration);
    }
}

/// What fails: the number of the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault(u32);

impl From<GaveUp> for Fault {
    fn from(_: GaveUp) -> Self {
        Self(0)
    }
}

/// Counts its attempts, of which the first ones fail.
#[derive(Debug, Default)]
pub(crate) struct Service {
    calls: Cell<u32>,
    failures: u32,
}

impl Service {
    fn failing(failures: u32) -> Self {
        Self {
            calls: Cell::new(0),
            failures,
        }
    }

    fn call(&self) -> Result<u32, Fault> {
        self.calls.set(self.calls.get() + 1);
        if self.calls.get() > self.failures {
            Ok(self.calls.get())
        } else {
            Err(Fault(self.calls.get()))
        }
    }
}

/// Waits a second longer each time, and stops when it has been asked `stop` times in one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Longer {
    stop: u32,
}

impl<E: ?Sized> Strategy<E> for Longer {
    type State = u32;

    fn start(&self) -> u32 {
        0
    }

    fn failed(&self, asked: &mut u32, _: &FailedAttempt<'_, E>) -> Decision {
        *asked += 1;
        if *asked >= self.stop {
            Decision::Stop
        } else {
            Decision::Retry(SECOND * *asked)
        }
    }
}

static FOUR: Longer = Longer { stop: 4 };

/// What a strategy is told of each failure.
#[test]
fn what_is_told_of_a_failure() {
    type Told = (&'static str, u32, u32, Option<u32>, Option<u32>);
    #[retry(name = "told", max = 3, on(_), strategy = |failure: &FailedAttempt<'_, Fault>| {
        let error = failure.error().map(|fault| fault.0);
        assert!(failure.retry_after().is_none());
        told.borrow_mut()
            .push((failure.operation(), failure.attempt(), failure.retry(), failure.max(), error));
        Decision::Retry(SECOND)
    }, timer = timer)]
    fn bounded(
        service: &Service,
        told: &RefCell<Vec<Told>>,
        timer: &Recorder,
    ) -> Result<u32, RetryError<Fault>> {
        service.call()
    }
    let told = RefCell::default();
    assert!(bounded(&Service::failing(9), &told, &Recorder::default()).is_err());
    assert_eq!(
        told.into_inner(),
        [
            ("told", 1, 0, Some(3), Some(1)),
            ("told", 2, 1, Some(3), Some(2))
        ]
    );
}
