//! The key `priority`: who inherits it, and what limits refuse to calls of a low one.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use reattempt::overload::budget::FailureClass;
use reattempt::policy::Priority;
use reattempt::timer::{Clock, Timestamp};
use reattempt::tower::RetryLayer;
use reattempt::{
    Budget, Bulkhead, GiveUpReason, Hedge, Policy, RetryError, Throttle, Verdict, deadline,
    nesting, retry, retry_block, testing,
};
use reattempt_core::around::is_low;
use tower::{Layer as _, ServiceExt as _, service_fn};

use crate::bombs::yield_once;

const LOW: Policy = Policy::new().base(MS).priority(Priority::Low);
const MS: Duration = Duration::from_millis(1);

type Answer = Result<bool, RetryError<&'static str>>;

/// Whether each of two attempts and what runs after a wait has a low priority: the first attempt fails.
#[derive(Debug, Default)]
struct Seen(Cell<u32>, Cell<u32>);

impl Seen {
    fn look(&self) {
        self.0.set(self.0.get() + 1);
        self.1.set(self.1.get() + u32::from(is_low()));
    }

    /// The deadline is there, too.
    fn in_time(&self, seconds: u64) {
        let left = deadline::remaining().expect("it has one");
        assert!(left <= Duration::from_secs(seconds), "{left:?}, {self:?}");
    }

    fn attempt(&self) -> Result<bool, &'static str> {
        self.look();
        if self.0.get() < 2 {
            Err("down")
        } else {
            Ok(true)
        }
    }

    async fn attempt_async(&self) -> Result<bool, &'static str> {
        let before = self.0.get();
        self.look();
        yield_once().await;
        self.look();
        if before == 0 { Err("down") } else { Ok(true) }
    }

    /// All looks have seen a low priority, of which there were so many, and nothing is left of it.
    #[track_caller]
    fn assert_all(self, looks: u32) {
        assert_eq!((self.0.get(), self.1.get()), (looks, looks));
        assert!(!is_low());
    }
}

#[test]
fn each_sync_form_hands_it_down() {
    #[retry(priority = "low", base = "1ms", on(_))]
    fn by_key(seen: &Seen) -> Result<bool, &'static str> {
        seen.attempt()
    }
    #[retry(priority = "low", base = "1ms", deadline = "1m", on(_))]
    fn with_deadline(seen: &Seen) -> Result<bool, &'static str> {
        seen.in_time(60);
        seen.attempt()
    }
    #[retry(policy = LOW, on(_))]
    fn constant(seen: &Seen) -> Result<bool, &'static str> {
        seen.attempt()
    }
    #[retry(policy = policy, on(_))]
    fn running(policy: Policy, seen: &Seen) -> Result<bool, &'static str> {
        seen.attempt()
    }
    fn block(seen: &Seen) -> Result<bool, &'static str> {
        retry_block!(priority = "low", base = "1ms", on(_), || seen.attempt())
    }
    let _time = testing::virtual_time();
    let forms: [fn(&Seen) -> bool; 7] = [
        |seen| by_key(seen).is_ok(),
        |seen| with_deadline(seen).is_ok(),
        |seen| constant(seen).is_ok(),
        |seen| running(LOW, seen).is_ok(),
        |seen| block(seen).is_ok(),
        |seen| LOW.on(|_: &&str| true).run(|| seen.attempt()).is_ok(),
        |seen| LOW.on(|_: &&str| true).try_run(|| seen.attempt()).is_ok(),
    ];
    for (number, form) in forms.into_iter().enumerate() {
        let seen = Seen::default();
        assert!(form(&seen), "{number}");
        seen.assert_all(2);
    }
    let seen = Seen::default();
    assert!(running(LOW.priority(Priority::Normal), &seen).is_ok());
    assert_eq!((seen.0.get(), seen.1.get()), (2, 0));
}

