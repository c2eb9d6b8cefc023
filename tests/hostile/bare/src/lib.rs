//! No `std`, no allocator: a timer of the user's own, and everything else as
//! usual.
#![no_std]
#![deny(missing_docs)]

use core::cell::Cell;
use core::future::{Future, Ready, ready};
use core::time::Duration;

use reattempt::timer::{BlockingTimer, Clock, Timer, Timestamp};
use reattempt::{Classify, GaveUp, Policy, Retry, RetryError, Verified, retry, retry_block};

/// A clock that goes on only while somebody sleeps.
#[derive(Debug, Default)]
pub struct Hand(Cell<Duration>);

impl Hand {
    /// Time slept so far.
    pub fn slept(&self) -> Duration {
        self.0.get()
    }

    /// A slow operation.
    pub fn spend(&self, duration: Duration) {
        self.0.set(self.0.get().saturating_add(duration));
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(self.0.get())
    }
}

impl BlockingTimer for Hand {
    fn sleep(&self, duration: Duration) {
        self.spend(duration);
    }
}

impl Timer for Hand {
    type Sleep = Ready<()>;

    fn sleep(&self, duration: Duration) -> Ready<()> {
        self.spend(duration);
        ready(())
    }
}

/// What can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Classify)]
pub enum Fault {
    /// Try again.
    #[retry(transient)]
    Busy,
    /// Never again.
    #[retry(permanent)]
    Wrong,
    /// Out of time.
    #[retry(forbidden)]
    Over,
}

impl From<GaveUp> for Fault {
    fn from(_: GaveUp) -> Self {
        Self::Over
    }
}

const BASE: Duration = Duration::from_millis(10);
const POLICY: Policy = Policy::new()
    .max(4)
    .base(BASE)
    .jitter(reattempt::Jitter::None);

/// The error says it; 10 ms, 20 ms.
#[retry(base = "10ms", jitter = "none", timer = timer)]
pub fn plain(timer: &Hand, calls: &Cell<u32>) -> Result<u32, Fault> {
    calls.set(calls.get() + 1);
    Err(Fault::Busy)
}

/// Every key, sync.
#[retry(
    max = 4,
    backoff = "exp",
    base = "1ms",
    first = "2ms",
    factor = 1.5,
    cap = "1s",
    jitter = "equal",
    fast_first,
    deadline = "30s",
    max_retry_after = "1s",
    on = |fault| *fault == Fault::Busy,
    except(Fault::Wrong),
    until = |value| *value > 2,
    fallback = |_| 7,
    before_retry = |retry: &Retry<'_, Fault>| calls.set(calls.get() + retry.attempt()),
    on_retry = |retry| calls.set(calls.get() + retry.attempt()),
    context = attempt,
    clone(list),
    name = "bare",
    timer = timer
)]
pub fn every_key(timer: &Hand, calls: &Cell<u32>, list: [u8; 3]) -> Result<u32, Fault> {
    let [first, ..] = list;
    if attempt.number() == 1 {
        return Err(Fault::Busy);
    }
    Ok(u32::from(first) + attempt.number())
}

/// Every key, async.
#[retry(
    policy = POLICY,
    first = "2ms",
    factor = 1.5,
    cap = "1s",
    jitter = 0.2,
    fast_first,
    deadline = "30s",
    max_retry_after = "1s",
    on(Fault::Busy),
    except = |fault| *fault == Fault::Wrong,
    until = |value| *value > 2,
    fallback = async |_| 7,
    before_retry = async |retry| calls.set(calls.get() + retry.attempt()),
    on_retry = |retry| calls.set(calls.get() + retry.attempt()),
    context = attempt,
    clone(list),
    name = "bare",
    timer = timer
)]
pub async fn every_async_key(timer: &Hand, calls: &Cell<u32>, list: [u8; 3]) -> Result<u32, Fault> {
    let [first, ..] = list;
    ready(()).await;
    if attempt.number() == 1 {
        return Err(Fault::Busy);
    }
    Ok(u32::from(first) + attempt.number())
}

/// Too slow for its deadline, which cuts it off.
#[retry(deadline = "1s", on(_), timer = timer)]
pub async fn stuck(timer: &Hand) -> Result<u32, RetryError<Fault>> {
    core::future::pending().await
}

/// Whether it was executed after all.
#[retry(idempotent = false, verify = |_| Verified::Done(5), timer = timer)]
pub fn verified(timer: &Hand) -> Result<u32, Fault> {
    Err(Fault::Busy)
}

/// A future in the signature.
#[retry(policy = POLICY, timer = timer)]
pub fn returned(timer: &Hand) -> impl Future<Output = Result<u32, Fault>> {
    let fault = Fault::Busy;
    async move { Err(fault) }
}

/// A block.
pub fn block(timer: &Hand) -> Result<u32, Fault> {
    let mut calls = 0;
    retry_block!(policy = POLICY, timer = timer, {
        calls += 1;
        if calls < 3 {
            return Err(Fault::Busy);
        }
        Ok(calls)
    })
}

/// An async block.
pub async fn async_block(timer: &Hand) -> Result<u32, Fault> {
    let mut calls = 0;
    retry_block!(
        policy = POLICY,
        deadline = "3s",
        timer = timer,
        async || -> Result<u32, Fault> {
            calls += 1;
            if calls < 3 {
                Err(Fault::Busy)?;
            }
            Ok(calls)
        }
    )
    .await
}

/// A timer that lies in a static.
pub static STILL: Still = Still;

/// A timer that never waits.
#[derive(Debug, Clone, Copy)]
pub struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::ZERO)
    }
}

impl BlockingTimer for Still {
    fn sleep(&self, _: Duration) {}
}

/// Without a parameter for it.
#[retry(timer = STILL)]
pub fn global() -> Result<u32, Fault> {
    Err(Fault::Busy)
}
