//! Clocks moved by hand, errors that count themselves, futures polled by hand.

use std::cell::Cell;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use reattempt::timer::{BlockingTimer, Clock, Timer, Timestamp};
use reattempt::{Classify, GaveUp, Verdict, deadline};

use crate::bombs::step;

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Nothing of a call is left on this thread.
#[track_caller]
pub(crate) fn assert_nothing_is_left() {
    assert_eq!(deadline::remaining(), None);
    assert_eq!(deadline::current(), None);
    assert_eq!(deadline::attempt(), 1);
}

thread_local! {
    static ALIVE: Cell<usize> = const { Cell::new(0) };
}

/// Values of this type that exist on this thread are counted.
#[derive(Debug)]
pub(crate) struct Alive(());

impl Alive {
    pub(crate) fn new() -> Self {
        ALIVE.set(ALIVE.get() + 1);
        Self(())
    }

    pub(crate) fn count() -> usize {
        ALIVE.get()
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
    }
}

/// An error that is counted.
#[derive(Debug)]
pub(crate) struct Fault {
    _alive: Alive,
}

impl Fault {
    pub(crate) fn new() -> Self {
        Self {
            _alive: Alive::new(),
        }
    }
}

impl From<GaveUp> for Fault {
    fn from(_: GaveUp) -> Self {
        Self::new()
    }
}

impl Classify for Fault {
    fn classify(&self) -> Verdict {
        step();
        Verdict::Transient
    }
}

/// Polls until it is ready, whatever wakes it.
pub(crate) fn drive<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

/// A timer by which no time passes, and nobody waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs(1))
    }
}

impl BlockingTimer for Still {
    fn sleep(&self, _: Duration) {}
}

impl Timer for Still {
    type Sleep = std::future::Ready<()>;

    fn sleep(&self, _: Duration) -> Self::Sleep {
        std::future::ready(())
    }
}

/// A clock that goes on only while somebody sleeps, or when a test moves it; a wait of
/// an async function goes on by a tick with each poll, or, without one, is pending
/// once.
#[derive(Debug, Clone)]
pub(crate) struct Hand {
    passed: Rc<Cell<Duration>>,
    tick: Duration,
    late: Duration,
}

impl Default for Hand {
    fn default() -> Self {
        Self::ticking(Duration::MAX)
    }
}

impl Hand {
    pub(crate) fn ticking(tick: Duration) -> Self {
        Self {
            passed: Rc::default(),
            tick,
            late: Duration::ZERO,
        }
    }

    /// Whose sleep ends later than it should.
    pub(crate) fn late(late: Duration) -> Self {
        Self {
            late,
            ..Self::default()
        }
    }

    pub(crate) fn passed(&self) -> Duration {
        self.passed.get()
    }

    pub(crate) fn spend(&self, duration: Duration) {
        self.passed.set(self.passed.get() + duration);
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        step();
        Timestamp::from_origin(self.passed.get())
    }
}

impl BlockingTimer for Hand {
    fn sleep(&self, duration: Duration) {
        step();
        self.spend(duration + self.late);
    }
}

impl Timer for Hand {
    type Sleep = Nap;

    fn sleep(&self, duration: Duration) -> Nap {
        step();
        Nap {
            hand: self.clone(),
            end: self.passed() + duration + self.late,
            _alive: Alive::new(),
        }
    }
}

/// The wait of a [`Hand`].
#[derive(Debug)]
pub(crate) struct Nap {
    hand: Hand,
    end: Duration,
    _alive: Alive,
}

impl Future for Nap {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        step();
        let left = self.end.saturating_sub(self.hand.passed());
        if left.is_zero() {
            return Poll::Ready(());
        }
        self.hand.spend(left.min(self.hand.tick));
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
