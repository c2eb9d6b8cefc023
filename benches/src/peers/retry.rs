//! retry: sync only.

use std::io;
use std::time::Duration;

use ::retry::OperationResult;
use ::retry::delay::{Exponential, NoDelay, jitter};

use super::ways::{Way, drawn, sync_functions, sync_runs};
use crate::cases::{Fault, Huge, Script, is_busy, is_huge, is_transient, repeat};

pub(super) const WAY: Way = Way {
    name: "retry",
    lacks: None,
    runs: &[sync_runs!(), &[("delay", |k, n| drawn(k, n, exponential))]],
    sizes: &[],
};

sync_functions!(sync, immediate);

pub(super) fn exponential() -> impl Iterator<Item = Duration> {
    Exponential::from_millis_with_factor(1, 2.0).map(jitter)
}

#[inline]
pub(super) fn sync<T, E>(
    attempt: impl FnMut() -> Result<T, E>,
    again: impl FnMut(&E) -> bool,
) -> Result<T, E> {
    by(exponential().take(4), attempt, again)
}

#[inline]
pub(super) fn immediate<T, E>(
    attempt: impl FnMut() -> Result<T, E>,
    again: impl FnMut(&E) -> bool,
) -> Result<T, E> {
    by(NoDelay.take(2), attempt, again)
}

#[inline]
pub(super) fn by<T, E>(
    delays: impl Iterator<Item = Duration>,
    mut attempt: impl FnMut() -> Result<T, E>,
    mut again: impl FnMut(&E) -> bool,
) -> Result<T, E> {
    let judged = || match attempt() {
        Ok(value) => OperationResult::Ok(value),
        Err(error) if again(&error) => OperationResult::Retry(error),
        Err(error) => OperationResult::Err(error),
    };
    ::retry::retry(delays, judged).map_err(|failure| failure.error)
}
