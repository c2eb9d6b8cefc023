//! `on`, `except` and `until`: which attempts have failed.

use reattempt::{GaveUp, Verdict, retry};

use crate::{Fault, Script, sendable};

/// A fault, or the end of polling.
#[derive(Debug)]
pub(crate) struct Polled(pub(crate) Option<Fault>);

impl From<GaveUp> for Polled {
    fn from(_: GaveUp) -> Self {
        Self(None)
    }
}

// `on` as a pattern with a guard.
#[retry(max = 9, on(Fault(n) if *n < limit))]
async fn on_guard(script: &Script, limit: u32) -> Result<u32, Fault> {
    script.step_async().await
}

// `on` as alternatives.
#[retry(max = 9, on(Fault(1) | Fault(2)))]
async fn on_alternatives(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

// `on` as a path.
#[retry(max = 9, on = is_early)]
async fn on_path(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

fn is_early(fault: &Fault) -> bool {
    fault.0 < 3
}

// `on` with a verdict.
#[retry(max = 9, on = |fault| match fault {
    Fault(1) => Verdict::Throttled(None),
    Fault(2) => Verdict::Refused,
    _ => Verdict::Permanent,
})]
async fn on_verdict(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

// `except` as a pattern, which wins over `on`.
#[retry(max = 9, on(_), except(Fault(3)))]
async fn except(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

// `except` as a closure, async.
#[retry(max = 9, on(_), except = |fault: &Fault| fault.0 == limit)]
async fn async_except(script: &Script, limit: u32) -> Result<u32, Fault> {
    script.step_async().await
}

// `until` on the value of a `Result`.
#[retry(max = 3, backoff = "none", on(_), until = |number| *number == 3)]
fn until(script: &Script) -> Result<u32, Polled> {
    Ok(script.step().unwrap_or(0))
}

// `until` with `RetryError`.
#[retry(max = 3, backoff = "none", on(_), until = |number| *number == 3)]
fn until_failed(script: &Script) -> Result<u32, reattempt::RetryError<Fault>> {
    Ok(script.step().unwrap_or(0))
}

// Another poll is not a retry, so a `None` has nothing to show.
#[retry(max = 3, backoff = "none", idempotent = false, until = Option::is_some)]
fn until_found(script: &Script) -> Option<u32> {
    script.step().ok()
}

// `until` on an `Option`, async.
#[retry(max = 3, until = Option::is_some)]
async fn async_until(script: &Script) -> Option<u32> {
    script.step_async().await.ok()
}

shapes! {
    until_found,
    until => |script| until(script).map_err(|polled| polled.0.unwrap_or(Fault(3))),
    until_failed => |script| until_failed(script).map_err(|failed| failed.into_last().unwrap_or(Fault(3))),
}

async_shapes! {
    on_alternatives, on_path, on_verdict, except,
    on_guard => async |script| sendable(on_guard(script, 3)).await,
    async_except => async |script| sendable(async_except(script, 3)).await,
    async_until => async |script| sendable(async_until(script)).await,
}
