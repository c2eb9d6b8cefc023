//! How many attempts run at the same time: by function, block and runner, with copies, and by itself.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Duration;

use proptest::prelude::*;
use reattempt::overload::bulkhead::Full;
use reattempt::{
    Budget, Bulkhead, Classify as _, GaveUp, GiveUpReason, Keyed, Policy, RetryError, Verdict,
    deadline, retry, retry_block, testing,
};
use tokio::time::{Instant, sleep};

use crate::bombs::yield_once;
use crate::points::{at_each_point, poll};
use crate::support::{Fault, Still, World};

/// How many attempts run, by the attempts themselves.
#[derive(Debug, Default)]
struct Running(Cell<u32>);

impl Running {
    fn begin(&self, limit: u32) -> Ended<'_> {
        self.0.set(self.0.get() + 1);
        assert!(self.0.get() <= limit, "{} of {limit} run", self.0.get());
        Ended(self)
    }
}

struct Ended<'r>(&'r Running);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.0.set(self.0.0.get() - 1);
    }
}

#[retry(max = 3, base = "1ms", bulkhead = bulkhead, on(_))]
fn blocking(bulkhead: &Bulkhead, calls: &Cell<u32>) -> Result<u32, RetryError<&'static str>> {
    assert_eq!(bulkhead.running(), 1);
    calls.set(calls.get() + 1);
    if calls.get() < 3 {
        Err("down")
    } else {
        Ok(calls.get())
    }
}

#[test]
fn one_more_than_the_limit_is_refused_at_once() {
    let _time = testing::virtual_time();
    let (bulkhead, calls) = (Bulkhead::new(1), Cell::new(0));
    let other = bulkhead.permit();
    let record = testing::record();
    let end = blocking(&bulkhead, &calls).unwrap_err();
    assert_eq!(
        (end.reason(), end.attempts(), calls.get()),
        (GiveUpReason::BulkheadFull, 0, 0)
    );
    // Nothing was executed: whoever calls this may call again.
    assert_eq!(verdict(&end), Verdict::Refused);
    assert!(record.to_string().ends_with("gave up (bulkhead_full)\n"));
    drop(other);
    assert_eq!(blocking(&bulkhead, &calls).unwrap(), 3);
    assert_eq!(bulkhead.running(), 0);
}

/// Of the timer of a call: what the bulkhead holds while the call waits, and what others take of it meanwhile.
struct Taking<'b> {
    still: Still,
    bulkhead: &'b Bulkhead,
    taken: RefCell<Vec<reattempt::overload::bulkhead::Permit<'b>>>,
}

impl reattempt::timer::Clock for Taking<'_> {
    fn now(&self) -> reattempt::timer::Timestamp {
        self.still.now()
    }
}

impl reattempt::timer::BlockingTimer for Taking<'_> {
    fn sleep(&self, _: Duration) {
        self.taken.borrow_mut().extend(self.bulkhead.permit().ok());
    }
}

