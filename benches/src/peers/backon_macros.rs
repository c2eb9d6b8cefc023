//! backon-macros: the same as an attribute.

use std::future::ready as at_once;
use std::hint::black_box;
use std::io;

use ::backon_macros::backon;

use super::backon::{exponential, without};
use super::ways::{Way, async_runs, sizes, sync_runs};
use crate::cases::{
    Fault, Huge, Script, Yield, is_busy, is_huge, is_transient, polled, polled_in_tokio, repeat,
};

pub(super) const WAY: Way = Way {
    name: "backon-macros",
    lacks: None,
    runs: &[
        sync_runs!(),
        async_runs!(),
        &[("nested", |k, n| repeat(k, n, nested))],
    ],
    sizes: sizes!(),
};

#[backon(backoff = exponential, when = is_transient)]
fn small(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[backon(backoff = exponential, when = is_busy)]
fn large(script: &Script) -> io::Result<[u64; 8]> {
    script.large()
}

#[backon(backoff = without, when = is_transient)]
fn none(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[backon(backoff = without, when = is_busy)]
fn none_large(script: &Script) -> io::Result<[u64; 8]> {
    script.large()
}

#[backon(backoff = exponential, when = is_transient)]
async fn ready(script: &Script) -> Result<u64, Fault> {
    at_once(()).await;
    script.small()
}

#[backon(backoff = exponential, when = is_transient)]
async fn pending(script: &Script) -> Result<u64, Fault> {
    Yield::once().await;
    script.small()
}

#[backon(backoff = exponential, when = is_busy)]
async fn many(script: &Script) -> io::Result<[u64; 8]> {
    Yield::once().await;
    script.large()
}

#[backon(backoff = without, when = is_huge)]
fn huge(script: &Script) -> Result<u64, Huge> {
    script.huge()
}

#[backon(backoff = exponential, when = is_transient)]
fn nested(script: &Script) -> Result<u64, Fault> {
    black_box(small)(script)
}

#[backon(backoff = exponential, when = is_huge)]
async fn async_huge(script: &Script) -> Result<u64, Huge> {
    Yield::once().await;
    script.huge()
}

#[backon(backoff = exponential, when = is_transient)]
async fn kept(script: &Script) -> Result<u64, Fault> {
    let kept = [script; 32];
    Yield::once().await;
    black_box(&kept);
    script.small()
}
