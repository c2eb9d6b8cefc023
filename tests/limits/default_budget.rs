//! The budget of an operation that names none.

use std::cell::Cell;
use std::future::{Ready, ready};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use reattempt::{Breaker, GiveUpReason, Policy, RetryError, retry, retry_block, testing};

/// Fails `left` times, and then succeeds.
#[derive(Default)]
struct Service {
    left: Cell<u32>,
    calls: Cell<u32>,
}

impl Service {
    fn failing(left: u32) -> Self {
        let service = Self::default();
        service.left.set(left);
        service
    }

    fn answer(&self) -> Result<u32, &'static str> {
        self.calls.set(self.calls.get() + 1);
        match self.left.get() {
            0 => Ok(self.calls.get()),
            left => {
                self.left.set(left - 1);
                Err("down")
            }
        }
    }
}

type Answer = Result<u32, RetryError<&'static str>>;

/// Calls until one ends for want of tokens. Returns how many have used up their attempts before.
fn calls_until_refused(mut call: impl FnMut(&Service) -> Answer) -> Option<u32> {
    for calls in 0..50 {
        let end = call(&Service::failing(u32::MAX)).expect_err("nothing succeeds");
        if end.reason() == GiveUpReason::Budget {
            return Some(calls);
        }
        assert_eq!(end.reason(), GiveUpReason::Attempts);
    }
    None
}

macro_rules! operation {
    ($name:ident, $($keys:tt)*) => {
        #[retry($($keys)*, on(_))]
        fn $name(service: &Service) -> Answer {
            service.answer()
        }
    };
}

/// Four tokens: the second call takes two more than there are, in the second that is free; then it is over.
#[test]
fn calls_that_fail_in_vain_end_together() {
    operation!(
        vain,
        max = 3,
        backoff = "fixed",
        base = "700ms",
        jitter = "none"
    );
    let time = testing::virtual_time();
    let _limits = testing::default_budgets(true);
    assert_eq!(calls_until_refused(vain), Some(2));
    // The first attempt is always made.
    let service = Service::failing(u32::MAX);
    assert_eq!(vain(&service).expect_err("down").attempts(), 1);
    assert_eq!(service.calls.get(), 1);
    drop(time);
}

/// A call whose retries help pays nothing, whatever share of the attempts fails.
#[test]
fn calls_that_recover_are_never_refused() {
    operation!(recovers, max = 3, backoff = "fixed", base = "2s");
    let _time = testing::virtual_time();
    let _limits = testing::default_budgets(true);
    for _ in 0..100 {
        assert_eq!(recovers(&Service::failing(2)).ok(), Some(3));
    }
}

#[test]
fn a_lone_call_makes_all_its_attempts() {
    operation!(lone, max = 20, backoff = "fixed", base = "2s");
    let _time = testing::virtual_time();
    let _limits = testing::default_budgets(true);
    let end = lone(&Service::failing(u32::MAX)).expect_err("down");
    assert_eq!((end.reason(), end.attempts()), (GiveUpReason::Attempts, 20));
}

/// Thirty successes at once bring nine tokens: as many as are missing.
#[test]
fn successes_fill_it_again() {
    operation!(fills, max = 5, backoff = "fixed", base = "2s");
    let _time = testing::virtual_time();
    let _limits = testing::default_budgets(true);
    assert_eq!(calls_until_refused(fills), Some(1));
    for _ in 0..30 {
        assert!(fills(&Service::failing(0)).is_ok());
    }
    assert_eq!(calls_until_refused(fills), Some(1));
}

#[test]
fn a_short_fault_is_retried_in_full() {
    operation!(short, max = 3, backoff = "none");
    let _time = testing::virtual_time();
    let _limits = testing::default_budgets(true);
    assert_eq!(calls_until_refused(short), None);
}

macro_rules! is_exempt {
    ($($name:ident($($keys:tt)*);)*) => {
        $(#[test]
        fn $name() {
            operation!(operation, $($keys)*);
            let _time = testing::virtual_time();
            let _limits = testing::default_budgets(true);
            assert_eq!(calls_until_refused(operation), None);
        })*
    };
}

const OWN: Policy = Policy::new()
    .max(3)
    .base(Duration::from_secs(2))
    .without_budget();

is_exempt! {
    without_a_budget(max = 3, base = "2s", budget = "none");
    a_policy_without_one(policy = OWN);
    with_a_budget_of_its_own(max = 3, base = "2s", budget = reattempt::Budget::tokens(10_000));
    that_starts_anew(max = 3, base = "2s", reset_after = "1h");
    by_a_strategy(max = 3, strategy = |_| reattempt::strategy::Decision::Retry(Duration::from_secs(2)));
}

/// What asks again for a value that is not final retries nothing.
#[test]
fn polls_are_free() {
    #[retry(max = 20, backoff = "fixed", base = "2s", until = |left: &u32| *left == 0, on(_))]
    fn poll(left: &Cell<u32>) -> Answer {
        left.set(left.get() - 1);
        Ok(left.get())
    }
    let _time = testing::virtual_time();
    let _limits = testing::default_budgets(true);
    for _ in 0..5 {
        assert_eq!(poll(&Cell::new(15)).ok(), Some(0));
    }
}

