//! `map_err`: the body speaks the error of a library, the function answers with one of its own.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use reattempt::{Breaker, GiveUpReason, Policy, RetryError, Throttle, retry, retry_block};

use crate::{Fault, Script, last, sendable};

/// The error of the caller, which has nothing in common with that of the body.
#[derive(Debug, PartialEq, Eq)]
struct AppError {
    reason: GiveUpReason,
    attempts: u32,
    fault: Option<Fault>,
}

impl From<RetryError<Fault>> for AppError {
    fn from(error: RetryError<Fault>) -> Self {
        Self {
            reason: error.reason(),
            attempts: error.attempts(),
            fault: error.into_last(),
        }
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        assert_eq!((self.reason, self.attempts), (GiveUpReason::Attempts, 3));
        fmt::Display::fmt(&self.fault.unwrap_or(Fault(0)), f)
    }
}

type AppResult<T> = Result<T, AppError>;

const POLICY: Policy = Policy::new().max(3).base(Duration::from_millis(1));

fn to_app(error: RetryError<Fault>) -> AppError {
    error.into()
}

#[retry(max = 3, backoff = "none", on(_), map_err = |error: RetryError<Fault>| AppError::from(error))]
fn closure(script: &Script) -> Result<u32, AppError> {
    let number = script.step()?;
    Ok(number)
}

#[retry(max = 3, backoff = "none", on(_), map_err = to_app)]
fn path(script: &Script) -> AppResult<u32> {
    script.step()
}

#[retry(max = 3, backoff = "none", on(_), map_err = AppError::from)]
fn path_of_a_trait(script: &Script) -> AppResult<u32> {
    Ok(script.step()?)
}

#[retry(max = 3, backoff = "none", on(_), map_err = |error: RetryError<_>| to_app(error))]
fn left_to_the_body(script: &Script) -> AppResult<u32> {
    script.step()
}

#[retry(max = 3, base = "1ns", deadline = "1h", on(_), map_err = to_app)]
fn deadline(script: &Script) -> AppResult<u32> {
    Ok(script.step()?)
}

#[retry(max = 3, base = "1ns", breaker = &BREAKER, throttle = &THROTTLE, on(_), map_err = to_app)]
fn gates(script: &Script) -> AppResult<u32> {
    Ok(script.step()?)
}

static BREAKER: Breaker = Breaker::count_window(100).min_calls(100);
static THROTTLE: Throttle = Throttle::cubic();

#[retry(policy = policy, base = "1ns", on(_), map_err = to_app)]
fn run_time(script: &Script, policy: Policy) -> AppResult<u32> {
    Ok(script.step()?)
}

#[retry(max = 3, backoff = "none", on(_), on_retry = |retry| assert!(retry.error().is_some()), map_err = to_app)]
fn watched(script: &Script) -> AppResult<u32> {
    Ok(script.step()?)
}

#[retry(max = 3, backoff = "none", on(_), until = |number| *number > 0, map_err = to_app)]
fn polled(script: &Script) -> AppResult<u32> {
    Ok(script.step()?)
}

#[retry(max = 3, backoff = "none", on(_), map_err = |error: RetryError<Fault>| error)]
fn to_itself(script: &Script) -> Result<u32, RetryError<Fault>> {
    script.step()
}

#[retry(max = 3, backoff = "none", on(_), map_err = to_app)]
fn hidden(script: &Script) -> Result<impl fmt::Display + use<>, AppError> {
    Ok(script.step()?)
}

fn block(script: &Script) -> AppResult<u32> {
    retry_block!(max = 3, backoff = "none", on(_), map_err = to_app, {
        script.step()
    })
}

fn typed_block(script: &Script) -> AppResult<u32> {
    let number = retry_block!(
        max = 3,
        backoff = "none",
        on(_),
        map_err = to_app,
        || -> AppResult<u32> { Ok(script.step()?) }
    )?;
    Ok(number)
}

shapes! {
    closure, path, path_of_a_trait, left_to_the_body, deadline, gates,
    run_time => |script| run_time(script, POLICY),
    watched, polled,
    to_itself => |script| last(to_itself(script)),
    hidden, block, typed_block,
}

