//! The shapes of functions that limits stand on, each of which is retried, counted and turned away.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use reattempt::overload::breaker::State;
use reattempt::{
    Breaker, Budget, GiveUpReason, Hedge, Policy, RetryError, retry, retry_block, testing,
};

struct Service {
    breaker: Breaker,
    budget: Arc<Budget>,
    calls: AtomicU32,
}

impl Service {
    fn new(breaker: Breaker) -> Self {
        Self {
            breaker,
            budget: Arc::new(Budget::per_success(0.1).floor(0.0).initial(1)),
            calls: AtomicU32::new(0),
        }
    }

    fn called(&self) -> u32 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    #[retry(max = 5, base = "1ms", breaker = &self.breaker, on(_))]
    fn by_reference(&self) -> Result<(), RetryError<&'static str>> {
        self.called();
        Err("down")
    }

    #[retry(max = 5, base = "1ms", breaker = &self.breaker, budget = Arc::clone(&self.budget), on(_))]
    async fn borrowed(&self) -> Result<(), RetryError<&'static str>> {
        self.called();
        Err("down")
    }

    #[retry(max = 5, base = "1ms", budget = &self.budget, on(_))]
    fn changing(&mut self) -> Result<u32, RetryError<&'static str>> {
        *self.calls.get_mut() += 1;
        Err("down")
    }

    #[retry(max = 2, base = "1ms", hedge = "10ms", on(_))]
    async fn hedged(
        &self,
        name: &str,
        sizes: Vec<usize>,
    ) -> Result<usize, RetryError<&'static str>> {
        let call = self.called();
        if call == 1 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        Ok(name.len() + sizes.len() + call as usize)
    }
}

#[tokio::test(start_paused = true)]
async fn methods() {
    let _time = testing::virtual_time();
    let service = Service::new(Breaker::count_window(3));
    assert_eq!(
        service.by_reference().unwrap_err().reason(),
        GiveUpReason::BreakerOpen
    );
    assert_eq!(service.calls.load(Ordering::Relaxed), 3);
    assert_eq!(service.borrowed().await.unwrap_err().attempts(), 0);
    service.breaker.reset();
    // One in reserve, then the budget is empty before the breaker opens.
    assert_eq!(
        service.borrowed().await.unwrap_err().reason(),
        GiveUpReason::Budget
    );
    assert_eq!(service.calls.load(Ordering::Relaxed), 5);
    let mut service = Service::new(Breaker::count_window(3));
    assert_eq!(service.changing().unwrap_err().attempts(), 2);
    let service = Service::new(Breaker::count_window(3));
    assert_eq!(service.hedged("abc", vec![1]).await.unwrap(), 6);
}

/// A breaker of the type parameter's own, and a budget in a generic function.
trait Backend {
    const RETRIES: u32;
    fn breaker() -> &'static Breaker;
}

struct First;

impl Backend for First {
    const RETRIES: u32 = 4;

    fn breaker() -> &'static Breaker {
        static FIRST: Breaker = Breaker::count_window(3);
        &FIRST
    }
}

#[retry(max = B::RETRIES, base = "1ms", breaker = B::breaker(), budget = 0.1, on(_))]
fn generic<B: Backend, T: Clone>(
    value: &T,
    calls: &Cell<u32>,
) -> Result<T, RetryError<&'static str>> {
    calls.set(calls.get() + 1);
    if calls.get() < 3 {
        Err("down")
    } else {
        Ok(value.clone())
    }
}

#[test]
fn generics() {
    let _time = testing::virtual_time();
    let calls = Cell::new(0);
    assert_eq!(generic::<First, _>(&7, &calls).unwrap(), 7);
    assert_eq!((calls.get(), First::breaker().state()), (3, State::Open));
}

#[async_trait]
trait Fetch {
    async fn fetch(&self, url: String) -> Result<usize, RetryError<&'static str>>;
}

#[async_trait]
impl Fetch for Service {
    #[retry(max = 3, base = "1ms", breaker = &self.breaker, budget = &self.budget, hedge = Hedge::after(Duration::from_millis(5)).max(2), clone(url), on(_))]
    async fn fetch(&self, url: String) -> Result<usize, RetryError<&'static str>> {
        if self.called() == 1 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        Ok(url.len())
    }
}

#[retry(max = 2, hedge = "5ms", on(_))]
fn future(calls: &AtomicU32) -> impl Future<Output = Result<u32, RetryError<&'static str>>> {
    async move {
        let call = calls.fetch_add(1, Ordering::Relaxed) + 1;
        if call == 1 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        Ok(call)
    }
}

#[retry(max = 2, hedge = "5ms", budget = 0.1, on(_))]
fn boxed(
    calls: &AtomicU32,
) -> Pin<Box<dyn Future<Output = Result<u32, RetryError<&'static str>>> + Send + '_>> {
    Box::pin(async move {
        let call = calls.fetch_add(1, Ordering::Relaxed) + 1;
        if call == 1 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        Ok(call)
    })
}

