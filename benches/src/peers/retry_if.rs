//! retry-if: an attribute for async functions. It has no jitter.

use std::future::ready as at_once;
use std::hint::black_box;
use std::io;
use std::time::Duration;

use ::retry_if::{ExponentialBackoffConfig, retry};

use super::ways::{Way, async_runs, sizes};
use crate::cases::{
    Fault, Huge, Script, Yield, is_busy, is_huge, is_transient, polled, polled_in_tokio,
};

pub(super) const WAY: Way = Way {
    name: "retry-if",
    lacks: Some("no jitter"),
    runs: &[async_runs!(), &[("delay", |k, n| delays(k, n))]],
    sizes: sizes!(),
};

pub(super) const EXPONENTIAL: ExponentialBackoffConfig = ExponentialBackoffConfig {
    max_retries: 4,
    t_wait: Duration::from_millis(1),
    backoff: 2.0,
    t_wait_max: None,
    backoff_max: Some(Duration::from_secs(20)),
};

/// What it expands to names this crate, also where nothing is logged.
pub(super) mod tracing {
    macro_rules! info {
        ($($token:tt)*) => {};
    }
    pub(in crate::peers) use info;
}

fn delays(count: u32, calls: u64) {
    super::ways::drawn(count, calls, || {
        (0..).map(|retry| black_box(&EXPONENTIAL).get_backoff_duration(retry))
    });
}

fn again(outcome: &Result<u64, Fault>) -> bool {
    outcome.as_ref().is_err_and(is_transient)
}

fn again_many(outcome: &io::Result<[u64; 8]>) -> bool {
    outcome.as_ref().is_err_and(is_busy)
}

fn again_huge(outcome: &Result<u64, Huge>) -> bool {
    outcome.as_ref().is_err_and(is_huge)
}

#[retry(EXPONENTIAL, again)]
async fn ready(script: &Script) -> Result<u64, Fault> {
    at_once(()).await;
    script.small()
}

#[retry(EXPONENTIAL, again)]
async fn pending(script: &Script) -> Result<u64, Fault> {
    Yield::once().await;
    script.small()
}

#[retry(EXPONENTIAL, again_many)]
async fn many(script: &Script) -> io::Result<[u64; 8]> {
    Yield::once().await;
    script.large()
}

#[retry(EXPONENTIAL, again_huge)]
async fn async_huge(script: &Script) -> Result<u64, Huge> {
    Yield::once().await;
    script.huge()
}

#[retry(EXPONENTIAL, again)]
async fn kept(script: &Script) -> Result<u64, Fault> {
    let kept = [script; 32];
    Yield::once().await;
    black_box(&kept);
    script.small()
}
