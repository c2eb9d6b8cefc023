//! The kill switch: no retry after it, and running calls end before their next attempt.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use reattempt::observe::{self, Event};
use reattempt::timer::{BlockingTimer, Clock, ThreadTimer, Timestamp};
use reattempt::{
    GiveUpReason, Policy, Retry, RetryError, Throttle, Verdict, config, retry, strategy::Decision,
};
use tower::{Layer as _, Service as _};

use crate::support::{Local, install, ms, sync_turn, turn};

/// Switches retries off while a thread sleeps.
struct Stopping;

impl Clock for Stopping {
    fn now(&self) -> Timestamp {
        ThreadTimer.now()
    }
}

impl BlockingTimer for Stopping {
    fn sleep(&self, _: std::time::Duration) {
        config::stop_retries();
    }
}

fn no(calls: &Cell<u32>) -> Result<(), String> {
    calls.set(calls.get() + 1);
    Err("no".to_owned())
}

#[retry(on(_))]
fn constant(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    no(calls)
}

#[retry(on(_))]
async fn constant_async(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    no(calls)
}

#[retry(max = 5, backoff = "none", budget = 0.5, on(_))]
fn immediate(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    no(calls)
}

#[track_caller]
fn is_disabled(end: Result<(), RetryError<String>>, calls: u32) {
    let end = end.unwrap_err();
    assert_eq!(
        (end.reason(), end.attempts()),
        (GiveUpReason::Disabled, calls)
    );
    assert_eq!(end.last().map(|error| &**error), Some("no"));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_retried() {
    let _turn = turn();
    config::stop_retries();
    assert!(!config::are_retries_on());
    let calls = Cell::new(0);
    is_disabled(constant(&calls), 1);
    is_disabled(immediate(&calls), 1);
    is_disabled(constant_async(&calls).await, 1);
    is_disabled(
        Policy::new().on(|_: &String| true).try_run(|| no(&calls)),
        1,
    );
    assert_eq!(calls.get(), 4);
    config::resume_retries();
    assert!(config::are_retries_on());
    let _ = constant(&calls);
    assert_eq!(calls.get(), 7);
}

#[retry(max = 5, on(_), strategy = |_| Decision::Retry(ms(1)))]
fn by_strategy(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    no(calls)
}

#[test]
fn a_strategy_is_not_asked() {
    let (_turn, _time) = sync_turn();
    let calls = Cell::new(0);
    assert_eq!(by_strategy(&calls).unwrap_err().attempts(), 5);
    config::stop_retries();
    is_disabled(by_strategy(&calls), 1);
}

#[test]
fn what_would_end_anyway_says_why() {
    let (_turn, _time) = sync_turn();
    config::stop_retries();
    let end = Policy::new()
        .on(|_: &String| Verdict::Permanent)
        .try_run(|| Err::<(), _>("no".to_owned()));
    assert_eq!(end.unwrap_err().reason(), GiveUpReason::Permanent);
}

#[test]
fn the_file_and_the_call_do_not_undo_each_other() {
    let (_turn, _time) = sync_turn();
    install("enabled = false\n");
    config::stop_retries();
    config::resume_retries();
    assert!(!config::are_retries_on());
    config::stop_retries();
    install("enabled = true\n");
    assert!(!config::are_retries_on());
    config::resume_retries();
    assert!(config::are_retries_on());
}

#[retry(max = 5, base = "1s", timer = Stopping, on(_))]
fn waiting(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    no(calls)
}

#[retry(max = 5, base = "1s", deadline = "1h", timer = Stopping, on(_))]
fn waiting_until(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    no(calls)
}

#[retry(max = 5, base = "1s", timer = Stopping, on(_), on_retry = |_| {}, before_retry = || panic!("no retry"))]
fn waiting_watched(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    no(calls)
}

#[test]
fn sync_calls_that_wait_end() {
    let (_turn, _time) = sync_turn();
    for call in [waiting, waiting_until, waiting_watched] {
        let calls = Cell::new(0);
        is_disabled(call(&calls), 1);
        config::resume_retries();
        assert_eq!(calls.get(), 1);
    }
    let calls = Cell::new(0);
    let policy = Policy::new();
    is_disabled(
        policy
            .on(|_: &String| true)
            .timer(Stopping)
            .try_run(|| no(&calls)),
        1,
    );
    config::resume_retries();
    let answer = policy
        .on(|_: &String| true)
        .timer(Stopping)
        .run(|| no(&calls));
    assert_eq!((answer, calls.get()), (Err("no".to_owned()), 2));
}

#[retry(max = 5, base = "1s", timer = Stopping, until = |value: &u32| *value == 3)]
fn polled(calls: &Cell<u32>) -> u32 {
    calls.set(calls.get() + 1);
    calls.get()
}

#[retry(max = 5, base = "1s", on(_), until = |value: &u32| *value == 3)]
async fn polled_async(calls: &Cell<u32>) -> Result<u32, RetryError<String>> {
    calls.set(calls.get() + 1);
    Ok(calls.get())
}

/// Polls `future` to its wait, switches retries off, and on to its end.
async fn stopped_in_wait<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_pending());
    config::stop_retries();
    future.await
}

