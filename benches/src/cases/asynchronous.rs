//! Async functions.

use std::io;

use reattempt::retry;
use tokio::time::sleep;

use super::{Fault, Run, Script, Yield, by_hand, is_busy, is_transient};

/// The future lies on the stack of a function of its own, and is polled from outside.
macro_rules! polled {
    ($function:path) => {
        |failures, calls| {
            $crate::cases::repeat(failures, calls, |script| {
                $crate::cases::block_on(::std::pin::pin!($function(script)))
            })
        }
    };
}

macro_rules! polled_in_tokio {
    ($function:path) => {
        |failures, calls| {
            $crate::cases::repeat_in_tokio(failures, calls, |runtime, script| {
                let future: ::std::pin::Pin<&mut dyn Future<Output = _>> =
                    ::std::pin::pin!($function(script));
                runtime.block_on(future)
            })
        }
    };
}

pub(crate) use {polled, polled_in_tokio};

pub(super) const CASES: &[(&str, Run)] = &[
    ("async-ready-bare", polled!(ready_bare)),
    ("async-ready-hand", polled!(ready_hand)),
    ("async-ready-ours", polled!(ready_ours)),
    ("async-pending-bare", polled!(pending_bare)),
    ("async-pending-hand", polled!(pending_hand)),
    ("async-pending-ours", polled!(pending_ours)),
    ("async-large-bare", polled!(large_bare)),
    ("async-large-hand", polled!(large_hand)),
    ("async-large-ours", polled!(large_ours)),
    ("async-inner-bare", polled!(inner_bare)),
    ("async-inner-hand", polled!(inner_hand)),
    ("async-inner-ours", polled!(inner_ours)),
    ("timer-hand", polled_in_tokio!(timer_hand)),
    ("timer-ours", polled_in_tokio!(timer_ours)),
];

async fn ready_bare(script: &Script) -> Result<u64, Fault> {
    std::future::ready(()).await;
    script.small()
}

async fn ready_hand(script: &Script) -> Result<u64, Fault> {
    let mut retries = 0;
    loop {
        match ready_bare(script).await {
            Err(error) if retries + 1 < 5 && is_transient(&error) => {}
            outcome => return outcome,
        }
        sleep(by_hand::exponential(retries)).await;
        retries += 1;
    }
}

#[retry(max = 5, on = is_transient, budget = "none")]
async fn ready_ours(script: &Script) -> Result<u64, Fault> {
    std::future::ready(()).await;
    script.small()
}

async fn pending_bare(script: &Script) -> Result<u64, Fault> {
    Yield::once().await;
    script.small()
}

async fn pending_hand(script: &Script) -> Result<u64, Fault> {
    let mut retries = 0;
    loop {
        match pending_bare(script).await {
            Err(error) if retries + 1 < 5 && is_transient(&error) => {}
            outcome => return outcome,
        }
        sleep(by_hand::exponential(retries)).await;
        retries += 1;
    }
}

#[retry(max = 5, on = is_transient, budget = "none")]
async fn pending_ours(script: &Script) -> Result<u64, Fault> {
    Yield::once().await;
    script.small()
}

async fn large_bare(script: &Script) -> io::Result<[u64; 8]> {
    Yield::once().await;
    script.large()
}

async fn large_hand(script: &Script) -> io::Result<[u64; 8]> {
    let mut retries = 0;
    loop {
        match large_bare(script).await {
            Err(error) if retries + 1 < 5 && is_busy(&error) => {}
            outcome => return outcome,
        }
        sleep(by_hand::exponential(retries)).await;
        retries += 1;
    }
}

#[retry(max = 5, on = is_busy, budget = "none")]
async fn large_ours(script: &Script) -> io::Result<[u64; 8]> {
    Yield::once().await;
    script.large()
}

// A call inside another, each retried for itself.
async fn inner_bare(script: &Script) -> Result<u64, Fault> {
    pending_bare(script).await
}

async fn inner_hand(script: &Script) -> Result<u64, Fault> {
    let mut retries = 0;
    loop {
        match pending_hand(script).await {
            Err(error) if retries + 1 < 5 && is_transient(&error) => {}
            outcome => return outcome,
        }
        sleep(by_hand::exponential(retries)).await;
        retries += 1;
    }
}

#[retry(max = 5, on = is_transient, budget = "none")]
async fn inner_ours(script: &Script) -> Result<u64, Fault> {
    pending_ours(script).await
}

// The wait dominates: 1 ms, give or take 20 %, on tokio's timer.
async fn timer_hand(script: &Script) -> Result<u64, Fault> {
    let mut retries = 0;
    loop {
        match script.small() {
            Err(error) if retries + 1 < 5 && is_transient(&error) => {}
            outcome => return outcome,
        }
        sleep(by_hand::fixed()).await;
        retries += 1;
    }
}

#[retry(max = 5, backoff = "fixed", base = "1ms", jitter = 0.2, on = is_transient, budget = "none")]
async fn timer_ours(script: &Script) -> Result<u64, Fault> {
    script.small()
}
