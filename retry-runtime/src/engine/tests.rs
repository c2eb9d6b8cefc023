//! Time that passes where no attempt runs.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "a test that panics has failed"
)]

use core::cell::Cell;
use core::future::{Future as _, Ready, ready};
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use super::{CallContext, LiveCall, TimedOut, Until};
use crate::around;
use crate::operation::Site;
use crate::throttle::Throttle;
use crate::timer::{BlockingTimer, Clock, Timer, Timestamp};
use crate::{GiveUpReason, Jitter, Policy, Verdict};
use reattempt_core::marks::{is_marked, mark};
use reattempt_core::name::OperationId;

const LATE: Duration = Duration::from_millis(255);

/// A timer with sleeps that end late.
struct Hand(Cell<Duration>);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(self.0.get())
    }

    fn random(&self) -> u64 {
        0
    }
}

impl BlockingTimer for Hand {
    fn sleep(&self, duration: Duration) {
        self.0.set(self.0.get() + duration + LATE);
    }
}

impl Timer for Hand {
    type Sleep = Ready<()>;

    fn sleep(&self, duration: Duration) -> Ready<()> {
        BlockingTimer::sleep(self, duration);
        ready(())
    }
}

#[test]
fn an_inherited_deadline_ends_the_call_though_its_timer_comes_early() {
    let (site, policy, clock) = (Site::of_name("early"), Policy::new(), Hand(Cell::default()));
    let context = CallContext::new(&site, &policy, Until::NEVER, &clock);
    let cut_off = TimedOut {
        started: true,
        is_inherited: true,
        marks: 0,
    };
    let ended = LiveCall::new(()).in_time(Err::<(), _>(cut_off), context, &mut ());
    let reason = ended.map_err(|(_, end)| end.reason()).err();
    assert_eq!(reason, Some(GiveUpReason::Deadline));
}

/// The throttle hears of successes: 20 of 30 requests were accepted, so no call is refused.
#[test]
fn a_success_is_settled_with_the_throttle() {
    let (throttle, clock) = (Throttle::adaptive(), Hand(Cell::default()));
    let policy = Policy::new().max(1);
    for request in 0..30 {
        let runner = policy.on(|(): &()| Verdict::Throttled(None)).timer(&clock);
        let answer = if request < 20 { Ok(()) } else { Err(()) };
        let _ = runner.throttle(&throttle).try_run(|| answer);
    }
    assert!(throttle.rejection_probability_with_clock(&clock) <= 0.0);
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
    assert_eq!(ended, Err((GiveUpReason::Deadline, 1)));
}

#[test]
fn a_time_out_that_passes_before_the_first_poll_is_no_deadline() {
    let clock = Hand(Cell::new(Duration::ZERO));
    let policy = Policy::new()
        .max(3)
        .jitter(Jitter::None)
        .timeout(Duration::from_millis(5));
    let call = policy.on(|(): &()| true).timer(&clock).try_run_async(|| {
        // Whatever makes the future is slow, or the thread is.
        clock
            .0
            .set(clock.0.get().saturating_add(Duration::from_millis(10)));
        ready(Err::<(), _>(()))
    });
    let mut call = core::pin::pin!(call);
    let answer = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(Err(failed)) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Attempts, 3)
    );
    assert!(failed.is_timeout());
}

/// A body that is one call: what makes its future is part of the attempt, though nothing is polled yet.
#[test]
fn what_makes_a_future_belongs_to_the_attempt() {
    const INNER: OperationId = OperationId::new(u64::MAX - 7);

    let mut call = LiveCall::new(());
    call.begin_first(|| mark(INNER));
    call.progress.call.count_failure();
    let seen = call.begin_again(|| (around::retries(), is_marked(INNER)));
    assert_eq!(seen, (1, true));
    assert!(around::is_quiet() && !is_marked(INNER));
}
