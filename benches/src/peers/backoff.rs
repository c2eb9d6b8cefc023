//! backoff: for an error of its own, into which the function's is put. It limits the time and not the attempts.

use std::io;
use std::time::Duration;

use ::backoff::backoff::{Backoff, Zero};
use ::backoff::{Error, ExponentialBackoff, ExponentialBackoffBuilder};

use super::bodies;
use super::ways::{Way, async_functions, async_runs, drawn, sizes, sync_functions, sync_runs};
use crate::cases::{
    Fault, Huge, Script, is_busy, is_huge, is_transient, polled, polled_in_tokio, repeat,
};

pub(super) const WAY: Way = Way {
    name: "backoff",
    lacks: None,
    runs: &[
        sync_runs!(),
        async_runs!(),
        &[("delay", |k, n| {
            drawn(k, n, || {
                let mut delays = exponential();
                std::iter::repeat_with(move || delays.next_backoff())
            });
        })],
    ],
    sizes: sizes!(),
};

sync_functions!(sync, immediate);
async_functions!(asynchronous);

pub(super) fn exponential() -> ExponentialBackoff {
    ExponentialBackoffBuilder::new()
        .with_initial_interval(Duration::from_millis(1))
        .with_randomization_factor(1.0)
        .with_multiplier(2.0)
        .with_max_interval(Duration::from_secs(20))
        .with_max_elapsed_time(Some(Duration::from_secs(60)))
        .build()
}

#[inline]
pub(super) fn sync<T, E>(
    attempt: impl FnMut() -> Result<T, E>,
    again: impl FnMut(&E) -> bool,
) -> Result<T, E> {
    by(exponential(), attempt, again)
}

#[inline]
pub(super) fn immediate<T, E>(
    attempt: impl FnMut() -> Result<T, E>,
    again: impl FnMut(&E) -> bool,
) -> Result<T, E> {
    by(Zero {}, attempt, again)
}

#[inline]
fn by<T, E>(
    delays: impl Backoff,
    mut attempt: impl FnMut() -> Result<T, E>,
    mut again: impl FnMut(&E) -> bool,
) -> Result<T, E> {
    let judged = || attempt().map_err(|error| judged(error, &mut again));
    ::backoff::retry(delays, judged).map_err(|error| match error {
        Error::Permanent(error) | Error::Transient { err: error, .. } => error,
    })
}

#[inline]
pub(super) fn judged<E>(error: E, mut again: impl FnMut(&E) -> bool) -> Error<E> {
    if again(&error) {
        Error::transient(error)
    } else {
        Error::permanent(error)
    }
}

#[inline]
pub(super) fn asynchronous<T, E, F: Future<Output = Result<T, E>>>(
    mut attempt: impl FnMut() -> F,
    again: impl Fn(&E) -> bool + Copy,
) -> impl Future<Output = Result<T, E>> {
    ::backoff::future::retry(exponential(), move || {
        let attempt = attempt();
        async move { attempt.await.map_err(|error| judged(error, again)) }
    })
}
