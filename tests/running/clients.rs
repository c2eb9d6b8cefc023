//! Settings that live on a client hold for all its calls; a method overrides single keys, and a call brings another policy.

use std::cell::Cell;
use std::io::{Error, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use reattempt::runner::{Runner, SendSetup, WithLimits};
use reattempt::strategy::{Decision, FailedAttempt, from_fn};
use reattempt::timer::DefaultTimer;
use reattempt::{Breaker, Jitter, Policy, RetryError, retry, retry_block, testing};

/// A client of a service that fails always.
struct Client {
    policy: Policy,
    calls: Cell<u32>,
}

impl Client {
    fn new(policy: Policy) -> Self {
        Self {
            policy,
            calls: Cell::new(0),
        }
    }

    fn fail(&self) -> Result<(), &'static str> {
        self.calls.set(self.calls.get() + 1);
        Err("down")
    }

    #[retry(policy = self.policy, on(_))]
    fn plain(&self) -> Result<(), RetryError<&'static str>> {
        self.fail()
    }

    #[retry(policy = self.policy, on(_))]
    async fn plain_async(&self) -> Result<(), RetryError<&'static str>> {
        self.fail()
    }

    fn block(&self) -> Result<(), RetryError<&'static str>> {
        retry_block!(
            policy = self.policy,
            on(_),
            || -> Result<(), RetryError<&'static str>> { self.fail() }
        )
    }

    #[retry(policy = self.policy, max = 2, on(_))]
    fn fewer(&self) -> Result<(), RetryError<&'static str>> {
        self.fail()
    }

    #[retry(policy = self.policy, base = "3ms", on(_))]
    async fn other_base(&self) -> Result<(), RetryError<&'static str>> {
        self.fail()
    }

    #[retry(policy = self.policy, backoff = "fixed", cap = "2ms", base = "2ms", on(_))]
    fn other_shape(&self) -> Result<(), RetryError<&'static str>> {
        self.fail()
    }

    fn overridden_block(&self) -> Result<(), RetryError<&'static str>> {
        retry_block!(
            policy = self.policy,
            max = 3,
            on(_),
            || -> Result<(), RetryError<&'static str>> { self.fail() }
        )
    }
}

/// Calls that were made, and how long they took together with the delays.
fn ran(client: &Client, call: impl FnOnce(&Client)) -> (u32, Duration) {
    let time = testing::virtual_time();
    call(client);
    (client.calls.take(), time.elapsed())
}

fn ran_async(client: &Client, call: impl AsyncFnOnce(&Client)) -> (u32, Duration) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let start = tokio::time::Instant::now();
        call(client).await;
        (client.calls.take(), start.elapsed())
    })
}

/// What a policy says by itself.
fn expected(policy: Policy) -> (u32, Duration) {
    let max = policy.attempts().unwrap();
    (max, (0..max - 1).map(|retry| policy.delay(retry)).sum())
}

proptest! {
    #[test]
    fn a_method_is_retried_as_its_client_says(max in 1_u32..7, base in 1_u64..50, cap in 50_u64..400) {
        let ms = Duration::from_millis;
        let own = Policy::new().max(max).base(ms(base)).cap(ms(cap)).jitter(Jitter::None);
        let client = Client::new(own);
        let rounded = |(calls, time): (u32, Duration)| (calls, time.as_millis());

        prop_assert_eq!(ran(&client, |client| drop(client.plain())), expected(own));
        prop_assert_eq!(ran(&client, |client| drop(client.block())), expected(own));
        let asynchronous = ran_async(&client, async |client| drop(client.plain_async().await));
        prop_assert_eq!(rounded(asynchronous), rounded(expected(own)));

        // One key of a method; all others are the client's.
        prop_assert_eq!(ran(&client, |client| drop(client.fewer())), expected(own.max(2)));
        prop_assert_eq!(ran(&client, |client| drop(client.overridden_block())), expected(own.max(3)));
        let other = ran_async(&client, async |client| drop(client.other_base().await));
        prop_assert_eq!(rounded(other), rounded(expected(own.base(ms(3)))));
        let fixed = own.backoff(reattempt::Backoff::Fixed).base(ms(2)).cap(ms(2));
        prop_assert_eq!(ran(&client, |client| drop(client.other_shape())), expected(fixed));

        // One call that brings its own; the client stays as it was.
        let once = Client::new(own.max(1));
        prop_assert_eq!(ran(&once, |client| drop(client.plain())), expected(own.max(1)));
        prop_assert_eq!(ran(&client, |client| drop(client.plain())), expected(own));
    }
}

/// A client whose calls are spawned. It says in one place how all of them are retried.
#[derive(Default)]
struct Spawned {
    retries: AtomicU32,
}

impl Spawned {
    fn runner<'c>(&'c self, policy: &'c Policy) -> Runner<'c, impl SendSetup<Error>> {
        let runner = policy.on(|_: &Error| true);
        runner.on_retry(|_| _ = self.retries.fetch_add(1, Ordering::Relaxed))
    }

    /// With all that a runner can have.
    fn limited<'c>(
        policy: &'c Policy,
        breaker: &'c Breaker,
    ) -> Runner<'c, impl SendSetup<Error, DefaultTimer, WithLimits>> {
        let once = |failure: &FailedAttempt<'_, Error>| match failure.retry() {
            0 => Decision::Retry(Duration::ZERO),
            _ => Decision::Stop,
        };
        policy
            .on(|_: &Error| true)
            .strategy(from_fn(once))
            .breaker(breaker)
    }

    async fn load(&self) -> [u32; 2] {
        let policy = Policy::new().max(3);
        let breaker = Breaker::count_window(20);
        let fail = async || Err::<(), _>(Error::from(ErrorKind::TimedOut));
        let plain = self.runner(&policy).try_run_async(fail).await;
        let limited = Self::limited(&policy, &breaker).try_run_async(fail).await;
        [plain, limited].map(|ended| ended.unwrap_err().attempts())
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_runner_without_a_name_runs_can_be_spawned() {
    let client = Arc::<Spawned>::default();
    let spawned = tokio::spawn({
        let client = Arc::clone(&client);
        async move { client.load().await }
    });
    assert_eq!(spawned.await.unwrap(), [3, 2]);
    assert_eq!(client.retries.load(Ordering::Relaxed), 2);
}
