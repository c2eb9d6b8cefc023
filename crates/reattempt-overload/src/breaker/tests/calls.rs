//! `call` and `call_async`, by the clock of the thread.

use std::future::Future;
use std::io::{Error, ErrorKind};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;

fn timed_out() -> Error {
    Error::from(ErrorKind::TimedOut)
}

/// Half-open at once. A probe that takes ten times the cooldown makes room for another one: in hours, so that no machine is that slow.
fn half_open() -> Breaker {
    const HOUR: Duration = Duration::from_secs(3600);
    let breaker = Breaker::count_window(1).cooldown(HOUR);
    let clock = Hand::at(ProcessClock.now().since(ORIGIN).saturating_sub(2 * HOUR));
    play(&breaker, &clock, "F");
    assert_eq!(breaker.state(), State::HalfOpen);
    breaker
}

#[test]
fn what_is_refused_is_not_called() {
    let breaker = Breaker::count_window(1);
    assert!(matches!(
        breaker.call(|| Err::<(), _>(timed_out())),
        Err(Rejected::Inner(_))
    ));
    let answer = breaker.call(|| -> Result<(), Error> { unreachable!("it is open") });
    let Err(rejected) = answer else {
        unreachable!("it is open");
    };
    assert!(rejected.is_open());
    assert_eq!(rejected.to_string(), "the circuit breaker is open");
    let Verdict::Throttled(Some(wait)) = reattempt_core::Classify::classify(&rejected) else {
        unreachable!("nothing was executed");
    };
    assert!(wait <= ms(5000) && wait > ms(3000), "{wait:?}");
    assert!(rejected.into_inner().is_none());
}

#[test]
fn the_error_of_the_call_passes_through() {
    let breaker = Breaker::count_window(1);
    let answer = breaker.call(|| Err::<(), _>(Error::from(ErrorKind::NotFound)));
    let Err(rejected) = answer else {
        unreachable!("it failed");
    };
    assert!(!rejected.is_open());
    assert_eq!(
        reattempt_core::Classify::classify(&rejected),
        Verdict::Permanent
    );
    assert_eq!(
        rejected.into_inner().map(|error| error.kind()),
        Some(ErrorKind::NotFound)
    );
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn a_panic_returns_the_permit() {
    let breaker = half_open();
    for _ in 0..3 {
        let call = || breaker.call(|| -> Result<(), Error> { panic!("in the call") });
        assert!(catch_unwind(call).is_err());
        // It was a probe each time, and another may be one.
        assert!(!breaker.refuses_with_clock(&ProcessClock));
    }
    assert!(breaker.call(|| Ok::<_, Error>(())).is_ok());
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn a_judge_that_panics_returns_the_permit() {
    let breaker = half_open();
    let on = |_: &Error| -> bool { panic!("in the judge") };
    let call = AssertUnwindSafe(|| breaker.call_on(on, || Err::<(), _>(timed_out())));
    assert!(catch_unwind(call).is_err());
    assert!(!breaker.refuses_with_clock(&ProcessClock));
}

/// Pending so many times.
struct After(u32);

impl Future for After {
    type Output = Result<(), Error>;

    fn poll(mut self: core::pin::Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        if self.0 == 0 {
            return Poll::Ready(Ok(()));
        }
        self.0 -= 1;
        Poll::Pending
    }
}

#[test]
fn a_future_that_is_dropped_returns_the_permit() {
    let mut context = Context::from_waker(Waker::noop());
    for polls in 0..4 {
        let breaker = half_open();
        {
            let mut call = pin!(breaker.call_async(After(10)));
            for poll in 0..polls {
                assert!(call.as_mut().poll(&mut context).is_pending(), "{poll}");
                assert!(matches!(
                    breaker.call(|| Ok::<_, Error>(())),
                    Err(Rejected::Open(_))
                ));
            }
        }
        assert!(
            !breaker.refuses_with_clock(&ProcessClock),
            "after {polls} polls"
        );
        let mut call = pin!(breaker.call_async(After(2)));
        while call.as_mut().poll(&mut context).is_pending() {}
        assert_eq!(breaker.state(), State::Closed);
    }
}

#[tokio::test(start_paused = true)]
async fn an_async_failure_counts() {
    let breaker = Breaker::count_window(2);
    let fail = async || Err::<(), _>(timed_out());
    assert!(breaker.call_async(fail()).await.is_err());
    assert!(breaker.call_async_on(|_| true, fail()).await.is_err());
    let answer = breaker.call_async(fail()).await;
    assert!(answer.is_err_and(|rejected| rejected.is_open()));
}

/// Futures with a breaker can be spawned, and caught.
#[test]
fn what_it_is_good_for() {
    fn sent<T: Send>(value: T) -> T {
        value
    }
    fn shared<T: Sync + RefUnwindSafe>(_: &T) {}
    static BREAKER: Breaker = Breaker::count_window(1);
    fn moved<T: UnwindSafe>(_: T) {}
    shared(&BREAKER);
    moved(Breaker::count_window(1));
    drop(sent(BREAKER.call_async(After(1))));
    assert_eq!(
        format!("{BREAKER:?}"),
        r#"Breaker { name: "unnamed", state: Closed, .. }"#
    );
}

/// What is written into a log of an error that a breaker may have made is that of the error itself.
#[test]
fn an_error_of_the_call_is_what_it_was() {
    use reattempt_core::Classify as _;
    use std::error::Error as _;

    let error = Error::other(Error::from(ErrorKind::NotFound));
    let (text, cause) = (error.to_string(), error.source().map(ToString::to_string));
    let rejected = Rejected::Inner(error);
    assert_eq!(rejected.to_string(), text);
    assert_eq!(rejected.source().map(ToString::to_string), cause);
    let breaker = Breaker::count_window(1);
    breaker.force_open();
    let open = breaker.call(|| Ok::<_, Error>(())).expect_err("it is open");
    assert!(open.source().is_none() && open.is_open());
    for (said, shown) in [
        (rejected.message(), rejected.to_string()),
        (open.message(), open.to_string()),
    ] {
        assert_eq!(said.map(ToString::to_string), Some(shown));
    }
    assert_eq!(open.classify(), Verdict::Throttled(None));
}

/// The permit of a second part of an attempt counts from when the attempt began.
#[test]
fn an_attempt_is_as_slow_as_from_its_beginning() {
    for (is_second, expected) in [(true, State::Open), (false, State::Closed)] {
        let (breaker, clock) = (
            Breaker::count_window(1).slow_calls(ms(100), 1.0),
            Hand::new(),
        );
        let first = breaker.admit(&clock).expect("it is closed");
        clock.pass(ms(101));
        let second = breaker.admit(&clock).expect("it is closed");
        breaker.settle_success(
            if is_second {
                second.since(first)
            } else {
                second
            },
            &clock,
        );
        assert_eq!(breaker.state_with_clock(&clock), expected);
    }
}
