//! Every part of an expansion that names the crate.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use again::{Policy, RetryError, retry};

use crate::{Fault, seen};

const BASE: Duration = Duration::from_millis(1);
const POLICY: Policy = Policy::new().max(2);

/// The attribute that needs nothing but the crate.
#[retry(crate = ::again)]
pub fn plain() -> Result<u32, Fault> {
    Err(Fault::Busy)
}

/// Every key.
#[retry(
    crate = ::again,
    max = 4,
    backoff = "exp",
    base = BASE,
    first = "2ms",
    factor = 1.5,
    cap = "1s",
    jitter = 0.2,
    fast_first,
    deadline = "30s",
    max_retry_after = "1s",
    on(Fault::Busy),
    except = |fault| *fault == Fault::Over,
    until = |value| *value > 3,
    fallback = |_| Ok(7),
    before_retry = seen,
    on_retry = seen,
    context = attempt,
    clone(text),
    name = "renamed",
    timer = again::timer::ThreadTimer
)]
pub fn every_key(text: String) -> Result<u32, Fault> {
    drop(text);
    Ok(attempt.number())
}

/// Every key, async.
#[retry(
    crate = ::again,
    policy = POLICY,
    backoff = |again| BASE.saturating_mul(again),
    cap = "1s",
    jitter = "equal",
    deadline = "30s",
    max_retry_after = "1s",
    on = |fault| *fault == Fault::Busy,
    except(Fault::Over),
    until = |value| *value > 3,
    fallback = async |_| 7,
    before_retry = async |retry| seen(retry),
    on_retry = seen,
    context = attempt,
    clone(text),
    name = "renamed",
    timer = again::timer::Tokio
)]
pub async fn every_async_key(text: String) -> Result<u32, Fault> {
    drop(text);
    Ok(attempt.number())
}

/// A policy that is judged by the compiler.
#[retry(crate = ::again, max = 3, base = BASE, policy = POLICY, on(_))]
pub async fn constant() -> Option<u32> {
    None
}

/// The whole story.
#[retry(crate = ::again, max = 2, deadline = "3s", on(_))]
pub async fn failed() -> Result<u32, RetryError<Fault>> {
    Err(Fault::Busy)
}

/// Polling.
#[retry(crate = ::again, max = 2, until = |value| *value > 3)]
pub fn polled() -> u32 {
    3
}

/// A boxed future that is made elsewhere.
#[retry(crate = ::again, max = 2, on(_))]
pub fn boxed() -> Pin<Box<dyn Future<Output = Option<u32>> + Send>> {
    let future = constant();
    Box::pin(future)
}

/// An error that classifies itself.
#[derive(Debug, again::Classify)]
#[retry(crate = ::again)]
pub enum Known {
    /// With another error in it.
    #[retry(inherit)]
    Other(Fault),
    /// With a delay.
    #[retry(throttled, after = 0)]
    Later(Duration),
}

/// A policy for all of them.
#[derive(Debug)]
pub struct Service;

#[retry(crate = ::again, max = 2, idempotent = false, verify = |_| Some(3))]
impl Service {
    /// One of them.
    pub fn call(&self) -> Result<u32, Known> {
        Err(Known::Other(Fault::Busy))
    }
}
