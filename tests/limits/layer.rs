//! The limits of a layer: who is refused with which error, and what they learn.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::future::{Ready, pending, ready};
use std::mem;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use reattempt::overload::breaker::State;
use reattempt::timer::{Clock, Timer, Timestamp};
use reattempt::tower::RetryLayer;
use reattempt::{
    Breaker, Bulkhead, GaveUp, GiveUpReason, Policy, Throttle, Verdict, deadline, testing,
};
use tokio::time::{Instant, timeout};
use tower::{Layer as _, Service, ServiceExt as _, service_fn};

use crate::points::poll;
use crate::support::{Fault, Nap, SECOND, Still, World, forever};

#[tokio::test(start_paused = true)]
async fn a_call_that_is_refused_ends_with_an_error_of_the_service() {
    let world = World::new(0);
    let open = forever(Breaker::count_window(1));
    open.force_open();
    let full = forever(Bulkhead::new(1));
    let _other = full.permit().unwrap();
    let policy = Policy::new();
    let layer = || RetryLayer::new(policy).timer(world.clock.clone());
    for (layer, reason) in [
        (layer().breaker(open), GiveUpReason::BreakerOpen),
        (layer().bulkhead(full), GiveUpReason::BulkheadFull),
        (
            layer().throttle(forever(world.refusing())),
            GiveUpReason::Throttle,
        ),
        // Each keeps the others, and `cut_off` before them changes nothing.
        (
            layer().breaker(open).bulkhead(world.bulkhead),
            GiveUpReason::BreakerOpen,
        ),
        (
            layer().bulkhead(full).throttle(world.throttle),
            GiveUpReason::BulkheadFull,
        ),
        (layer().bulkhead(full).cut_off(), GiveUpReason::BulkheadFull),
        (
            layer().cut_off().throttle(world.throttle).bulkhead(full),
            GiveUpReason::BulkheadFull,
        ),
    ] {
        let service = layer.layer(service_fn(|()| world.work()));
        assert_eq!(service.oneshot(()).await, Err(Fault::Cut(reason, 0)));
    }
    assert_eq!(world.attempts.get(), 0);
    world.assert_let_through();

    // Most services of tower have boxed errors, which have no verdict.
    type Boxed = Box<dyn Error + Send + Sync>;
    let layer = RetryLayer::new(policy)
        .bulkhead(full)
        .on_answer(|_: &Result<u32, Boxed>| false);
    let end = layer.layer(service_fn(async |()| Ok(1))).oneshot(()).await;
    let end = end.unwrap_err().downcast::<GaveUp>().unwrap();
    assert_eq!(
        (end.reason(), end.attempts()),
        (GiveUpReason::BulkheadFull, 0)
    );
}

/// It has no slot in its delay, where another call takes the last one.
#[tokio::test(start_paused = true)]
async fn a_retry_that_is_refused_ends_the_call_with_the_last_error() {
    let bulkhead = forever(Bulkhead::new(1));
    let (calls, other) = (Cell::new(0), RefCell::new(None));
    let layer = RetryLayer::new(Policy::new().base(SECOND)).bulkhead(bulkhead);
    let layer = layer.on_retry(|_| *other.borrow_mut() = Some(bulkhead.permit().unwrap()));
    let service = layer.layer(service_fn(async |()| {
        assert_eq!(bulkhead.running(), 1);
        calls.set(calls.get() + 1);
        Err::<u32, _>(Fault::Down)
    }));
    assert_eq!(service.oneshot(()).await, Err(Fault::Down));
    assert_eq!((calls.get(), bulkhead.running()), (1, 1));
}

/// Has no `Clone`.
struct Once(u32);

