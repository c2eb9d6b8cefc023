//! `#[retry]`. The services and breakers are in files of their own.

use std::future::ready as at_once;
use std::hint::black_box;
use std::io;

use reattempt::retry;

use super::ways::{Way, async_runs, sync_runs};
use super::{breakers, resilience, services};
use crate::cases::{
    Fault, Huge, Script, Still, Yield, is_busy, is_huge, is_transient, polled, polled_in_tokio,
    repeat,
};

pub(super) const WAY: Way = Way {
    name: "ours",
    lacks: None,
    runs: &[
        sync_runs!(),
        async_runs!(),
        &[
            ("delay", |k, n| repeat(k, n, delayed)),
            ("nested", |k, n| repeat(k, n, nested)),
        ],
        services::OURS,
        resilience::OURS,
        breakers::OURS,
    ],
    sizes: &[
        ("pending", || size_of_val(&pending(&Script::default()))),
        ("kept", || size_of_val(&kept(&Script::default()))),
        ("async-huge", || {
            size_of_val(&async_huge(&Script::default()))
        }),
        ("service", services::our_size),
    ],
};

/// The same without jitter, beside those that have none.
pub(super) const PLAIN: Way = Way {
    name: PLAIN_NAME,
    lacks: Some("no jitter"),
    runs: &[&[
        ("none", |k, n| repeat(k, n, none)),
        ("wait", polled_in_tokio!(plain)),
        ("delay", |k, n| repeat(k, n, plain_delayed)),
    ]],
    sizes: &[],
};

pub(super) const PLAIN_NAME: &str = "ours, no jitter";

#[retry(max = 5, base = "1ms", jitter = "none", on = is_transient)]
async fn plain(script: &Script) -> Result<u64, Fault> {
    at_once(()).await;
    script.small()
}

#[retry(max = 10, base = "1ms", jitter = "none", on = is_transient, timer = Still)]
fn plain_delayed(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[retry(max = 5, base = "1ms", on = is_transient)]
fn small(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[retry(max = 5, base = "1ms", on = is_busy)]
fn large(script: &Script) -> io::Result<[u64; 8]> {
    script.large()
}

#[retry(max = 3, backoff = "none", on = is_transient)]
fn none(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[retry(max = 3, backoff = "none", on = is_busy)]
fn none_large(script: &Script) -> io::Result<[u64; 8]> {
    script.large()
}

#[retry(max = 3, backoff = "none", on = is_huge)]
fn huge(script: &Script) -> Result<u64, Huge> {
    script.huge()
}

#[retry(max = 5, base = "1ms", on = is_transient)]
fn nested(script: &Script) -> Result<u64, Fault> {
    black_box(small)(script)
}

#[retry(max = 10, base = "1ms", jitter = "full", on = is_transient, timer = Still)]
fn delayed(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[retry(max = 5, base = "1ms", on = is_transient)]
async fn ready(script: &Script) -> Result<u64, Fault> {
    at_once(()).await;
    script.small()
}

#[retry(max = 5, base = "1ms", on = is_transient)]
async fn pending(script: &Script) -> Result<u64, Fault> {
    Yield::once().await;
    script.small()
}

#[retry(max = 5, base = "1ms", on = is_busy)]
async fn many(script: &Script) -> io::Result<[u64; 8]> {
    Yield::once().await;
    script.large()
}

#[retry(max = 5, base = "1ms", on = is_huge)]
async fn async_huge(script: &Script) -> Result<u64, Huge> {
    Yield::once().await;
    script.huge()
}

#[retry(max = 5, base = "1ms", on = is_transient)]
async fn kept(script: &Script) -> Result<u64, Fault> {
    let kept = [script; 32];
    Yield::once().await;
    black_box(&kept);
    script.small()
}
