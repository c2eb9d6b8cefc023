//! What counts as below a retry, and what does not.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::future::join;
use reattempt::{GiveUpReason, Policy, RetryError, deadline, nesting, retry, retry_block};

use crate::bombs::yield_once;
use crate::support::{Still, assert_nothing_is_left, drive};

#[derive(Debug, Default)]
struct Service(AtomicU32);

impl Service {
    fn calls(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    fn fail(&self) -> Result<u32, u32> {
        Err(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

#[retry(max = 5, on(_), timer = Still)]
async fn alone(service: &Service) -> Result<u32, u32> {
    yield_once().await;
    service.fail()
}

/// Polled by turns in one task, each of two calls is for itself.
#[test]
fn a_sibling_is_not_below() {
    let (one, other) = (Service::default(), Service::default());
    let _ = drive(join(alone(&one), alone(&other)));
    assert_eq!((one.calls(), other.calls()), (5, 5));
    assert_nothing_is_left();
}

/// The siblings inside a retry are.
#[test]
fn both_of_a_pair_are_below() {
    #[retry(max = 5, on(_), timer = Still)]
    async fn outer(one: &Service, other: &Service) -> Result<u32, u32> {
        let (answer, other) = join(alone(one), alone(other)).await;
        assert!(other.is_err());
        answer
    }
    let (one, other) = (Service::default(), Service::default());
    assert!(drive(outer(&one, &other)).is_err());
    assert_eq!((one.calls(), other.calls()), (9, 9));
}

/// A task of its own, and a thread, know nothing of who began them.
#[tokio::test(start_paused = true)]
async fn what_is_spawned_is_not_below() {
    #[retry(max = 3, on(_), timer = Still)]
    async fn outer(service: &Arc<Service>) -> Result<u32, u32> {
        let spawned = Arc::clone(service);
        tokio::spawn(async move {
            assert_eq!(deadline::attempt(), 1);
            alone(&spawned).await
        })
        .await
        .expect("it does not panic")
    }
    #[retry(max = 3, on(_), timer = Still)]
    fn outer_of_threads(service: &Service) -> Result<u32, u32> {
        std::thread::scope(|scope| scope.spawn(|| drive(alone(service))).join())
            .expect("it does not panic")
    }
    let service = Arc::default();
    assert!(outer(&service).await.is_err());
    assert_eq!(service.calls(), 15);
    assert!(outer_of_threads(&service).is_err());
    assert_eq!(service.calls(), 30);
    assert_nothing_is_left();
}

/// A value that is not final is no failure; an error is.
#[test]
fn polling_goes_on_below_a_retry() {
    #[retry(max = 5, on(_), timer = Still, until = |value| *value % 4 == 0)]
    fn poll(service: &Service, fail: bool) -> Result<u32, RetryError<u32>> {
        let number = service.fail().unwrap_or_else(|number| number);
        if fail { Err(number) } else { Ok(number) }
    }
    #[retry(max = 3, on(_), timer = Still)]
    fn outer(service: &Service, fail: bool) -> Result<u32, RetryError<u32>> {
        match poll(service, fail) {
            Ok(value) => Err(value),
            Err(failed) => Err(failed.into_last().expect("an error")),
        }
    }
    #[retry(max = 5, on(_), timer = Still, until = |value| *value % 4 == 0)]
    async fn poll_async(service: &Service, fail: bool) -> Result<u32, RetryError<u32>> {
        yield_once().await;
        let number = service.fail().unwrap_or_else(|number| number);
        if fail { Err(number) } else { Ok(number) }
    }
    #[retry(max = 3, on(_), timer = Still)]
    async fn outer_async(service: &Service, fail: bool) -> Result<u32, RetryError<u32>> {
        match poll_async(service, fail).await {
            Ok(value) => Err(value),
            Err(failed) => Err(failed.into_last().expect("an error")),
        }
    }
    for (fail, calls) in [(false, 12), (true, 7)] {
        let service = Service::default();
        assert!(outer(&service, fail).is_err());
        assert_eq!(service.calls(), calls);
        let service = Service::default();
        assert!(drive(outer_async(&service, fail)).is_err());
        assert_eq!(service.calls(), calls);
    }
    assert_nothing_is_left();
}

/// The same without a delay, which is decided in another place.
#[test]
fn polling_without_a_delay() {
    #[retry(max = 3, backoff = "none", on(_), until = |value| *value % 3 == 0)]
    fn poll(service: &Service) -> Result<u32, RetryError<u32>> {
        Ok(service.fail().unwrap_or_else(|number| number))
    }
    #[retry(max = 3, backoff = "none", on(_))]
    fn outer(service: &Service) -> Result<u32, u32> {
        poll(service)
            .map_err(|failed| failed.attempts())
            .and_then(Err)
    }
    let service = Service::default();
    assert_eq!(outer(&service), Err(9));
}

/// The reason, for whoever asks.
#[test]
fn a_collapsed_call_says_so() {
    #[retry(max = 5, on(_), timer = Still, on_retry = |_| reported.set(reported.get() + 1))]
    fn inner(reported: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        Err(deadline::attempt())
    }
    #[retry(max = 5, on(_), timer = Still)]
    async fn inner_async() -> Result<u32, RetryError<u32>> {
        yield_once().await;
        Err(deadline::attempt())
    }
    #[retry(max = 3, on(_), timer = Still)]
    async fn outer(reported: &Cell<u32>, ends: &RefCell<Vec<End>>) -> Result<u32, u32> {
        yield_once().await;
        let end =
            |failed: &RetryError<u32>| (failed.reason(), failed.attempts(), failed.last().copied());
        ends.borrow_mut()
            .extend(inner(reported).as_ref().err().map(end));
        let asynchronous = inner_async().await;
        ends.borrow_mut()
            .extend(asynchronous.as_ref().err().map(end));
        Err(deadline::attempt())
    }
    type End = (GiveUpReason, u32, Option<u32>);
    let (reported, ends) = (Cell::new(0), RefCell::default());
    assert_eq!(drive(outer(&reported, &ends)), Err(3));
    let whole = (GiveUpReason::Attempts, 5, Some(5));
    let second = (GiveUpReason::Nested, 1, Some(2));
    let third = (GiveUpReason::Nested, 1, Some(3));
    assert_eq!(*ends.borrow(), [whole, whole, second, second, third, third]);
    // A retry that does not come is not reported.
    assert_eq!(reported.get(), 4);
    let failed = inner(&reported).expect_err("always");
    assert_eq!(failed.reason(), GiveUpReason::Attempts);
    assert_nothing_is_left();
}

/// Calls without a name are told apart by their lines: only the same one collapses.
#[test]
fn calls_on_eight_lines() {
    type Call = fn(&Service) -> Result<u32, u32>;

    #[track_caller]
    fn fail(service: &Service) -> Result<u32, u32> {
        let policy = const { Policy::new().max(3) };
        (policy.on(|_: &u32| true).timer(Still)).run(|| service.fail())
    }
    let calls: [Call; 8] = [
        |service| fail(service),
        |service| fail(service),
        |service| fail(service),
        |service| fail(service),
        |service| fail(service),
        |service| fail(service),
        |service| fail(service),
        |service| fail(service),
    ];
    for (first, second) in (0..8).flat_map(|first| (0..8).map(move |second| (first, second))) {
        #[retry(max = 2, on(_), timer = Still)]
        fn outer(service: &Service, turns: [Call; 2]) -> Result<u32, u32> {
            turns[deadline::attempt() as usize - 1](service)
        }
        let service = Service::default();
        assert!(outer(&service, [calls[first], calls[second]]).is_err());
        let again = if first == second { 1 } else { 3 };
        assert_eq!(service.calls(), 3 + again, "line {first}, then {second}");
    }
    assert_nothing_is_left();
}

/// Hooks stand between attempts; what they call is no part of one.
#[tokio::test(start_paused = true)]
async fn hooks_are_not_below_their_own_call() {
    #[retry(
        max = 3,
        on(_),
        timer = Still,
        on_retry = |_| { assert_eq!(deadline::attempt(), 1); },
        before_retry = |_| { let _ = drive(alone(service)); },
    )]
    fn sync(service: &Service) -> Result<u32, u32> {
        Err(deadline::attempt())
    }
    #[retry(
        max = 3,
        on(_),
        deadline = "1h",
        on_retry = |_| { assert_eq!(deadline::attempt(), 1); },
        before_retry = async |_| { let _ = alone(service).await; },
    )]
    async fn asynchronous(service: &Service) -> Result<u32, RetryError<u32>> {
        Err(deadline::attempt())
    }
    let service = Service::default();
    assert_eq!(sync(&service), Err(3));
    assert_eq!(service.calls(), 10);
    assert_eq!(
        asynchronous(&service).await.expect_err("always").last(),
        Some(&3)
    );
    assert_eq!(service.calls(), 20);
}

