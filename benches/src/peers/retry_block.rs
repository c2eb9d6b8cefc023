//! retry-block: macros around a block.

use std::io;
use std::time::Duration;

use ::retry_block::delay::{Exponential, Fixed, jitter};
use ::retry_block::{OperationResult, async_retry, retry};

use super::bodies;
use super::ways::{Way, async_runs, drawn, sizes, sync_runs};
use crate::cases::{
    Fault, Huge, Script, is_busy, is_huge, is_transient, polled, polled_in_tokio, repeat,
};

pub(super) const WAY: Way = Way {
    name: "retry-block",
    lacks: None,
    runs: &[
        sync_runs!(),
        async_runs!(),
        &[("delay", |k, n| drawn(k, n, exponential))],
    ],
    sizes: sizes!(),
};

pub(super) fn exponential() -> impl Iterator<Item = Duration> {
    Exponential::exact_with_factor(Duration::from_millis(1), 2.0).map(jitter)
}

pub(super) fn without() -> impl Iterator<Item = Duration> {
    Fixed::new(Duration::ZERO).take(2)
}

#[inline]
pub(super) fn judged<T, E>(
    outcome: Result<T, E>,
    again: impl FnOnce(&E) -> bool,
) -> OperationResult<T, E> {
    match outcome {
        Ok(value) => OperationResult::Ok(value),
        Err(error) if again(&error) => OperationResult::Retry(error),
        Err(error) => OperationResult::Err(error),
    }
}

fn small(script: &Script) -> Result<u64, Fault> {
    retry!(exponential().take(4), {
        judged(script.small(), is_transient)
    })
}

fn large(script: &Script) -> io::Result<[u64; 8]> {
    retry!(exponential().take(4), { judged(script.large(), is_busy) })
}

fn none(script: &Script) -> Result<u64, Fault> {
    retry!(without(), { judged(script.small(), is_transient) })
}

fn none_large(script: &Script) -> io::Result<[u64; 8]> {
    retry!(without(), { judged(script.large(), is_busy) })
}

async fn ready(script: &Script) -> Result<u64, Fault> {
    async_retry!(exponential().take(4), {
        judged(bodies::ready(script).await, is_transient)
    })
}

async fn pending(script: &Script) -> Result<u64, Fault> {
    async_retry!(exponential().take(4), {
        judged(bodies::pending(script).await, is_transient)
    })
}

async fn many(script: &Script) -> io::Result<[u64; 8]> {
    async_retry!(exponential().take(4), {
        judged(bodies::many(script).await, is_busy)
    })
}

fn huge(script: &Script) -> Result<u64, Huge> {
    retry!(without(), { judged(script.huge(), is_huge) })
}

async fn async_huge(script: &Script) -> Result<u64, Huge> {
    async_retry!(exponential().take(4), {
        judged(bodies::huge(script).await, is_huge)
    })
}

async fn kept(script: &Script) -> Result<u64, Fault> {
    async_retry!(exponential().take(4), {
        judged(bodies::kept(script).await, is_transient)
    })
}