#[retry(max = 3, on(_), map_err = |error: RetryError<Fault>| AppError::from(error))]
async fn closure_async(script: &Script) -> AppResult<u32> {
    let number = script.step_async().await?;
    Ok(number)
}

#[retry(max = 3, timeout = "1m", deadline = "1h", on(_), map_err = to_app)]
async fn limited(script: &Script) -> AppResult<u32> {
    Ok(script.step_async().await?)
}

#[retry(max = 3, breaker = &BREAKER, throttle = &THROTTLE, on(_), map_err = to_app)]
async fn gates_async(script: &Script) -> AppResult<u32> {
    Ok(script.step_async().await?)
}

#[retry(policy = policy, on(_), map_err = to_app)]
async fn run_time_async(script: &Script, policy: Policy) -> AppResult<u32> {
    Ok(script.step_async().await?)
}

#[retry(policy = POLICY, timeout = "1m", on(_), map_err = to_app)]
async fn constant_async(script: &Script) -> AppResult<u32> {
    Ok(script.step_async().await?)
}

#[retry(max = 3, on(_), until = |number| *number > 0, deadline = "1h", map_err = to_app)]
async fn polled_async(script: &Script) -> AppResult<u32> {
    Ok(script.step_async().await?)
}

#[retry(max = 3, on(_), hedge = "1m", before_retry = async |_| (), map_err = to_app)]
async fn hedged(script: &Script) -> AppResult<u32> {
    Ok(script.step_async().await?)
}

#[retry(max = 3, on(_), timeout = "1m", map_err = to_app)]
fn future(script: &Script) -> impl Future<Output = AppResult<u32>> + Send {
    async move { Ok(script.step_async().await?) }
}

#[retry(max = 3, on(_), timeout = "1m", map_err = to_app)]
fn boxed(script: &Script) -> Pin<Box<dyn Future<Output = AppResult<u32>> + Send + '_>> {
    Box::pin(async move { Ok(script.step_async().await?) })
}

#[retry(max = 3, on(_), timeout = "1m", map_err = to_app)]
fn made(script: &Script) -> impl Future<Output = AppResult<u32>> + Send {
    script.step_async()
}

async fn block_async(script: &Script) -> AppResult<u32> {
    retry_block!(max = 3, timeout = "1m", on(_), map_err = to_app, async {
        script.step_async().await
    })
    .await
}

async fn typed_block_async(script: &Script) -> AppResult<u32> {
    let called = retry_block!(
        max = 3,
        timeout = "1m",
        on(_),
        map_err = |error: RetryError<Fault>| AppError::from(error),
        async || -> AppResult<u32> { Ok(script.step_async().await?) }
    );
    Ok(called.await?)
}

struct Service {
    script: Script,
    policy: Policy,
    failed: u32,
}

fn service(script: &Script) -> Service {
    Service {
        script: script.clone(),
        policy: POLICY,
        failed: 0,
    }
}

impl Service {
    // The body and the mapper both change `self`.
    #[retry(policy = self.policy, on(_), map_err = |error: RetryError<Fault>| self.failed(error))]
    async fn method(&mut self) -> AppResult<u32> {
        self.failed = 0;
        Ok(self.script.step_async().await?)
    }

    fn failed(&mut self, error: RetryError<Fault>) -> AppError {
        self.failed += 1;
        error.into()
    }
}

#[retry(max = 3, backoff = "none", on(_), map_err = |error: RetryError<Fault>| Self::reported(error))]
impl Service {
    fn in_a_block(&self) -> AppResult<u32> {
        Ok(self.script.step()?)
    }

    async fn in_a_block_async(&self) -> AppResult<u32> {
        Ok(self.script.step_async().await?)
    }

    #[retry(never)]
    fn reported(error: RetryError<Fault>) -> AppError {
        error.into()
    }
}

#[async_trait]
trait Inner: Send + Sync {
    async fn below(&self) -> AppResult<u32>;
    async fn above(&mut self) -> AppResult<u32>;
}

#[async_trait]
impl Inner for Service {
    #[retry(max = 3, timeout = "1m", on(_), map_err = to_app)]
    async fn below(&self) -> AppResult<u32> {
        Ok(self.script.step_async().await?)
    }