/// A delay holds no slot; who took it meanwhile ends the call, with the error that there is.
#[test]
fn a_slot_that_others_took_during_the_delay() {
    #[retry(max = 3, bulkhead = timer.bulkhead, timer = timer, on(_))]
    fn call(timer: &Taking<'_>) -> Result<u32, RetryError<&'static str>> {
        assert_eq!(timer.bulkhead.running(), 1);
        Err("down")
    }
    let bulkhead = Bulkhead::new(1);
    let timer = Taking {
        still: Still::pending(1),
        bulkhead: &bulkhead,
        taken: RefCell::default(),
    };
    let end = call(&timer).unwrap_err();
    assert_eq!(
        (end.reason(), end.attempts(), end.last()),
        (GiveUpReason::BulkheadFull, 1, Some(&"down"))
    );
    assert_eq!(verdict(&end), Verdict::Transient);
    assert_eq!((bulkhead.running(), timer.taken.borrow().len()), (1, 1));
}

/// What a call around it makes of the end alone.
fn verdict<E>(end: &RetryError<E>) -> Verdict {
    GaveUp::new(end.reason(), end.attempts()).classify()
}

#[test]
fn runners_and_blocks() {
    let _time = testing::virtual_time();
    let (bulkhead, policy) = (Bulkhead::new(1), Policy::new());
    let call = || {
        let runner = policy.on(|_: &&str| true).bulkhead(&bulkhead);
        runner.try_run(|| {
            assert_eq!(bulkhead.running(), 1);
            Err::<u32, _>("down")
        })
    };
    let call_async = || {
        let runner = policy.on(|_: &&str| true).bulkhead(&bulkhead);
        let runner = runner.timer(Still::pending(1));
        let end = runner.try_run_async(async || {
            assert_eq!(bulkhead.running(), 1);
            Err::<u32, _>("down")
        });
        poll(end, 100).unwrap()
    };
    let block = || {
        retry_block!(
            bulkhead = &bulkhead,
            on(_),
            || -> Result<u32, RetryError<&str>> {
                assert_eq!(bulkhead.running(), 1);
                Err("down")
            }
        )
    };
    let calls: [&dyn Fn() -> Result<u32, RetryError<&'static str>>; 3] =
        [&call, &call_async, &block];
    for call in calls {
        let end = call().unwrap_err();
        assert_eq!((end.reason(), end.attempts()), (GiveUpReason::Attempts, 3));
        let _other = bulkhead.permit();
        let end = call().unwrap_err();
        assert_eq!(
            (end.reason(), end.attempts()),
            (GiveUpReason::BulkheadFull, 0)
        );
    }
    assert_eq!(bulkhead.running(), 0);
}

/// At any poll and at any step: the slot of the attempt, and that of its copy.
#[test]
fn a_call_that_is_dropped_or_panics_holds_nothing() {
    #[retry(
        bulkhead = world.bulkhead,
        timer = &world.clock,
        before_retry = async |_| yield_once().await,
    )]
    async fn plain(world: &World) -> Result<u32, Fault> {
        assert_eq!(world.bulkhead.running(), 1);
        world.work().await
    }
    #[retry(bulkhead = world.bulkhead, hedge = "10ms", budget = world.budget, timer = &world.clock)]
    async fn hedged(world: &World) -> Result<u32, Fault> {
        world.work().await
    }
    #[retry(bulkhead = world.bulkhead, timeout = "1s", deadline = "1h", timer = &world.clock)]
    async fn limited(world: &World) -> Result<u32, Fault> {
        world.work().await
    }
    let check = |world: &World| assert_eq!(world.bulkhead.running(), 0);
    let plain = async |world: &World| assert!(plain(world).await.is_err());
    at_each_point(World::new, &plain, check);
    let hedged = async |world: &World| assert!(hedged(world).await.is_err());
    at_each_point(World::new, &hedged, World::assert_nothing_is_held);
    let limited = async |world: &World| assert!(limited(world).await.is_err());
    at_each_point(World::new, &limited, check);
}

/// A deadline from above cuts an attempt off: the slot is free before the caller goes on.
#[tokio::test(start_paused = true)]
async fn an_inherited_deadline_frees_the_slot() {
    static ONE: Bulkhead = Bulkhead::new(1);
    #[retry(timeout = "1h", bulkhead = &ONE, on(_))]
    async fn call() -> Result<(), RetryError<&'static str>> {
        sleep(Duration::from_secs(60)).await;
        Ok(())
    }
    let end = deadline::within(Duration::from_secs(1), call()).await;
    assert_eq!(end.unwrap_err().reason(), GiveUpReason::Deadline);
    assert_eq!(ONE.running(), 0);
}

