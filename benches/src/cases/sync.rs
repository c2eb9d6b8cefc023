//! Sync functions.

use std::hint::black_box;
use std::{io, thread};

use reattempt::retry;
use reattempt::timer::{BlockingTimer as _, Clock as _, ThreadTimer};

use super::time::Still;
use super::{Fault, Run, Script, by_hand, is_busy, is_transient, repeat};

pub(super) const CASES: &[(&str, Run)] = &[
    ("sync-small-bare", |k, n| repeat(k, n, small_bare)),
    ("sync-small-hand", |k, n| repeat(k, n, small_hand)),
    ("sync-small-ours", |k, n| repeat(k, n, small_ours)),
    ("sync-large-bare", |k, n| repeat(k, n, large_bare)),
    ("sync-large-hand", |k, n| repeat(k, n, large_hand)),
    ("sync-large-ours", |k, n| repeat(k, n, large_ours)),
    ("sync-inner-bare", |k, n| repeat(k, n, inner_bare)),
    ("sync-inner-hand", |k, n| repeat(k, n, inner_hand)),
    ("sync-inner-ours", |k, n| repeat(k, n, inner_ours)),
    ("none-hand", |k, n| repeat(k, n, none_hand)),
    ("none-ours", |k, n| repeat(k, n, none_ours)),
    ("none-large-hand", |k, n| repeat(k, n, none_large_hand)),
    ("none-large-ours", |k, n| repeat(k, n, none_large_ours)),
    ("delay-hand", |k, n| repeat(k, n, delay_hand)),
    ("delay-ours", |k, n| repeat(k, n, delay_ours)),
    ("random-hand", |_, n| random(n, by_hand::bits)),
    ("random-ours", |_, n| random(n, || ThreadTimer.random())),
];

// The default policy but for `max`; `Result<u64, Fault>` fits in registers.
fn small_bare(script: &Script) -> Result<u64, Fault> {
    script.small()
}

fn small_hand(script: &Script) -> Result<u64, Fault> {
    let mut retries = 0;
    loop {
        match script.small() {
            Err(error) if retries + 1 < 5 && is_transient(&error) => {}
            outcome => return outcome,
        }
        thread::sleep(by_hand::exponential(retries));
        retries += 1;
    }
}

#[retry(max = 5, on = is_transient, budget = "none")]
fn small_ours(script: &Script) -> Result<u64, Fault> {
    script.small()
}

// The same with an answer that lies in memory and an error that has to be dropped.
fn large_bare(script: &Script) -> io::Result<[u64; 8]> {
    script.large()
}

fn large_hand(script: &Script) -> io::Result<[u64; 8]> {
    let mut retries = 0;
    loop {
        match script.large() {
            Err(error) if retries + 1 < 5 && is_busy(&error) => {}
            outcome => return outcome,
        }
        thread::sleep(by_hand::exponential(retries));
        retries += 1;
    }
}

#[retry(max = 5, on = is_busy, budget = "none")]
fn large_ours(script: &Script) -> io::Result<[u64; 8]> {
    script.large()
}

// A call inside another, each retried for itself.
fn inner_bare(script: &Script) -> Result<u64, Fault> {
    black_box(small_bare)(script)
}

fn inner_hand(script: &Script) -> Result<u64, Fault> {
    let mut retries = 0;
    loop {
        match black_box(small_hand)(script) {
            Err(error) if retries + 1 < 5 && is_transient(&error) => {}
            outcome => return outcome,
        }
        thread::sleep(by_hand::exponential(retries));
        retries += 1;
    }
}

#[retry(max = 5, on = is_transient, budget = "none")]
fn inner_ours(script: &Script) -> Result<u64, Fault> {
    black_box(small_ours)(script)
}

fn none_hand(script: &Script) -> Result<u64, Fault> {
    let mut retries = 0;
    loop {
        match script.small() {
            Err(error) if retries + 1 < 3 && is_transient(&error) => retries += 1,
            outcome => return outcome,
        }
    }
}

#[retry(max = 3, backoff = "none", on = is_transient, budget = "none")]
fn none_ours(script: &Script) -> Result<u64, Fault> {
    script.small()
}

fn none_large_hand(script: &Script) -> io::Result<[u64; 8]> {
    let mut retries = 0;
    loop {
        match script.large() {
            Err(error) if retries + 1 < 3 && is_busy(&error) => retries += 1,
            outcome => return outcome,
        }
    }
}

#[retry(max = 3, backoff = "none", on = is_busy, budget = "none")]
fn none_large_ours(script: &Script) -> io::Result<[u64; 8]> {
    script.large()
}

// Exponential with full jitter, not slept; more attempts than are measured.
fn delay_hand(script: &Script) -> Result<u64, Fault> {
    let mut retries = 0;
    loop {
        match script.small() {
            Err(error) if retries + 1 < 10 && is_transient(&error) => {}
            outcome => return outcome,
        }
        Still.sleep(by_hand::exponential(retries));
        retries += 1;
    }
}

#[retry(max = 10, backoff = "exp", jitter = "full", on = is_transient, timer = Still, budget = "none")]
fn delay_ours(script: &Script) -> Result<u64, Fault> {
    script.small()
}

fn random(calls: u64, bits: fn() -> u64) {
    let bits = black_box(bits);
    for _ in 0..calls {
        black_box(bits());
    }
}
