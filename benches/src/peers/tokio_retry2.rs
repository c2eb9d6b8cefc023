//! tokio-retry2: async only, for an error of its own, into which the function's is put.

use std::io;
use std::time::Duration;

use ::tokio_retry2::strategy::{ExponentialFactorBackoff, jitter};
use ::tokio_retry2::{RetryError, RetryIf};

use super::bodies;
use super::ways::{Way, async_functions, async_runs, drawn, sizes};
use crate::cases::{Fault, Huge, Script, is_busy, is_huge, is_transient, polled, polled_in_tokio};

pub(super) const WAY: Way = Way {
    name: "tokio-retry2",
    lacks: None,
    runs: &[async_runs!(), &[("delay", |k, n| drawn(k, n, exponential))]],
    sizes: sizes!(),
};

async_functions!(asynchronous);

pub(super) fn exponential() -> impl Iterator<Item = Duration> {
    ExponentialFactorBackoff::from_millis(1, 2.0)
        .max_delay(Duration::from_secs(20))
        .map(jitter)
}

#[inline]
pub(super) fn asynchronous<T, E, F: Future<Output = Result<T, E>>>(
    mut attempt: impl FnMut() -> F,
    again: impl FnMut(&E) -> bool,
) -> impl Future<Output = Result<T, E>> {
    let attempt = move || {
        let attempt = attempt();
        async move { attempt.await.map_err(RetryError::transient) }
    };
    RetryIf::spawn(
        exponential().take(4),
        attempt,
        again,
        |_: &E, _: Duration| {},
    )
}