/// A copy takes a slot of its own, and is not started where there is none: then nothing pays for it either.
#[tokio::test(start_paused = true)]
async fn copies_take_slots() {
    static PAID: Budget = Budget::tokens(100);
    #[retry(max = 1, hedge = reattempt::Hedge::after(Duration::from_millis(10)).max(3), bulkhead = bulkhead, budget = &PAID, on(_))]
    async fn call(bulkhead: &Bulkhead, running: &Running) -> Result<(), RetryError<&'static str>> {
        let _ended = running.begin(bulkhead.limit());
        sleep(Duration::from_secs(1)).await;
        Ok(())
    }
    for (limit, copies) in [(1, 0), (2, 1), (3, 2), (9, 3)] {
        let (bulkhead, running) = (Bulkhead::new(limit), Running::default());
        let (before, most) = (PAID.balance(), Cell::new(0));
        let watch = async {
            for _ in 0..90 {
                sleep(Duration::from_millis(10)).await;
                most.set(most.get().max(running.0.get()));
            }
        };
        let (end, ()) = tokio::join!(call(&bulkhead, &running), watch);
        assert!(end.is_ok());
        assert_eq!((most.get(), bulkhead.running()), (1 + copies, 0));
        let paid = before - PAID.balance();
        assert!(
            (paid - 5.0 * f64::from(copies)).abs() < 5.0,
            "{limit}: {paid}"
        );
    }
}

/// A copy that the budget does not pay for gives its slot back at once.
#[tokio::test(start_paused = true)]
async fn an_empty_budget_takes_no_slot() {
    static EMPTY: Budget = Budget::per_success(0.001).floor(0.0).initial(0);
    #[retry(max = 1, hedge = "10ms", bulkhead = bulkhead, budget = &EMPTY, on(_))]
    async fn call(bulkhead: &Bulkhead) -> Result<u32, RetryError<&'static str>> {
        sleep(Duration::from_secs(1)).await;
        Ok(bulkhead.running())
    }
    assert_eq!(call(&Bulkhead::new(2)).await.unwrap(), 1);
}

#[test]
fn one_for_each_host() {
    static HOSTS: Keyed<String, Bulkhead> = Keyed::new(|_| Bulkhead::new(1)).capacity(100);
    #[retry(max = 1, bulkhead = HOSTS.get(host), on(_))]
    fn call(host: &str, inner: &dyn Fn() -> bool) -> Result<bool, RetryError<&'static str>> {
        Ok(inner())
    }
    let is_full = |host: &'static str| {
        move || call(host, &|| true).is_err_and(|end| end.reason() == GiveUpReason::BulkheadFull)
    };
    assert!(call("a", &is_full("a")).unwrap());
    assert!(!call("a", &is_full("b")).unwrap());
    assert_eq!(HOSTS.len(), 2);
}

#[test]
fn alone() {
    static ALONE: Bulkhead = Bulkhead::new(1);
    fn work() -> Result<u32, Full> {
        let _slot = ALONE.permit()?;
        Ok(ALONE.running())
    }
    let slot = ALONE.permit();
    assert!(slot.is_ok() && work().is_err());
    drop(slot);
    assert!(work().is_ok_and(|running| running == 1));
    assert_eq!(ALONE.running(), 0);
}

/// A slot is not lost while a call asks again for a value that is not final.
#[tokio::test(start_paused = true)]
async fn between_two_questions_the_slot_is_free() {
    static ONE: Bulkhead = Bulkhead::new(1);
    #[retry(max = 3, base = "1s", jitter = "none", until = |done: &u32| *done == 3, bulkhead = &ONE, on(_))]
    async fn call(calls: &Cell<u32>) -> Result<u32, RetryError<&'static str>> {
        assert_eq!(ONE.running(), 1);
        calls.set(calls.get() + 1);
        Ok(calls.get())
    }
    let (start, calls) = (Instant::now(), Cell::new(0));
    let look = async {
        sleep(Duration::from_millis(500)).await;
        ONE.running()
    };
    let (end, between) = tokio::join!(call(&calls), look);
    assert_eq!((end.unwrap(), between, ONE.running()), (3, 0, 0));
    assert_eq!(start.elapsed(), Duration::from_secs(3));
}

#[derive(Debug, Clone, Copy)]
enum Do {
    Start,
    Poll(usize),
    Drop(usize),
}

fn any_do() -> impl Strategy<Value = Do> {
    prop_oneof![
        Just(Do::Start),
        (0..8_usize).prop_map(Do::Poll),
        (0..8_usize).prop_map(Do::Drop),
    ]
}