/// After a success nothing below the next statement is a retry.
#[test]
fn after_a_success() {
    #[retry(max = 3, on(_), timer = Still)]
    fn second_time() -> Result<u32, u32> {
        match deadline::attempt() {
            1 => Err(1),
            number => Ok(number),
        }
    }
    #[retry(max = 3, on(_), timer = Still, fallback = |_| deadline::attempt())]
    fn falls_back() -> Result<u32, u32> {
        Err(deadline::attempt())
    }
    #[retry(max = 3, on(_), timer = Still)]
    async fn both() -> Result<u32, u32> {
        assert_eq!(second_time(), Ok(2));
        assert_eq!(falls_back(), Ok(1));
        Ok(deadline::attempt())
    }
    assert_eq!(drive(both()), Ok(1));
    assert_nothing_is_left();
}

/// A sync block in an async function leaves the future what it was: sendable.
#[test]
fn a_sync_block_in_a_sent_future() {
    async fn around(service: &Service) -> Result<u32, u32> {
        let answer = retry_block!(max = 5, on(_), timer = Still, { service.fail() });
        yield_once().await;
        answer
    }
    fn sendable<F: Future + Send>(future: F) -> F {
        future
    }
    let service = Service::default();
    assert_eq!(drive(sendable(around(&service))), Err(5));
    drop(sendable(alone(&service)));
}

