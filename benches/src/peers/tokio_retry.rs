//! tokio-retry: async only. Its delays begin at their factor, here 2 ms.

use std::io;
use std::time::Duration;

use ::tokio_retry::RetryIf;
use ::tokio_retry::strategy::{ExponentialBackoff, jitter};

use super::bodies;
use super::ways::{Way, async_functions, async_runs, drawn, sizes};
use crate::cases::{Fault, Huge, Script, is_busy, is_huge, is_transient, polled, polled_in_tokio};

pub(super) const WAY: Way = Way {
    name: "tokio-retry",
    lacks: None,
    runs: &[async_runs!(), &[("delay", |k, n| drawn(k, n, exponential))]],
    sizes: sizes!(),
};

async_functions!(asynchronous);

pub(super) fn exponential() -> impl Iterator<Item = Duration> {
    ExponentialBackoff::from_millis(2)
        .max_delay(Duration::from_secs(20))
        .map(jitter)
}

#[inline]
pub(super) fn asynchronous<T, E, F: Future<Output = Result<T, E>>>(
    attempt: impl FnMut() -> F,
    again: impl FnMut(&E) -> bool,
) -> impl Future<Output = Result<T, E>> {
    RetryIf::start(exponential().take(4), attempt, again)
}