#[retry(max = 3, bulkhead = bulkhead, timer = clock, on(_))]
async fn any_call(
    bulkhead: &Bulkhead,
    clock: &Still,
    running: &Running,
) -> Result<(), RetryError<&'static str>> {
    let _ended = running.begin(bulkhead.limit());
    yield_once().await;
    yield_once().await;
    Err("down")
}

proptest! {
    /// Calls that begin, go on and are dropped in any order: the attempts that run are never more than the limit, each
    /// has a slot, and nothing else has.
    #[test]
    fn never_more_than_the_limit(limit in 1..4_u32, steps in prop::collection::vec(any_do(), 0..200)) {
        let (bulkhead, clock, running) = (Bulkhead::new(limit), Still::pending(2), Running::default());
        let mut calls: Vec<Pin<Box<dyn Future<Output = Result<(), RetryError<&str>>> + '_>>> = Vec::new();
        let mut context = Context::from_waker(Waker::noop());
        for step in steps {
            match step {
                Do::Start => calls.push(Box::pin(any_call(&bulkhead, &clock, &running))),
                Do::Poll(which) if which < calls.len() => {
                    if calls[which].as_mut().poll(&mut context).is_ready() {
                        drop(calls.swap_remove(which));
                    }
                }
                Do::Drop(which) if which < calls.len() => drop(calls.swap_remove(which)),
                Do::Poll(_) | Do::Drop(_) => {}
            }
            prop_assert_eq!(running.0.get(), bulkhead.running());
        }
        drop(calls);
        prop_assert_eq!(bulkhead.running(), 0);
    }
}

/// A service that works on four calls at once, and answers after 50 ms.
struct Four(tokio::sync::Semaphore);

impl Four {
    async fn answer(&self) -> Result<(), &'static str> {
        let _place = self.0.acquire().await;
        sleep(Duration::from_millis(50)).await;
        Ok(())
    }
}

/// Thirty callers of a service call it again and again, for a minute.
async fn call_often<F: Future>(call: impl Fn() -> F) {
    let end = Instant::now() + Duration::from_secs(60);
    let caller = || async {
        while Instant::now() < end {
            call().await;
            sleep(Duration::from_millis(20)).await;
        }
    };
    futures::future::join_all((0..30).map(|_| caller())).await;
}

/// By function, block and runner: it learns from answers, and from attempts that were cut off.
#[tokio::test(start_paused = true)]
async fn an_adaptive_one_learns_from_calls() {
    #[retry(max = 1, timeout = "10s", bulkhead = size, on(_))]
    async fn function(size: &Bulkhead, four: &Four) -> Result<(), RetryError<&'static str>> {
        four.answer().await
    }
    #[retry(max = 1, timeout = "1s", bulkhead = size, on(_))]
    async fn hangs(size: &Bulkhead) -> Result<(), RetryError<&'static str>> {
        std::future::pending().await
    }

    let four = &Four(tokio::sync::Semaphore::new(4));
    let block = async |size: &Bulkhead| {
        retry_block!(
            max = 1,
            timeout = "10s",
            bulkhead = size,
            on(_),
            async || -> Result<(), RetryError<&'static str>> { four.answer().await }
        )
        .await
    };
    let runner = async |size: &Bulkhead| {
        let policy = Policy::new().max(1);
        let runner = policy.on(|_: &&str| true).bulkhead(size);
        runner.try_run_async(|| four.answer()).await
    };
    let sizes = [(); 4].map(|()| Bulkhead::adaptive());
    call_often(|| function(&sizes[0], four)).await;
    call_often(|| block(&sizes[1])).await;
    call_often(|| runner(&sizes[2])).await;
    call_often(|| hangs(&sizes[3])).await;
    let limits = sizes.each_ref().map(Bulkhead::limit);
    assert!(
        limits[..3].iter().all(|limit| (3..10).contains(limit)),
        "{limits:?}"
    );
    assert_eq!(limits[3], 2);
    assert_eq!(sizes.map(|size| size.running()), [0; 4]);
}
