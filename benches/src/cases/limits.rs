//! Functions of `sync` and `asynchronous` with limits, which they share as a service's callers do. What they
//! are compared with is the same function under `#[retry]` without them.

use std::hint::black_box;
use std::time::Duration;

use reattempt::{Breaker, Budget, Keyed, Throttle, retry};

use super::asynchronous::{polled, polled_in_tokio};
use super::{Fault, Run, Script, Yield, is_transient, repeat};

static BUDGET: Budget = Budget::per_success(0.1);
static TOKENS: Budget = Budget::tokens(500);
static BREAKER: Breaker = Breaker::count_window(100);
static TIMED: Breaker = Breaker::time_window(Duration::from_secs(60));
static ADAPTIVE: Throttle = Throttle::adaptive();
static HOSTS: Keyed<String, Breaker> = Keyed::new(|_: &String| Breaker::count_window(100));

pub(super) const CASES: &[(&str, Run)] = &[
    ("sync-small-budget", |k, n| repeat(k, n, budget)),
    ("sync-small-own", |k, n| repeat(k, n, own)),
    ("sync-small-tokens", |k, n| repeat(k, n, tokens)),
    ("sync-small-breaker", |k, n| repeat(k, n, breaker)),
    ("sync-small-timed", |k, n| repeat(k, n, timed)),
    ("sync-small-both", |k, n| repeat(k, n, both)),
    ("sync-small-adaptive", |k, n| repeat(k, n, adaptive)),
    ("async-pending-budget", polled!(async_budget)),
    ("async-pending-breaker", polled!(async_breaker)),
    ("async-pending-both", polled!(async_both)),
    ("async-pending-adaptive", polled!(async_adaptive)),
    ("hedge-bare", polled_in_tokio!(unhedged_bare)),
    ("hedge-without", polled_in_tokio!(unhedged)),
    ("hedge-ours", polled_in_tokio!(hedged)),
    ("keyed-without", |_, n| keyed(n, |_| black_box(&BREAKER))),
    ("keyed-ours", |_, n| keyed(n, |host| HOSTS.get(host))),
];

#[retry(max = 5, on = is_transient, budget = &BUDGET)]
fn budget(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[retry(max = 5, on = is_transient, budget = 0.1)]
fn own(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[retry(max = 5, on = is_transient, budget = &TOKENS)]
fn tokens(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[retry(max = 5, on = is_transient, breaker = &BREAKER, budget = "none")]
fn breaker(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[retry(max = 5, on = is_transient, breaker = &TIMED, budget = "none")]
fn timed(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[retry(max = 5, on = is_transient, budget = &BUDGET, breaker = &BREAKER)]
fn both(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[retry(max = 5, on = is_transient, throttle = &ADAPTIVE, budget = "none")]
fn adaptive(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[retry(max = 5, on = is_transient, budget = &BUDGET)]
async fn async_budget(script: &Script) -> Result<u64, Fault> {
    Yield::once().await;
    script.small()
}

#[retry(max = 5, on = is_transient, breaker = &BREAKER, budget = "none")]
async fn async_breaker(script: &Script) -> Result<u64, Fault> {
    Yield::once().await;
    script.small()
}

#[retry(max = 5, on = is_transient, budget = &BUDGET, breaker = &BREAKER)]
async fn async_both(script: &Script) -> Result<u64, Fault> {
    Yield::once().await;
    script.small()
}

#[retry(max = 5, on = is_transient, throttle = &ADAPTIVE, budget = "none")]
async fn async_adaptive(script: &Script) -> Result<u64, Fault> {
    Yield::once().await;
    script.small()
}

// In tokio, whose timer the hedge sets as soon as the attempt has to wait.
async fn unhedged_bare(script: &Script) -> Result<u64, Fault> {
    Yield::once().await;
    script.small()
}

#[retry(max = 5, on = is_transient, budget = "none")]
async fn unhedged(script: &Script) -> Result<u64, Fault> {
    Yield::once().await;
    script.small()
}

#[retry(max = 5, on = is_transient, hedge = "50ms", budget = "none")]
async fn hedged(script: &Script) -> Result<u64, Fault> {
    Yield::once().await;
    script.small()
}

/// Finds the breaker of a host.
fn keyed<T>(calls: u64, find: impl Fn(&str) -> T) {
    for _ in 0..calls {
        black_box(find(black_box("api.example.com")));
    }
}