/// The breaker opens during the delay: the retry was paid for, and is not made.
#[test]
fn a_retry_that_a_gate_refuses_gives_its_token_back() {
    static BREAKER: Breaker = Breaker::count_window(20);
    operation!(
        refused,
        max = 3,
        base = "2s",
        breaker = &BREAKER,
        on_retry = |_| BREAKER.force_open()
    );
    let _time = testing::virtual_time();
    let _limits = testing::default_budgets(true);
    for _ in 0..10 {
        BREAKER.force_closed();
        let end = refused(&Service::failing(u32::MAX)).expect_err("down");
        assert_eq!(
            (end.reason(), end.attempts()),
            (GiveUpReason::BreakerOpen, 1)
        );
    }
}

/// Fails each call, and is closed when it is asked again.
#[derive(Clone, Default)]
struct Closing(Arc<AtomicBool>);

impl tower::Service<()> for Closing {
    type Response = ();
    type Error = io::Error;
    type Future = Ready<io::Result<()>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(if self.0.swap(false, Ordering::Relaxed) {
            Err(io::ErrorKind::BrokenPipe.into())
        } else {
            Ok(())
        })
    }

    fn call(&mut self, (): ()) -> Self::Future {
        self.0.store(true, Ordering::Relaxed);
        ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

/// The service is closed when the delay is over: the retry was paid for, and is not made.
#[tokio::test(start_paused = true)]
async fn a_retry_without_a_service_gives_its_token_back() {
    use tower::{Layer as _, ServiceExt as _};

    let _limits = testing::default_budgets(true);
    let policy = Policy::new().max(3).base(Duration::from_secs(2));
    let layer = reattempt::tower::RetryLayer::new(policy);
    // All its clones are one operation.
    let client = layer.layer(Closing::default());
    for call in 0..10 {
        let error = client.clone().oneshot(()).await.expect_err("closed");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe, "call {call}");
    }
}

/// Under a policy of the running program, as under a constant.
#[test]
fn a_policy_of_the_running_program_shares_one_too() {
    struct Client {
        policy: Policy,
    }
    impl Client {
        #[retry(policy = self.policy, on(_))]
        fn call(&self, service: &Service) -> Answer {
            service.answer()
        }
    }
    let _time = testing::virtual_time();
    let _limits = testing::default_budgets(true);
    let policy = Policy::new().max(3).base(Duration::from_secs(2));
    let client = Client { policy };
    assert_eq!(calls_until_refused(|service| client.call(service)), Some(2));
    let policy = policy.without_budget();
    let client = Client { policy };
    assert_eq!(calls_until_refused(|service| client.call(service)), None);
}

#[test]
fn each_function_and_block_has_its_own() {
    operation!(first, max = 3, base = "2s");
    operation!(second, max = 3, base = "2s");
    let _time = testing::virtual_time();
    let _limits = testing::default_budgets(true);
    assert_eq!(calls_until_refused(first), Some(2));
    assert_eq!(calls_until_refused(second), Some(2));
    let block = |service: &Service| {
        retry_block!(max = 3, base = "2s", on(_), || -> Answer {
            service.answer()
        })
    };
    assert_eq!(calls_until_refused(block), Some(2));
}

/// Async calls take from the same tokens, and a call that is dropped has not succeeded.
#[tokio::test(start_paused = true)]
async fn async_calls_share_one() {
    #[retry(max = 3, backoff = "fixed", base = "2s", jitter = "none", on(_))]
    async fn call(service: &Service) -> Answer {
        service.answer()
    }
    let _limits = testing::default_budgets(true);
    for _ in 0..20 {
        assert!(call(&Service::failing(2)).await.is_ok());
    }
    let service = Service::failing(u32::MAX);
    let dropped = tokio::time::timeout(Duration::from_secs(3), call(&service)).await;
    assert!(dropped.is_err());
    let mut reasons = Vec::new();
    for _ in 0..3 {
        let end = call(&Service::failing(u32::MAX)).await.expect_err("down");
        reasons.push(end.reason());
    }
    use GiveUpReason::{Attempts, Budget};
    assert_eq!(reasons, [Attempts, Budget, Budget]);
    for _ in 0..14 {
        assert!(call(&Service::failing(0)).await.is_ok());
    }
    assert!(call(&Service::failing(2)).await.is_ok());
}

/// Tests of users are not limited unless they ask for it: neither in virtual time nor while tokio's clock is paused.
#[tokio::test(start_paused = true)]
async fn tests_are_not_limited() {
    operation!(tested, max = 3, base = "2s");
    let time = testing::virtual_time();
    assert_eq!(calls_until_refused(tested), None);
    drop(time);
    assert!(reattempt_core::process::is_test());
}

#[test]
fn no_test_runs_by_itself() {
    assert!(!reattempt_core::process::is_test());
}