#[tokio::test(start_paused = true)]
async fn polling_that_waits_ends() {
    let _turn = turn();
    let calls = Cell::new(0);
    assert_eq!(polled(&calls), 1);
    config::resume_retries();
    calls.set(0);
    let end = stopped_in_wait(polled_async(&calls)).await.unwrap_err();
    assert_eq!((end.reason(), calls.get()), (GiveUpReason::Disabled, 1));
}

#[retry(max = 5, base = "1s", on(_), on_retry = |_| {})]
async fn watched(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    no(calls)
}

#[retry(max = 5, base = "1s", on(_), before_retry = unwanted)]
async fn before(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    no(calls)
}

#[retry(max = 5, base = "1s", timeout = "100ms", on(_))]
async fn limited(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    no(calls)
}

#[retry(max = 5, base = "1s", deadline = "1m", on(_))]
async fn until(calls: &Cell<u32>) -> Result<(), Cut> {
    calls.set(calls.get() + 1);
    Err(Cut(None))
}

fn unwanted(_: &Retry<'_, String>) {
    panic!("no retry");
}

/// An error that can say that a call was cut off.
#[derive(Debug)]
struct Cut(Option<GiveUpReason>);

impl From<reattempt::GaveUp> for Cut {
    fn from(end: reattempt::GaveUp) -> Self {
        Self(Some(end.reason()))
    }
}

#[retry(policy = "kill", max = 5, base = "1s", on(_))]
async fn named(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    no(calls)
}

#[retry(max = 5, base = "1s", on(_))]
async fn plain(calls: &Cell<u32>) -> Result<(), String> {
    no(calls)
}

#[retry(max = 5, base = "1s", on(_))]
async fn local(calls: &Cell<u32>) -> Result<(), Local> {
    no(calls).map_err(|_| Local::new())
}

