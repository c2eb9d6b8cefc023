//! A clock that stands still, and what bounds calls by it.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use reattempt::overload::breaker::State;
use reattempt::timer::{BlockingTimer, Clock, Timer, Timestamp};
use reattempt::{Breaker, Budget, Bulkhead, Classify, GaveUp, GiveUpReason, Throttle, Verdict};

use crate::bombs::{step, yield_once};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Down,
    Cut(GiveUpReason, u32),
}

impl From<GaveUp> for Fault {
    fn from(end: GaveUp) -> Self {
        Self::Cut(end.reason(), end.attempts())
    }
}

impl Classify for Fault {
    fn classify(&self) -> Verdict {
        step();
        Verdict::Transient
    }
}

/// A clock that only [`spend`](Self::spend) moves, and waits where they `count`; those of async functions are pending
/// for a number of polls.
#[derive(Debug, Clone)]
pub(crate) struct Still {
    now: Rc<Cell<Duration>>,
    polls: u32,
    explodes: bool,
}

impl Still {
    pub(crate) fn pending(polls: u32) -> Self {
        Self {
            now: Rc::new(Cell::new(1000 * SECOND)),
            polls,
            explodes: false,
        }
    }

    pub(crate) fn spend(&self, time: Duration) {
        self.now.set(self.now.get() + time);
    }
}

impl Clock for Still {
    fn now(&self) -> Timestamp {
        if self.explodes {
            step();
        }
        Timestamp::from_origin(self.now.get())
    }

    // Half of each delay, and what is refused by chance is refused if that is likely.
    fn random(&self) -> u64 {
        if self.explodes {
            step();
        }
        u64::MAX / 2
    }
}

impl BlockingTimer for Still {
    fn sleep(&self, time: Duration) {
        step();
        self.spend(time);
    }
}

impl Timer for Still {
    type Sleep = Nap;

    fn sleep(&self, time: Duration) -> Nap {
        step();
        Nap {
            left: self.polls,
            time,
            clock: self.clone(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Nap {
    left: u32,
    time: Duration,
    clock: Still,
}

impl Future for Nap {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        step();
        match self.left.checked_sub(1) {
            None => {
                let time = std::mem::take(&mut self.time);
                self.clock.spend(time);
                Poll::Ready(())
            }
            Some(left) => {
                self.left = left;
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}

/// Never dropped.
pub(crate) fn forever<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Of one call.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) clock: Still,
    // For ever, as those of a layer have to be.
    pub(crate) budget: &'static Budget,
    pub(crate) breaker: &'static Breaker,
    /// For one attempt and a copy of it.
    pub(crate) bulkhead: &'static Bulkhead,
    pub(crate) throttle: &'static Throttle,
    pub(crate) attempts: Cell<u32>,
}

impl World {
    /// With 20 retries in the budget, a closed breaker, and a throttle with one token and another in two seconds.
    pub(crate) fn new(polls: u32) -> Self {
        let clock = Still::pending(polls);
        let throttle = Throttle::cubic();
        let permit = throttle.permit_with_clock(&clock).unwrap();
        permit.failed_with_clock(Verdict::Throttled(None), &clock);
        clock.spend(1000 * SECOND);
        Self {
            clock,
            budget: forever(Budget::tokens(100).timeout_cost(5)),
            breaker: forever(Breaker::count_window(100)),
            bulkhead: forever(Bulkhead::new(2)),
            throttle: forever(throttle),
            attempts: Cell::new(0),
        }
    }

    /// With a breaker that waits for its only probe.
    pub(crate) fn half_open(polls: u32) -> Self {
        let world = Self {
            breaker: forever(Breaker::count_window(1).probes(1)),
            ..Self::new(polls)
        };
        let permit = world.breaker.permit_with_clock(&world.clock).unwrap();
        permit.failed_with_clock(Verdict::Transient, &world.clock);
        world.clock.spend(1000 * SECOND);
        assert_eq!(world.state(), State::HalfOpen);
        world
    }

    /// The same with a clock and a generator that may panic.
    pub(crate) fn explosive(mut self) -> Self {
        self.clock.explodes = true;
        self
    }

    /// A throttle that has seen a hundred failures.
    pub(crate) fn refusing(&self) -> Throttle {
        let throttle = Throttle::adaptive().min_requests(1).ceiling(1.0);
        for _ in 0..100 {
            if let Ok(permit) = throttle.permit_with_clock(&self.clock) {
                permit.failed_with_clock(Verdict::Transient, &self.clock);
            }
        }
        assert!(throttle.rejection_probability_with_clock(&self.clock) > 0.5);
        throttle
    }

    pub(crate) fn state(&self) -> State {
        self.breaker.state_with_clock(&self.clock)
    }

    pub(crate) fn begin(&self) {
        self.attempts.set(self.attempts.get() + 1);
        step();
    }

    /// An attempt of a service that is down.
    pub(crate) async fn work(&self) -> Result<u32, Fault> {
        self.begin();
        yield_once().await;
        yield_once().await;
        Err(Fault::Down)
    }

    /// Each attempt after the first has cost one token of five, and nothing else has.
    #[track_caller]
    pub(crate) fn assert_paid(&self) {
        let retries = self.attempts.get().saturating_sub(1);
        let left = f64::from(100 - 5 * retries);
        assert!((self.budget.balance_with_clock(&self.clock) - left).abs() < 1e-9);
    }

    /// Each attempt has taken a token of the throttle, and nothing else has: one was there, and each two seconds bring
    /// another.
    #[track_caller]
    pub(crate) fn assert_let_through(&self) {
        let spent = 2 * self.attempts.get() * SECOND;
        let waited = self.clock.now.get().saturating_sub(2000 * SECOND);
        let permit = self.throttle.permit_with_clock(&self.clock).unwrap();
        assert_eq!(permit.wait(), spent.saturating_sub(waited));
    }

    #[track_caller]
    pub(crate) fn assert_nothing_is_held(&self) {
        self.assert_paid();
        self.assert_probe_is_free();
        assert_eq!(self.bulkhead.running(), 0);
    }

    /// Nobody holds the permit of the probe.
    #[track_caller]
    pub(crate) fn assert_probe_is_free(&self) {
        if self.state() == State::Open {
            // Longer than the cool-down has become.
            self.clock.spend(1000 * SECOND);
        }
        let permit = self.breaker.permit_with_clock(&self.clock);
        assert!(permit.is_ok(), "{:?}", self.breaker);
    }
}
