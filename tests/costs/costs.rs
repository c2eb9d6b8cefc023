//! What a call costs that succeeds at once: no clock is read, no random number drawn, nothing allocated. A counting
//! allocator and a timer that panics look at every key and every shape.
#![allow(
    clippy::semicolon_if_nothing_returned,
    reason = "closures of one assertion"
)]

mod allocator;
mod keys;
mod leaks;
mod shapes;

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use reattempt::timer::{BlockingTimer, Clock, Timer, Timestamp};

/// A timer that a success must not use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unused;

impl Clock for Unused {
    fn now(&self) -> Timestamp {
        panic!("the clock is read");
    }

    fn random(&self) -> u64 {
        panic!("a random number is drawn");
    }
}

impl BlockingTimer for Unused {
    fn sleep(&self, _: Duration) {
        panic!("the call sleeps");
    }
}

impl Timer for Unused {
    type Sleep = std::future::Ready<()>;

    fn sleep(&self, _: Duration) -> Self::Sleep {
        panic!("the call sleeps");
    }
}

/// A clock that may be read, for what counts by time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used;

impl Clock for Used {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs(1))
    }

    fn random(&self) -> u64 {
        panic!("a random number is drawn");
    }
}

impl BlockingTimer for Used {
    fn sleep(&self, _: Duration) {
        panic!("the call sleeps");
    }
}

impl Timer for Used {
    type Sleep = std::future::Pending<()>;

    fn sleep(&self, _: Duration) -> Self::Sleep {
        std::future::pending()
    }
}

/// Calls twice: what is made once for a process is made by the first call.
#[track_caller]
pub(crate) fn allocates_nothing(name: &str, mut call: impl FnMut()) {
    call();
    let allocations = allocator::allocations(&mut call);
    assert_eq!(allocations, 0, "{name} allocates");
}

/// Returns the answer of a future that is ready at once.
#[track_caller]
pub(crate) fn ready<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("a success waits"),
    }
}

/// The gates can fail.
#[test]
fn what_is_used_is_noticed() {
    let boxed = || drop(std::hint::black_box(Box::new(7)));
    assert_eq!(allocator::allocations(boxed), 1);
    let read = std::panic::catch_unwind(|| Unused.now());
    assert!(read.is_err());
}