/// Asking again for a value that is not final is no retry for what is below; asking
/// again after an error is.
#[test]
fn a_poll_that_asks_again_is_no_retry() {
    #[retry(max = 4, on(_), timer = Still, until = |value| *value > 100)]
    async fn polled(service: &Service, polls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        polls.set(polls.get() + 1);
        match alone(service).await {
            // Each of the first two polls asks five times in vain.
            Err(_) if polls.get() < 3 => Ok(1),
            outcome => outcome,
        }
    }
    #[retry(max = 4, on(_), timer = Still, until = |value| *value > 100)]
    fn polled_sync(service: &Service, polls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        polls.set(polls.get() + 1);
        let inner = retry_block!(max = 5, on(_), timer = Still, || -> Result<u32, u32> {
            service.fail()
        });
        match inner {
            Err(_) if polls.get() < 3 => Ok(1),
            outcome => outcome,
        }
    }
    let (service, polls) = (Service::default(), Cell::new(0));
    assert!(drive(polled(&service, &polls)).is_err());
    assert_eq!((polls.get(), service.calls()), (4, 5 + 5 + 5 + 1));

    let (service, polls) = (Service::default(), Cell::new(0));
    assert!(polled_sync(&service, &polls).is_err());
    assert_eq!((polls.get(), service.calls()), (4, 5 + 5 + 5 + 1));
    assert_nothing_is_left();
}

/// What a body does before it gives its future is part of the attempt.
#[tokio::test(start_paused = true)]
async fn before_the_future() {
    #[retry(max = 5, backoff = "fixed", on(_), timer = Still)]
    fn inner(service: &Service) -> Result<u32, u32> {
        service.fail()
    }
    #[retry(max = 5, on(_), deadline = "1h")]
    fn outer(
        service: &Service,
        seen: &RefCell<Vec<u32>>,
    ) -> impl Future<Output = Result<u32, RetryError<u32>>> {
        assert!(deadline::remaining().is_some());
        seen.borrow_mut().push(deadline::attempt());
        std::future::ready(inner(service))
    }
    let (service, seen) = (Service::default(), RefCell::default());
    assert!(outer(&service, &seen).await.is_err());
    assert_eq!((service.calls(), seen.take()), (9, vec![1, 2, 3, 4, 5]));

    let service = Service::default();
    let policy = Policy::new().max(5);
    let outer = policy.on(|_: &u32| true);
    let answer = outer.try_run_async(|| std::future::ready(inner(&service)));
    assert!(answer.await.is_err());
    assert_eq!(service.calls(), 9);
}

/// Work of somebody else, taken out.
#[test]
fn isolated() {
    #[retry(max = 5, on(_), timer = Still)]
    async fn outer(service: &Service) -> Result<u32, u32> {
        deadline::isolate(alone(service)).await
    }
    let service = Service::default();
    assert!(drive(outer(&service)).is_err());
    assert_eq!(service.calls(), 25);
    assert_nothing_is_left();
}

/// A deadline that cuts off an attempt above is left to that attempt, also by a call without any limit of its own.
#[tokio::test(start_paused = true)]
async fn who_is_above_cuts_off() {
    type Answer = Result<(), RetryError<&'static str>>;

    #[retry(policy = policy, on(_))]
    async fn inner(policy: Policy) -> Result<(), RetryError<&'static str>> {
        std::future::pending().await
    }

    #[retry(deadline = "1s", on(_))]
    async fn outer(policy: Policy) -> Result<(), RetryError<RetryError<&'static str>>> {
        let answer: Answer = inner(policy).await;
        answer
    }

    let failed = outer(Policy::new()).await.unwrap_err();
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Deadline, 1)
    );
    assert_eq!(failed.last(), None);
}