#[tokio::test(start_paused = true)]
async fn futures_of_all_kinds() {
    let service = Service::new(Breaker::count_window(3));
    assert_eq!(service.fetch("ab".to_owned()).await.unwrap(), 2);
    assert_eq!(service.calls.load(Ordering::Relaxed), 2);
    assert_eq!(future(&AtomicU32::new(0)).await.unwrap(), 2);
    assert_eq!(boxed(&AtomicU32::new(0)).await.unwrap(), 2);
    let calls = AtomicU32::new(0);
    let block = retry_block!(
        max = 2,
        hedge = "5ms",
        context = attempt,
        on(_),
        async || -> Result<(u32, u32), RetryError<&'static str>> {
            let call = calls.fetch_add(1, Ordering::Relaxed) + 1;
            if call == 1 {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            Ok((call, attempt.number()))
        }
    );
    assert_eq!(block.await.unwrap(), (2, 1));
    // It can be sent to another thread, as without a hedge.
    fn sent<F: Future + Send>(future: F) -> F {
        future
    }
    let service = Arc::new(Service::new(Breaker::count_window(3)));
    let spawned = Arc::clone(&service);
    let answer = tokio::spawn(async move { sent(spawned.hedged("a", Vec::new())).await });
    assert_eq!(answer.await.unwrap().unwrap(), 3);
}

#[retry(max = 4, base = "1ms", breaker = &POLLED, budget = 0.5, until = |ready: &bool| *ready, on(_))]
async fn polled(calls: &Cell<u32>) -> Result<bool, RetryError<&'static str>> {
    calls.set(calls.get() + 1);
    Ok(calls.get() > 3)
}

static POLLED: Breaker = Breaker::count_window(2);

/// A value that is not final is an answer of the service, and asking again no retry.
#[tokio::test(start_paused = true)]
async fn polling() {
    let calls = Cell::new(0);
    for _ in 0..30 {
        calls.set(0);
        assert!(polled(&calls).await.unwrap());
        assert_eq!((calls.get(), POLLED.state()), (4, State::Closed));
    }
}

/// A policy of which only the running program knows brings its budget along.
#[test]
fn run_time_policies() {
    static BUDGET: Budget = Budget::per_success(0.1).floor(0.0).initial(3);
    #[retry(policy = policy, on(_))]
    fn call(policy: Policy, calls: &Cell<u32>) -> Result<(), RetryError<&'static str>> {
        calls.set(calls.get() + 1);
        Err("down")
    }
    let _time = testing::virtual_time();
    let calls = Cell::new(0);
    let policy = Policy::new().base(Duration::from_millis(1));
    assert_eq!(
        call(policy, &calls).unwrap_err().reason(),
        GiveUpReason::Attempts
    );
    let policy = policy.max(9).budget(&BUDGET);
    assert_eq!(call(policy, &calls).unwrap_err().attempts(), 4);
    let end = policy.on(|_: &&str| true).try_run(|| Err::<(), _>("down"));
    assert_eq!(end.unwrap_err().attempts(), 1);
    let other = Budget::tokens(10).cost(5);
    let runner = policy.on(|_: &&str| true).budget(&other);
    assert_eq!(
        runner
            .try_run(|| Err::<(), _>("down"))
            .unwrap_err()
            .attempts(),
        3
    );
}

struct Store;

/// Each method of a block has a budget of its own.
#[retry(max = 30, base = "1ms", budget = 0.1, on(_))]
impl Store {
    fn read(&self, calls: &Cell<u32>) -> Result<(), RetryError<&'static str>> {
        calls.set(calls.get() + 1);
        Err("down")
    }

    fn write(&self, calls: &Cell<u32>) -> Result<(), RetryError<&'static str>> {
        calls.set(calls.get() + 1);
        Err("down")
    }
}

#[test]
fn blocks_of_methods() {
    let _time = testing::virtual_time();
    let calls = Cell::new(0);
    assert_eq!(
        Store.read(&calls).unwrap_err().reason(),
        GiveUpReason::Budget
    );
    let read = calls.take();
    assert_eq!(
        Store.write(&calls).unwrap_err().reason(),
        GiveUpReason::Budget
    );
    assert_eq!((read, calls.get()), (11, 11));
}

/// What a task lends from itself does not keep it from being sent.
#[tokio::test(start_paused = true)]
async fn a_runner_in_a_task() {
    async fn guarded(policy: &Policy, breaker: &Breaker) -> Result<(), RetryError<&'static str>> {
        let runner = policy.on(|_: &&str| true).breaker(breaker);
        runner.try_run_async(async || Err("down")).await
    }

    let task = tokio::spawn(async {
        let (policy, breaker) = (Policy::new(), Breaker::count_window(2));
        guarded(&policy, &breaker).await
    });
    let end = task.await.unwrap().unwrap_err();
    assert_eq!(
        (end.reason(), end.attempts()),
        (GiveUpReason::BreakerOpen, 2)
    );
}
