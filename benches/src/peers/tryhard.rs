//! tryhard: async only. It has no jitter, and its predicate is a function of the delays.

use std::io;
use std::time::Duration;

use ::tryhard::{RetryPolicy, retry_fn};

use super::bodies;
use super::ways::{Way, async_functions, async_runs, sizes};
use crate::cases::{Fault, Huge, Script, is_busy, is_huge, is_transient, polled, polled_in_tokio};

pub(super) const WAY: Way = Way {
    name: "tryhard",
    lacks: Some("no jitter"),
    runs: &[async_runs!()],
    sizes: sizes!(),
};

async_functions!(asynchronous);

#[inline]
pub(super) fn asynchronous<T, E: 'static, F: Future<Output = Result<T, E>>>(
    attempt: impl FnMut() -> F,
    mut again: impl FnMut(&E) -> bool,
) -> impl Future<Output = Result<T, E>> {
    retry_fn(attempt)
        .retries(4)
        .custom_backoff(move |retry: u32, error: &E| {
            if again(error) {
                let times = 2_u32.saturating_pow(retry - 1);
                RetryPolicy::Delay(Duration::from_millis(1).saturating_mul(times))
            } else {
                RetryPolicy::Break
            }
        })
        .max_delay(Duration::from_secs(20))
}
