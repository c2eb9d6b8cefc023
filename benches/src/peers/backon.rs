//! backon, by its builders around a closure. Its jitter adds up to a whole delay.

use std::hint::black_box;
use std::io;
use std::time::Duration;

use ::backon::{
    BackoffBuilder as _, BlockingRetryable as _, ConstantBuilder, ExponentialBuilder,
    Retryable as _,
};

use super::bodies;
use super::ways::{Way, async_functions, async_runs, drawn, sizes, sync_functions, sync_runs};
use crate::cases::{
    Fault, Huge, Script, is_busy, is_huge, is_transient, polled, polled_in_tokio, repeat,
};

pub(super) const WAY: Way = Way {
    name: "backon",
    lacks: None,
    runs: &[
        sync_runs!(),
        async_runs!(),
        &[
            ("delay", |k, n| {
                drawn(k, n, || exponential().with_max_times(9).build());
            }),
            ("nested", |k, n| repeat(k, n, nested)),
        ],
    ],
    sizes: sizes!(),
};

sync_functions!(sync, immediate);
async_functions!(asynchronous);

fn nested(script: &Script) -> Result<u64, Fault> {
    sync(|| black_box(small)(script), is_transient)
}

pub(super) const fn exponential() -> ExponentialBuilder {
    ExponentialBuilder::new()
        .with_jitter()
        .with_min_delay(Duration::from_millis(1))
        .with_max_delay(Duration::from_secs(20))
        .with_max_times(4)
}

pub(super) const fn without() -> ConstantBuilder {
    ConstantBuilder::new()
        .with_delay(Duration::ZERO)
        .with_max_times(2)
}

#[inline]
pub(super) fn sync<T, E>(
    attempt: impl FnMut() -> Result<T, E>,
    again: impl FnMut(&E) -> bool,
) -> Result<T, E> {
    attempt.retry(exponential()).when(again).call()
}

#[inline]
pub(super) fn immediate<T, E>(
    attempt: impl FnMut() -> Result<T, E>,
    again: impl FnMut(&E) -> bool,
) -> Result<T, E> {
    attempt.retry(without()).when(again).call()
}

#[inline]
pub(super) fn asynchronous<T, E, F: Future<Output = Result<T, E>>>(
    attempt: impl FnMut() -> F,
    again: impl FnMut(&E) -> bool,
) -> impl Future<Output = Result<T, E>> {
    attempt.retry(exponential()).when(again)
}