/// Polls it until it is done; between two polls nothing has a low priority.
async fn alone<R>(future: impl Future<Output = R>) -> R {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| {
        let polled = future.as_mut().poll(cx);
        assert!(!is_low());
        polled
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn each_async_form_hands_it_down() {
    #[retry(priority = "low", base = "1ms", on(_))]
    async fn by_key(seen: &Seen) -> Result<bool, &'static str> {
        seen.attempt_async().await
    }
    #[retry(priority = "low", base = "1ms", timeout = "1s", deadline = "1m", on(_))]
    async fn with_limits(seen: &Seen) -> Answer {
        seen.in_time(1);
        seen.attempt_async().await
    }
    #[retry(policy = LOW, on(_))]
    async fn constant(seen: &Seen) -> Result<bool, &'static str> {
        seen.attempt_async().await
    }
    #[retry(policy = policy, on(_))]
    async fn running(policy: &Policy, seen: &Seen) -> Answer {
        seen.attempt_async().await
    }
    async fn block(seen: &Seen) -> Result<bool, &'static str> {
        retry_block!(priority = "low", base = "1ms", on(_), async || {
            seen.attempt_async().await
        })
        .await
    }
    let seen = || Seen::default();
    let all = [seen(), seen(), seen(), seen(), seen(), seen(), seen()];
    assert!(alone(by_key(&all[0])).await.is_ok());
    assert!(alone(with_limits(&all[1])).await.is_ok());
    assert!(alone(constant(&all[2])).await.is_ok());
    assert!(alone(running(&LOW, &all[3])).await.is_ok());
    assert!(alone(block(&all[4])).await.is_ok());
    let runner = LOW.on(|_: &&str| true);
    let answer = runner.try_run_async(async || all[5].attempt_async().await);
    assert!(alone(answer).await.is_ok());
    let service = RetryLayer::new(LOW).layer(service_fn(async |()| {
        let answer = all[6].attempt_async().await;
        answer.map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))
    }));
    assert!(alone(service.oneshot(())).await.is_ok());
    for seen in all {
        seen.assert_all(4);
    }
}

#[tokio::test(start_paused = true)]
async fn the_lower_one_wins_and_a_spawned_task_inherits_none() {
    #[retry(priority = "normal")]
    async fn inner() -> Result<bool, RetryError<Infallible>> {
        let spawned = tokio::spawn(async { is_low() }).await;
        assert!(!spawned.expect("it does not panic"));
        let inside = nesting::scope(nesting::current(), async { is_low() });
        assert!(tokio::spawn(inside).await.expect("it does not panic"));
        let here = nesting::current();
        let inside = move || nesting::scope_blocking(&here, is_low);
        let spawned = tokio::task::spawn_blocking(inside).await;
        assert!(spawned.expect("it does not panic"));
        assert!(nesting::isolate(async { is_low() }).await);
        assert!(!deadline::isolate(async { is_low() }).await);
        deadline::within(MS, async { assert!(is_low()) }).await;
        Ok(is_low())
    }
    #[retry(priority = "low", on = |_| false)]
    async fn outer() -> Result<bool, RetryError<Infallible>> {
        Ok(inner().await.is_ok_and(|is_low| is_low))
    }
    assert!(outer().await.unwrap());
    assert_eq!(inner_alone().await, Ok(false));
}

#[retry(priority = "normal")]
async fn inner_alone() -> Result<bool, Infallible> {
    Ok(is_low())
}

/// A call of another priority in the same task, while the first one waits.
#[test]
fn a_neighbour_has_its_own() {
    #[retry(priority = "low", base = "1ms", on(_))]
    async fn low() -> Result<bool, &'static str> {
        yield_once().await;
        Ok(is_low())
    }
    let (mut low, mut other) = (pin!(low()), pin!(inner_alone()));
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(low.as_mut().poll(cx).is_pending());
    assert_eq!(other.as_mut().poll(cx), Poll::Ready(Ok(false)));
    assert_eq!(low.as_mut().poll(cx), Poll::Ready(Ok(true)));
}

/// Runs it inside a call of a low priority.
fn inside<R>(f: impl FnOnce() -> R) -> R {
    let mut f = Some(f);
    let run = || Ok::<_, Infallible>((f.take().expect("there is one attempt"))());
    let Ok(answer) = Policy::new().max(1).priority(Priority::Low).run(run);
    answer
}

/// How many retries a budget pays for: to calls of a low priority, and then to others.
fn paid(budget: &Budget) -> (usize, usize) {
    let pay = || {
        let mut calls = 0;
        let mut call = budget.account();
        while calls < 1000 && call.withdraw(FailureClass::Failed) {
            call.spend();
            call = budget.account();
            calls += 1;
        }
        calls
    };
    (inside(pay), pay())
}