    #[retry(policy = self.policy, on(_), map_err = |error: RetryError<Fault>| self.failed(error))]
    async fn above(&mut self) -> AppResult<u32> {
        self.failed = 0;
        Ok(self.script.step_async().await?)
    }
}

#[retry(max = 3, timeout = "1m", on(_), map_err = to_app)]
#[async_trait]
impl Outer for Service {
    async fn outer(&self) -> AppResult<u32> {
        Ok(self.script.step_async().await?)
    }
}

#[async_trait]
trait Outer {
    async fn outer(&self) -> AppResult<u32>;
}

async_shapes! {
    closure_async, limited, gates_async,
    run_time_async => async |script| run_time_async(script, POLICY).await,
    constant_async, polled_async, hedged, future, boxed, made, block_async, typed_block_async,
    method => async |script| service(script).method().await,
    in_a_block => async |script| service(script).in_a_block(),
    in_a_block_async => async |script| service(script).in_a_block_async().await,
    below => async |script| service(script).below().await,
    above => async |script| service(script).above().await,
    outer => async |script| service(script).outer().await,
    send => async |script| sendable(limited(script)).await,
}

/// A call that is cut off has no error of its own, and still an answer.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_cut_off_has_an_answer() {
    #[retry(max = 3, base = "1ms", timeout = "1s", on(_), map_err = to_app)]
    async fn hangs() -> AppResult<u8> {
        std::future::pending::<Result<u8, Fault>>()
            .await
            .map_err(|fault| fault)
    }
    #[retry(policy = policy, on(_), map_err = to_app)]
    async fn hangs_at_run_time(policy: Policy) -> AppResult<u8> {
        std::future::pending::<Result<u8, Fault>>().await
    }
    let ended = |reason, attempts| {
        Err(AppError {
            reason,
            attempts,
            fault: None,
        })
    };
    assert_eq!(hangs().await, ended(GiveUpReason::Attempts, 3));
    let policy = POLICY.timeout(Duration::from_secs(1));
    let end = hangs_at_run_time(policy).await;
    assert_eq!(end, ended(GiveUpReason::Attempts, 3));
    let policy = policy.deadline(Duration::from_millis(1500));
    let end = hangs_at_run_time(policy).await;
    assert_eq!(end, ended(GiveUpReason::Deadline, 2));
}

/// So has one that was turned away.
#[test]
fn a_call_that_is_turned_away_has_an_answer() {
    static OPEN: Breaker = Breaker::count_window(100).min_calls(100);
    #[retry(max = 3, breaker = &OPEN, on(_), map_err = to_app)]
    fn turned_away() -> AppResult<u8> {
        Ok(Err::<u8, Fault>(Fault(9))?)
    }
    OPEN.force_open();
    let end = turned_away().expect_err("the breaker is open");
    assert_eq!((end.reason, end.attempts), (GiveUpReason::BreakerOpen, 0));
    assert_eq!(end.fault, None);
}

/// It runs at the end of a call that failed, and at no other time.
#[test]
fn it_runs_once() {
    static MAPPED: AtomicU32 = AtomicU32::new(0);
    #[retry(max = 3, backoff = "none", on(_), map_err = |error: RetryError<Fault>| {
        MAPPED.fetch_add(1, Ordering::Relaxed);
        AppError::from(error)
    })]
    fn counted(script: &Script) -> AppResult<u32> {
        Ok(script.step()?)
    }
    assert_eq!(counted(&Script::failing(2)), Ok(3));
    assert_eq!(MAPPED.load(Ordering::Relaxed), 0);
    assert!(counted(&Script::failing(3)).is_err());
    assert_eq!(MAPPED.load(Ordering::Relaxed), 1);
}

/// What is no `Copy` is moved out of the mapper's surroundings.
#[test]
fn it_is_called_by_value() {
    let name = String::from("rates");
    let named = move |error: RetryError<Fault>| (name, error.attempts());
    let answer = retry_block!(max = 3, backoff = "none", on(_), map_err = named, {
        Err::<(), _>(Fault(1))
    });
    assert_eq!(answer, Err(("rates".to_owned(), 3)));
}