#[tokio::test(start_paused = true)]
async fn a_request_that_cannot_be_cloned_is_sent_once() {
    let calls = Cell::new(0);
    let layer = RetryLayer::new(Policy::new()).bulkhead(forever(Bulkhead::new(1)));
    let layer = layer.clone_request(|_: &Once| None);
    let service = layer.layer(service_fn(async |Once(number)| {
        calls.set(calls.get() + number);
        Err::<u32, _>(Fault::Down)
    }));
    assert_eq!(service.oneshot(Once(1)).await, Err(Fault::Down));
    assert_eq!(calls.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn attempts_wait_for_their_turn() {
    let throttle = forever(Throttle::rate(2, SECOND).max_wait(2 * SECOND));
    let start = Instant::now();
    let layer = RetryLayer::new(Policy::new()).throttle(throttle);
    let service = layer.layer(service_fn(async |()| Ok(start.elapsed())));
    let calls = futures::future::join_all((0..7).map(|_| service.clone().oneshot(())));
    let [now, second, third] = [0, 1, 2].map(|seconds| Ok(seconds * SECOND));
    let late = Err(Fault::Cut(GiveUpReason::Throttle, 0));
    let expected = [now, now, second, second, third, third, late];
    assert_eq!(calls.await, expected);
}

/// Has room for a call until it is asked again.
#[derive(Clone)]
struct RoomOnce(bool);

impl Service<()> for RoomOnce {
    type Response = u32;
    type Error = Fault;
    type Future = Ready<Result<u32, Fault>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        if mem::take(&mut self.0) {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }

    fn call(&mut self, (): ()) -> Self::Future {
        ready(Ok(1))
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_holds_while_a_service_makes_room_behind_a_turn() {
    let throttle = forever(Throttle::rate(1, SECOND).max_wait(2 * SECOND));
    let layer = RetryLayer::new(Policy::new().deadline(3 * SECOND)).throttle(throttle);
    let first = layer.layer(service_fn(async |()| Ok::<_, Fault>(1)));
    assert_eq!(first.oneshot(()).await, Ok(1));
    let start = Instant::now();
    let call = layer.layer(RoomOnce(true)).oneshot(());
    let cut = Err(Fault::Cut(GiveUpReason::Deadline, 0));
    assert_eq!(timeout(10 * SECOND, call).await, Ok(cut));
    assert_eq!(start.elapsed(), 3 * SECOND);
}

/// By answers and by what its deadline cuts off.
#[tokio::test(start_paused = true)]
async fn a_bulkhead_that_finds_its_size_learns_of_each_attempt() {
    let policy = Policy::new().max(1);
    let throttled = forever(Bulkhead::adaptive());
    let layer = RetryLayer::new(policy).bulkhead(throttled);
    let layer = layer.on_answer(|_: &Result<u32, Fault>| Verdict::Throttled(None));
    let service = layer.layer(service_fn(async |()| Ok(1)));

    let slow = forever(Bulkhead::adaptive());
    let layer = RetryLayer::new(policy.deadline(SECOND)).bulkhead(slow);
    let hanging = layer.layer(service_fn(|()| pending::<Result<u32, Fault>>()));

    let well = forever(Bulkhead::adaptive());
    let layer = RetryLayer::new(policy).bulkhead(well);
    let quick = layer.layer(service_fn(async |()| {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok::<_, Fault>(1)
    }));
    for _ in 0..500 {
        assert_eq!(service.clone().oneshot(()).await, Ok(1));
        let cut = Err(Fault::Cut(GiveUpReason::Deadline, 1));
        assert_eq!(hanging.clone().oneshot(()).await, cut);
        assert_eq!(quick.clone().oneshot(()).await, Ok(1));
    }
    assert!(throttled.limit() < 20, "{throttled:?}");
    assert!(slow.limit() < 20, "{slow:?}");
    assert_eq!(well.limit(), 20, "{well:?}");
}

/// Its naps take an hour, whatever they were to take.
#[derive(Debug, Clone)]
struct Late(Still);

impl Clock for Late {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}

impl Timer for Late {
    type Sleep = Nap;

    fn sleep(&self, _: Duration) -> Nap {
        Timer::sleep(&self.0, 3600 * SECOND)
    }
}

/// By then its own deadline has passed as well, which would be a failure of the service.
#[test]
fn an_inherited_deadline_stays_one_where_a_timer_ends_late() {
    let _time = testing::virtual_time();
    let breaker = forever(Breaker::count_window(1));
    let layer = RetryLayer::new(Policy::new().deadline(10 * SECOND));
    let layer = layer.breaker(breaker).timer(Late(Still::pending(1)));
    let service = || layer.layer(service_fn(|()| pending::<Result<u32, Fault>>()));
    let cut = Some(Err(Fault::Cut(GiveUpReason::Deadline, 1)));
    let inherited = deadline::within_blocking(SECOND, || poll(service().oneshot(()), 100));
    let is_closed = || breaker.state() == State::Closed;
    assert_eq!((inherited, is_closed()), (cut, true));
    let own = poll(service().oneshot(()), 100);
    assert_eq!((own, is_closed()), (cut, false));
}

/// Whoever has polled it may keep the future: nothing is held any more.
#[tokio::test(start_paused = true)]
async fn an_end_before_the_first_attempt_holds_nothing() {
    let (full, half_open) = (forever(Bulkhead::new(1)), World::half_open(0).breaker);
    let other = full.permit().unwrap();
    let layer = RetryLayer::new(Policy::new().deadline(10 * SECOND));
    let layer = layer.breaker(half_open).bulkhead(full);
    let service = layer.layer(service_fn(async |()| Ok::<u32, Fault>(1)));
    let mut refused = pin!(service.clone().oneshot(()));
    let cut = |reason| Err(Fault::Cut(reason, 0));
    assert_eq!(refused.as_mut().await, cut(GiveUpReason::BulkheadFull));
    drop(other);
    // The only probe is free again.
    let again = service.clone().oneshot(()).await;
    assert_eq!(again, Ok(1));

    // No attempt is made after a deadline that is inherited.
    let service = layer.layer(service_fn(|()| -> Ready<Result<u32, Fault>> {
        panic!("made")
    }));
    let late = deadline::within_blocking(Duration::ZERO, || poll(service.oneshot(()), 10));
    assert_eq!(late, Some(cut(GiveUpReason::Deadline)));
}