#[test]
fn half_of_a_budget_is_closed() {
    let time = testing::virtual_time();
    assert_eq!(paid(&Budget::tokens(100)), (10, 10));
    // Half of 55 is closed, rounded up: 27 pay for 5.
    assert_eq!(paid(&Budget::tokens(55)), (5, 6));
    let reserve = |initial| Budget::per_success(0.1).floor(0.0).initial(initial);
    assert_eq!(paid(&reserve(10)), (5, 5));
    assert_eq!(paid(&reserve(1)), (0, 1));
    let floor = Budget::per_success(0.1).floor(1.0).initial(0);
    assert_eq!(paid(&floor), (0, 0));
    time.advance(Duration::from_secs(2));
    assert_eq!(paid(&floor), (0, 1));
    assert_eq!(
        paid(&Budget::per_success(0.1).floor(1.0).initial(10)),
        (5, 5)
    );

    let earned = Budget::per_success(0.5).floor(0.0).initial(0);
    for _ in 0..40 {
        earned.account().succeeded();
    }
    // Of the twenty that forty successes have brought.
    assert_eq!(paid(&earned), (10, 10));
    let requests = Budget::per_request(1.0).floor(0.0).initial(0);
    let accounts: Vec<_> = (0..20).map(|_| requests.account()).collect();
    let (low, _) = paid(&requests);
    // Each call that asks brings one more.
    assert!(low > 10, "{low}");
    drop(accounts);

    // Retries of gRPC are free: they end at half of the tokens, and those of a low priority at three quarters.
    let grpc = Budget::grpc(8, 0.1);
    let fails = || {
        let mut call = grpc.account();
        call.failed(Verdict::Transient);
        call.withdraw(FailureClass::Failed)
    };
    let low = inside(|| (0..8).take_while(|_| fails()).count());
    assert_eq!(low, 1);
    assert_eq!((0..8).take_while(|_| fails()).count(), 1);
}

/// Past the first second of a fault, in which all retries are free.
#[test]
fn half_of_a_refunding_budget_is_closed() {
    let time = testing::virtual_time();
    let budget = Budget::refunding(8);
    let mut first = budget.account();
    assert!(first.withdraw(FailureClass::Failed));
    first.spend();
    time.advance(Duration::from_millis(1500));
    // Of eight tokens one is spent: three are open, and then four more.
    assert_eq!(paid(&budget), (3, 4));
}

/// That of the operation's own.
#[test]
fn half_of_the_default_budget_is_closed() {
    let time = testing::virtual_time();
    let _limits = testing::default_budgets(true);
    #[retry(max = 9, backoff = "fixed", base = "400ms", jitter = "none", on(_))]
    fn fails(calls: &Cell<u32>) -> Answer {
        calls.set(calls.get() + 1);
        Err("down")
    }
    let calls = Cell::new(0);
    let end = inside(|| fails(&calls)).unwrap_err();
    // Four of eight tokens; the other four are closed.
    assert_eq!((end.reason(), calls.get()), (GiveUpReason::Budget, 5));
    time.advance(Duration::from_secs(2));
    let end = fails(&Cell::new(0)).unwrap_err();
    assert_eq!((end.reason(), end.attempts()), (GiveUpReason::Budget, 5));
}

/// The same by the key of the operation itself, which its budget is asked under.
#[test]
fn the_priority_of_the_call_counts_for_its_own_limits() {
    let _time = testing::virtual_time();
    static BUDGET: Budget = Budget::tokens(40);
    static SLOTS: Bulkhead = Bulkhead::new(4);
    #[retry(priority = "low", max = 9, base = "1ms", budget = &BUDGET, on(_))]
    fn fails() -> Answer {
        Err("down")
    }
    #[retry(priority = "low", bulkhead = &SLOTS, on(_))]
    fn limited() -> Answer {
        Ok(true)
    }
    assert_eq!(fails().unwrap_err().attempts(), 5);
    // Of gRPC's budget the failure itself is the price.
    static GRPC: Budget = Budget::grpc(8, 0.1);
    #[retry(priority = "low", max = 9, base = "1ms", budget = &GRPC, on(_))]
    fn fails_too() -> Answer {
        Err("down")
    }
    assert_eq!(fails_too().unwrap_err().attempts(), 2);
    let first = SLOTS.permit();
    assert!(limited().is_ok());
    let second = SLOTS.permit();
    assert_eq!(limited().unwrap_err().reason(), GiveUpReason::BulkheadFull);
    assert!(SLOTS.permit().is_ok());
    drop((first, second));
    let policy = LOW.max(1);
    let slots = [SLOTS.permit(), SLOTS.permit()];
    let runner = policy.runner().bulkhead(&SLOTS);
    let end = runner
        .try_run(|| Err::<u8, _>(std::io::Error::other("")))
        .unwrap_err();
    assert_eq!(end.reason(), GiveUpReason::BulkheadFull);
    drop(slots);
}

#[test]
fn half_of_a_bulkhead_is_closed() {
    for (limit, open) in [(1, 1), (2, 1), (3, 2), (4, 2), (9, 5)] {
        let bulkhead = Bulkhead::new(limit);
        let take = || std::iter::from_fn(|| bulkhead.permit().ok()).collect::<Vec<_>>();
        let low = inside(take);
        let others = take();
        assert_eq!((low.len(), others.len()), (open, limit as usize - open));
    }
}

