//! The same request in every way there is. Each library has its delays and its jitter as its users write
//! them: 3 s, and up to 20 % more or less.

use std::time::Duration;

use backon::{ConstantBuilder, Retryable};
use reattempt::retry;
use tokio::time::sleep;
use tokio_retry2::RetryError;
use tryhard::RetryPolicy;

use super::flood::{Run, flood};
use super::request::{DELAY, FAILURES, Fault, JITTER, Request, is_transient, jittered};

pub(super) const WAYS: &[(&str, Run)] = &[
    ("sleep", |tasks, weighed| flood(tasks, weighed, unretried)),
    ("hand", |tasks, weighed| flood(tasks, weighed, by_hand)),
    ("ours", |tasks, weighed| flood(tasks, weighed, ours)),
    ("ours, deadline", |tasks, weighed| {
        flood(tasks, weighed, ours_until)
    }),
    ("backon", |tasks, weighed| flood(tasks, weighed, by_backon)),
    ("tokio-retry2", |tasks, weighed| {
        flood(tasks, weighed, by_tokio_retry2)
    }),
    ("tokio-retry", |tasks, weighed| {
        flood(tasks, weighed, by_tokio_retry)
    }),
    ("tryhard", |tasks, weighed| {
        flood(tasks, weighed, by_tryhard)
    }),
    ("backoff", |tasks, weighed| {
        flood(tasks, weighed, by_backoff)
    }),
];

type Answer = Result<u64, Fault>;

/// Waits as long as the others, without a retry.
async fn unretried(request: &'static Request) -> Answer {
    request.waits();
    sleep(jittered() + jittered()).await;
    request.send().await
}

async fn by_hand(request: &'static Request) -> Answer {
    let mut retries = 0;
    loop {
        match request.send().await {
            Err(error) if retries < FAILURES && is_transient(&error) => {}
            outcome => return outcome,
        }
        sleep(jittered()).await;
        retries += 1;
    }
}

#[retry(max = 3, backoff = "fixed", base = DELAY, jitter = 0.2, on = is_transient, budget = "none")]
async fn ours(request: &'static Request) -> Answer {
    request.send().await
}

#[retry(max = 3, backoff = "fixed", base = DELAY, jitter = 0.2, deadline = "60s", on = is_transient, budget = "none")]
async fn ours_until(request: &'static Request) -> Answer {
    request.send().await
}

/// Its jitter doubles a delay at most: 1.8 s to 3.6 s.
async fn by_backon(request: &'static Request) -> Answer {
    let shortest = DELAY.mul_f64(f64::midpoint(1.0, JITTER));
    (|| request.send())
        .retry(
            ConstantBuilder::default()
                .with_delay(shortest)
                .with_max_times(FAILURES.into())
                .with_jitter(),
        )
        .when(is_transient)
        .await
}

async fn by_tokio_retry2(request: &'static Request) -> Answer {
    use tokio_retry2::strategy::{FixedInterval, jitter_with_bounds};
    let delays = FixedInterval::new(DELAY)
        .map(jitter_with_bounds(1.0 - JITTER, 1.0 + JITTER))
        .take(FAILURES.into());
    tokio_retry2::Retry::spawn(delays, || async {
        request.send().await.map_err(|error| {
            if is_transient(&error) {
                RetryError::transient(error)
            } else {
                RetryError::permanent(error)
            }
        })
    })
    .await
}

/// Its own jitter goes down to no delay at all, so chance is its user's.
async fn by_tokio_retry(request: &'static Request) -> Answer {
    let delays = std::iter::repeat_with(jittered).take(FAILURES.into());
    tokio_retry::RetryIf::start(delays, || request.send(), is_transient).await
}

/// It has no jitter, so chance is its user's.
async fn by_tryhard(request: &'static Request) -> Answer {
    tryhard::retry_fn(|| request.send())
        .retries(FAILURES.into())
        .custom_backoff(|_, error: &Fault| {
            if is_transient(error) {
                RetryPolicy::Delay(jittered())
            } else {
                RetryPolicy::Break
            }
        })
        .await
}

async fn by_backoff(request: &'static Request) -> Answer {
    let delays = backoff::ExponentialBackoffBuilder::new()
        .with_initial_interval(DELAY)
        .with_multiplier(1.0)
        .with_randomization_factor(JITTER)
        .with_max_elapsed_time(Some(Duration::from_secs(60)))
        .build();
    backoff::future::retry(delays, || async {
        request.send().await.map_err(|error| {
            if is_transient(&error) {
                backoff::Error::transient(error)
            } else {
                backoff::Error::permanent(error)
            }
        })
    })
    .await
}
