//! retrying: an attribute. Exponential delays have no jitter, and patterns classify errors
//! only, so that every `io::Error` is retried.

use std::future::ready as at_once;
use std::hint::black_box;
use std::io;

use ::retrying::RetryingContext;
use ::retrying::retry;
use ::retrying::wait::{Wait as _, WaitExponential};

use super::ways::{Way, async_runs, drawn, sizes, sync_runs};
use crate::cases::Fault::{self, Busy};
use crate::cases::{Huge, Script, Yield, polled, polled_in_tokio, repeat};

pub(super) const WAY: Way = Way {
    name: "retrying",
    lacks: Some("no jitter, errors by pattern only"),
    runs: &[
        sync_runs!(),
        async_runs!(),
        &[("delay", |k, n| {
            drawn(k, n, || {
                let (mut context, wait) = (
                    RetryingContext::new(),
                    WaitExponential::new(0.001, 0.0, 20.0, 2),
                );
                std::iter::repeat_with(move || {
                    let delay = wait.wait_duration(&context);
                    context.add_attempt();
                    delay
                })
            });
        })],
    ],
    sizes: sizes!(),
};

#[retry(stop = attempts(5), wait = exponential(multiplier = 0.001, min = 0.0, max = 20.0, exp_base = 2), retry = if_errors(Busy))]
fn small(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[retry(stop = attempts(5), wait = exponential(multiplier = 0.001, min = 0.0, max = 20.0, exp_base = 2))]
fn large(script: &Script) -> io::Result<[u64; 8]> {
    script.large()
}

#[retry(stop = attempts(3), wait = fixed(0.0), retry = if_errors(Busy))]
fn none(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[retry(stop = attempts(3), wait = fixed(0.0))]
fn none_large(script: &Script) -> io::Result<[u64; 8]> {
    script.large()
}

#[retry(stop = attempts(5), wait = exponential(multiplier = 0.001, min = 0.0, max = 20.0, exp_base = 2), retry = if_errors(Busy))]
async fn ready(script: &Script) -> Result<u64, Fault> {
    at_once(()).await;
    script.small()
}

#[retry(stop = attempts(5), wait = exponential(multiplier = 0.001, min = 0.0, max = 20.0, exp_base = 2), retry = if_errors(Busy))]
async fn pending(script: &Script) -> Result<u64, Fault> {
    Yield::once().await;
    script.small()
}

#[retry(stop = attempts(5), wait = exponential(multiplier = 0.001, min = 0.0, max = 20.0, exp_base = 2))]
async fn many(script: &Script) -> io::Result<[u64; 8]> {
    Yield::once().await;
    script.large()
}

#[retry(stop = attempts(3), wait = fixed(0.0))]
fn huge(script: &Script) -> Result<u64, Huge> {
    script.huge()
}

#[retry(stop = attempts(5), wait = exponential(multiplier = 0.001, min = 0.0, max = 20.0, exp_base = 2))]
async fn async_huge(script: &Script) -> Result<u64, Huge> {
    Yield::once().await;
    script.huge()
}

#[retry(stop = attempts(5), wait = exponential(multiplier = 0.001, min = 0.0, max = 20.0, exp_base = 2), retry = if_errors(Busy))]
async fn kept(script: &Script) -> Result<u64, Fault> {
    let kept = [script; 32];
    Yield::once().await;
    black_box(&kept);
    script.small()
}