#[tokio::test(start_paused = true)]
async fn a_copy_of_a_hedge_has_the_priority_of_its_call() {
    static BUDGET: Budget = Budget::per_success(0.1).floor(0.0).initial(2);
    #[retry(priority = "low", hedge = HEDGE, budget = &BUDGET, on(_))]
    async fn search(copies: &Cell<u32>) -> Answer {
        copies.set(copies.get() + 1);
        assert!(is_low());
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(true)
    }
    const HEDGE: Hedge = Hedge::after(Duration::from_millis(50)).max(3);
    let copies = Cell::new(0);
    assert!(search(&copies).await.is_ok());
    // One of two tokens is open.
    assert_eq!(copies.get(), 2);
}

/// A clock and a random number that a test sets by hand.
#[derive(Default)]
struct Hand(Cell<Duration>, Cell<u64>);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs(100) + self.0.get())
    }

    fn random(&self) -> u64 {
        self.1.get()
    }
}

/// How often of a hundred draws a throttle refuses a call that ends with nothing.
fn refused(throttle: &Throttle, clock: &Hand) -> usize {
    let draw = |number: &u64| {
        // In the middle of each hundredth.
        clock.1.set(number * (u64::MAX / 100) + u64::MAX / 200);
        throttle.permit_with_clock(clock).is_err()
    };
    (0..100).filter(draw).count()
}

#[test]
fn an_adaptive_throttle_refuses_low_calls_first() {
    let (throttle, clock) = (Throttle::adaptive(), Hand::default());
    for number in 0..100 {
        let permit = throttle
            .permit_with_clock(&clock)
            .expect("half are accepted");
        if number % 2 == 0 {
            permit.succeeded_with_clock(&clock);
        } else {
            permit.failed_with_clock(Verdict::Throttled(None), &clock);
        }
    }
    let share = || throttle.rejection_probability_with_clock(&clock).to_bits();
    let before = share();
    // 50 of 100 were accepted: one call for each that is, in place of two. 50 of 101 are refused.
    assert_eq!(inside(|| refused(&throttle, &clock)), 50);
    assert_eq!(share(), before);
    assert_eq!(refused(&throttle, &clock), 0);

    // A factor that is below two is not halved below one: what is accepted is not refused.
    let (throttle, clock) = (Throttle::adaptive().factor(1.2), Hand::default());
    for _ in 0..100 {
        let permit = throttle
            .permit_with_clock(&clock)
            .expect("all are accepted");
        permit.succeeded_with_clock(&clock);
    }
    assert_eq!(inside(|| refused(&throttle, &clock)), 0);

    // Nothing is accepted: the ceilings.
    let (throttle, clock) = (Throttle::adaptive(), Hand::default());
    for _ in 0..1000 {
        clock.1.set(u64::MAX);
        let permit = throttle.permit_with_clock(&clock).expect("by chance");
        permit.failed_with_clock(Verdict::Transient, &clock);
    }
    assert_eq!(inside(|| refused(&throttle, &clock)), 90);
    assert_eq!(refused(&throttle, &clock), 80);
}

#[test]
fn a_low_call_waits_half_as_long_for_a_rate() {
    let second = Duration::from_secs(1);
    let (throttle, clock) = (
        Throttle::rate(1, second).max_wait(8 * second),
        Hand::default(),
    );
    let take =
        || std::iter::from_fn(|| throttle.permit_with_clock(&clock).ok()).collect::<Vec<_>>();
    let low = inside(take);
    let others = take();
    // One begins at once.
    assert_eq!((low.len(), others.len()), (1 + 4, 4));
    let mut last = low.into_iter().next_back().expect("the last in line");
    clock.0.set(Duration::from_millis(1));
    assert!(inside(|| last.wait_with_clock(&clock)).is_ok());
    clock.0.set(4 * second);
    assert!(last.wait_with_clock(&clock).is_ok());
    clock.0.set(Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_low_call_waits_half_as_long_for_a_cubic_throttle() {
    static THROTTLE: Throttle = Throttle::cubic().max_wait(Duration::from_secs(10));
    #[retry(priority = "low", max = 1, throttle = &THROTTLE, on(_))]
    async fn low() -> Answer {
        Ok(true)
    }
    #[retry(max = 1, throttle = &THROTTLE, on(_))]
    async fn other() -> Answer {
        Ok(true)
    }
    let permit = THROTTLE.permit().unwrap();
    permit.failed(Verdict::Throttled(None));
    // A call in two seconds; those in front never begin.
    let _line: Vec<_> = (0..9).map(|_| THROTTLE.permit().unwrap()).collect();
    let start = tokio::time::Instant::now();
    let end = low().await.unwrap_err();
    assert_eq!(end.reason(), GiveUpReason::Throttle);
    assert_eq!(start.elapsed().as_secs(), 5);
    let start = tokio::time::Instant::now();
    let end = other().await.unwrap_err();
    assert_eq!(end.reason(), GiveUpReason::Throttle);
    assert_eq!(start.elapsed().as_secs(), 10);
}