async fn ends(call: impl AsyncFnOnce(&Cell<u32>) -> Result<(), RetryError<String>>) {
    let calls = Cell::new(0);
    is_disabled(stopped_in_wait(call(&calls)).await, 1);
    config::resume_retries();
    assert_eq!(calls.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn async_calls_that_wait_end() {
    let _turn = turn();
    ends(constant_async).await;
    ends(watched).await;
    ends(before).await;
    ends(limited).await;
    ends(named).await;
    let policy = Policy::new();
    ends(async |calls| {
        let runner = policy.on(|_: &String| true);
        runner.try_run_async(async || no(calls)).await
    })
    .await;
    let calls = Cell::new(0);
    assert_eq!(stopped_in_wait(plain(&calls)).await, Err("no".to_owned()));
    config::resume_retries();
    let end = stopped_in_wait(until(&calls)).await;
    assert!(matches!(end, Err(Cut(None))), "{end:?}");
    assert_eq!(calls.get(), 2);
}

/// An error that cannot be sent is gone before the wait, so there is nothing to end with but that of the attempt that
/// was admitted.
#[tokio::test(start_paused = true)]
async fn an_error_that_cannot_be_sent_is_not_kept() {
    let _turn = turn();
    let calls = Cell::new(0);
    let end = stopped_in_wait(local(&calls)).await;
    assert_eq!((&*end.unwrap_err().0, calls.get()), ("local", 2));
}

#[tokio::test(start_paused = true)]
async fn one_operation_that_waits_ends() {
    let _turn = turn();
    let calls = Cell::new(0);
    let mut future = pin!(named(&calls));
    let mut context = Context::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_pending());
    let name = concat!(module_path!(), "::named");
    install(&format!("[operations.\"{name}\"]\nenabled = false\n"));
    is_disabled(future.await, 1);
}

#[tokio::test(start_paused = true)]
async fn an_error_does_not_live_through_the_next_attempt() {
    let _turn = turn();
    let held = std::rc::Rc::new(());
    let calls = Cell::new(0);
    let policy = Policy::new().max(3).base(ms(1));
    let end = policy
        .on(|_: &std::rc::Rc<()>| true)
        .try_run_async(async || {
            assert_eq!(std::rc::Rc::strong_count(&held), 1);
            calls.set(calls.get() + 1);
            Err::<Infallible, _>(std::rc::Rc::clone(&held))
        });
    assert!(end.await.is_err());
    assert_eq!(calls.get(), 3);
}

/// Answers in two seconds, each copy by itself.
async fn slowly(calls: &Cell<u32>) -> Result<(), String> {
    calls.set(calls.get() + 1);
    tokio::time::sleep(ms(2000)).await;
    Ok(())
}

#[retry(hedge = "1s", on(_))]
async fn hedged(calls: &Cell<u32>) -> Result<(), String> {
    slowly(calls).await
}

#[retry(policy = "kill", cut_off = false, hedge = "1s", on(_))]
async fn hedged_named(calls: &Cell<u32>) -> Result<(), String> {
    slowly(calls).await
}

#[tokio::test(start_paused = true)]
async fn no_copies_start() {
    let _turn = turn();
    let calls = Cell::new(0);
    let copies = |calls: &Cell<u32>| calls.replace(0);
    hedged(&calls).await.unwrap();
    assert_eq!(copies(&calls), 2);
    hedged_named(&calls).await.unwrap();
    assert_eq!(copies(&calls), 2);
    let name = concat!(module_path!(), "::hedged_named");
    install(&format!("[operations.\"{name}\"]\nenabled = false\n"));
    hedged_named(&calls).await.unwrap();
    assert_eq!(copies(&calls), 1);
    hedged(&calls).await.unwrap();
    assert_eq!(copies(&calls), 2);
    // Nor those of a runner, which has no policy.
    let by_runner = || {
        reattempt::Hedge::after(ms(1000))
            .run(async || slowly(&calls).await.map_err(std::io::Error::other))
    };
    by_runner().await.unwrap();
    assert_eq!(copies(&calls), 2);
    config::stop_retries();
    hedged(&calls).await.unwrap();
    assert_eq!(copies(&calls), 1);
    by_runner().await.unwrap();
    assert_eq!(copies(&calls), 1);
}

#[tokio::test(start_paused = true)]
async fn layers_end_too() {
    let _turn = turn();
    let calls = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let count = Arc::clone(&calls);
    let service = tower::service_fn(move |_: u32| {
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        async { Err::<Infallible, _>("no") }
    });
    let policy = Policy::new().max(5).base(ms(1000));
    let layer = reattempt::tower::RetryLayer::new(policy)
        .on_answer(|answer: &Result<Infallible, &str>| answer.is_err());
    let mut service = layer.layer(service);
    std::future::poll_fn(|cx| service.poll_ready(cx))
        .await
        .unwrap();
    assert_eq!(stopped_in_wait(service.call(7)).await, Err("no"));
    assert_eq!(calls.load(std::sync::atomic::Ordering::Relaxed), 1);
    let mut again = pin!(service.call(7));
    let answer = std::future::poll_fn(|cx| Poll::Ready(again.as_mut().poll(cx))).await;
    assert_eq!(answer, Poll::Ready(Err("no")));
}

#[retry(base = "1ms", on(_), timer = Stopping)]
fn stopped_in_plain_wait(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    no(calls)
}

#[retry(base = "1ms", backoff = "fixed", on(_), timer = Stopping)]
fn stopped_in_fixed_wait(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    no(calls)
}

#[retry(base = "1ms", backoff = "decorrelated", deadline = "1m", on(_), timer = Stopping)]
fn stopped_in_any_wait(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    no(calls)
}

/// An end after a wait is reported like any other.
#[test]
fn who_ends_after_a_wait_says_so() {
    let (_turn, _time) = sync_turn();
    for call in [
        stopped_in_plain_wait,
        stopped_in_fixed_wait,
        stopped_in_any_wait,
    ] {
        config::resume_retries();
        let reported = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&reported);
        let observer = Arc::new(move |event: &Event<'_>| log.lock().unwrap().push(event.name()));
        let calls = Cell::new(0);
        is_disabled(observe::scope_blocking(observer, || call(&calls)), 1);
        let reported = reported.lock().unwrap();
        let expected = ["attempt_failed", "retry", "retries_switched", "gave_up"];
        assert_eq!(*reported, expected);
    }
}

static QUOTA: Throttle = Throttle::cubic();

/// After the first attempt its turn comes in two seconds.
#[retry(max = 2, backoff = "none", throttle = &QUOTA, on = |_| Verdict::Throttled(None))]
async fn in_line(calls: &Cell<u32>) -> Result<(), RetryError<String>> {
    no(calls)
}

#[tokio::test(start_paused = true)]
async fn whose_turn_comes_too_late_makes_no_attempt() {
    let _turn = turn();
    let calls = Cell::new(0);
    let stop = async {
        tokio::time::sleep(ms(1000)).await;
        config::stop_retries();
    };
    let (end, ()) = tokio::join!(in_line(&calls), stop);
    is_disabled(end, 1);
    assert_eq!(calls.get(), 1);
}