/// A time-out of the outer call drops the inner one after a failure, in whichever attempt that is: the inner one has used
/// up its retries.
#[tokio::test(start_paused = true)]
async fn cut_off_from_above_after_a_failure() {
    #[retry(max = 4, base = "1s", timeout = "100ms", deadline = "1h", context = number, on(_))]
    async fn outer(service: &Service, from: u32) -> Result<u32, RetryError<&'static str>> {
        if number.number() < from {
            return Err("before");
        }
        inner(service).await.map_err(|_| "inner")
    }
    #[retry(max = 2, base = "1ms", deadline = "1h", on(_))]
    async fn inner(service: &Service) -> Result<u32, RetryError<u32>> {
        let failed = service.fail();
        if service.calls() == 2 {
            std::future::pending::<()>().await;
        }
        failed
    }
    for from in 1..=3 {
        let service = Service::default();
        let _ = outer(&service, from).await;
        // Two in the attempt that is cut off, one in each after it.
        assert_eq!(service.calls(), 2 + (4 - from), "from attempt {from}");
    }
    assert_nothing_is_left();
}

/// What another task on the same thread gives up is not below this call.
#[tokio::test(start_paused = true)]
async fn what_another_task_gives_up() {
    #[retry(max = 2, base = "1s", context = number, on(_))]
    async fn outer(service: &Service) -> Result<u32, u32> {
        if number.number() > 1 {
            return inner(service).await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        Err(0)
    }
    #[retry(max = 5, base = "1ms", jitter = "none", cap = "1ms", on(_))]
    async fn inner(service: &Service) -> Result<u32, u32> {
        service.fail()
    }
    let (own, other) = (Service::default(), Arc::new(Service::default()));
    let task = Arc::clone(&other);
    let task = tokio::spawn(async move { inner(&task).await });
    assert!(outer(&own).await.is_err());
    assert!(task.await.unwrap().is_err());
    assert_eq!((own.calls(), other.calls()), (5, 5));
    assert_nothing_is_left();
}

/// A mark lasts for a minute.
#[tokio::test(start_paused = true)]
async fn a_minute_later() {
    #[retry(max = 2, base = "1ms", on(_))]
    async fn inner(service: &Service) -> Result<u32, u32> {
        service.fail()
    }
    #[retry(
        max = 3,
        backoff = "fixed",
        base = "59s",
        cap = "1h",
        jitter = "none",
        on(_)
    )]
    async fn soon(service: &Service) -> Result<u32, u32> {
        inner(service).await
    }
    #[retry(
        max = 3,
        backoff = "fixed",
        base = "61s",
        cap = "1h",
        jitter = "none",
        on(_)
    )]
    async fn late(service: &Service) -> Result<u32, u32> {
        inner(service).await
    }
    let (after_59, after_61) = (Service::default(), Service::default());
    assert!(soon(&after_59).await.is_err());
    assert!(late(&after_61).await.is_err());
    // The second attempt of the first is within the minute, its third is not.
    assert_eq!((after_59.calls(), after_61.calls()), (2 + 1 + 2, 6));
    assert_nothing_is_left();
}

/// What was marked before an isolated piece of code is marked after it, too.
#[test]
fn after_what_is_isolated() {
    #[retry(max = 2, on(_), timer = Still)]
    fn before(service: &Service) -> Result<u32, u32> {
        service.fail()
    }
    #[retry(max = 2, on(_), timer = Still)]
    fn during(service: &Service) -> Result<u32, u32> {
        service.fail()
    }
    #[retry(max = 2, on(_), timer = Still)]
    fn isolated(service: &Service) -> Result<u32, u32> {
        service.fail()
    }
    #[retry(max = 2, on(_), timer = Still, context = number)]
    fn outer(services: [&Service; 3]) -> Result<u32, u32> {
        let _ = before(services[0]);
        if number.is_retry() {
            let _ = during(services[1]);
            let _ = nesting::isolate_blocking(|| isolated(services[2]));
            let _ = during(services[1]);
            let _ = before(services[0]);
        }
        Err(0)
    }
    let services: [Service; 3] = Default::default();
    let _ = outer(services.each_ref());
    // Twice in the first attempt, once by each call of the second.
    assert_eq!(services[0].calls(), 2 + 1 + 1);
    assert_eq!(services[1].calls(), 2 + 1);
    assert_eq!(services[2].calls(), 2);
    assert_nothing_is_left();
}
