//! `#[retry]`. The services and breakers are in files of their own.

use std::future::ready as at_once;
use std::hint::black_box;
use std::io;

use reattempt::retry;

use super::ways::{PLAIN_NAME, Size, Way, async_runs, sizes, sync_runs};
use super::{breakers, resilience, services};
use crate::cases::{
    Fault, Huge, Run, Script, Still, Yield, is_busy, is_huge, is_transient, polled,
    polled_in_tokio, repeat,
};

pub(super) const WAY: Way = Way {
    name: "ours",
    lacks: None,
    runs: spelled::RUNS,
    sizes: spelled::SIZES,
};

/// The same where no word of a return type says that it is a `Result`.
pub(super) const ALIAS: Way = Way {
    name: ALIAS_NAME,
    lacks: None,
    runs: aliased::RUNS,
    sizes: aliased::SIZES,
};

pub(super) const ALIAS_NAME: &str = "ours, alias";

/// The same without jitter, beside those that have none.
pub(super) const PLAIN: Way = Way {
    name: PLAIN_NAME,
    lacks: Some("no jitter"),
    runs: &[&[
        ("none", |k, n| repeat(k, n, spelled::none)),
        ("wait", polled_in_tokio!(plain)),
        ("delay", |k, n| repeat(k, n, plain_delayed)),
    ]],
    sizes: &[],
};

/// All functions, with these names for the types of their answers.
macro_rules! functions {
    (
        $way:ident, [$($small:tt)+], [$($large:tt)+], [$($huge:tt)+],
        [$($runs:expr),*], [$($sizes:expr),*]
    ) => {
        mod $way {
            use super::*;

            pub(super) const RUNS: &[&[(&str, Run)]] = &[
                sync_runs!(),
                async_runs!(),
                &[("nested", |k, n| repeat(k, n, nested))],
                $($runs),*
            ];

            pub(super) const SIZES: &[(&str, Size)] = sizes!($($sizes),*);

            #[retry(max = 5, base = "1ms", on = is_transient, budget = "none")]
            fn small(script: &Script) -> $($small)+ {
                script.small()
            }

            #[retry(max = 5, base = "1ms", on = is_busy, budget = "none")]
            fn large(script: &Script) -> $($large)+ {
                script.large()
            }

            #[retry(max = 3, backoff = "none", on = is_transient, budget = "none")]
            pub(super) fn none(script: &Script) -> $($small)+ {
                script.small()
            }

            #[retry(max = 3, backoff = "none", on = is_busy, budget = "none")]
            fn none_large(script: &Script) -> $($large)+ {
                script.large()
            }

            #[retry(max = 3, backoff = "none", on = is_huge, budget = "none")]
            fn huge(script: &Script) -> $($huge)+ {
                script.huge()
            }

            #[retry(max = 5, base = "1ms", on = is_transient, budget = "none")]
            fn nested(script: &Script) -> $($small)+ {
                black_box(small)(script)
            }

            #[retry(max = 5, base = "1ms", on = is_transient, budget = "none")]
            async fn ready(script: &Script) -> $($small)+ {
                at_once(()).await;
                script.small()
            }

            #[retry(max = 5, base = "1ms", on = is_transient, budget = "none")]
            async fn pending(script: &Script) -> $($small)+ {
                Yield::once().await;
                script.small()
            }

            #[retry(max = 5, base = "1ms", on = is_busy, budget = "none")]
            async fn many(script: &Script) -> $($large)+ {
                Yield::once().await;
                script.large()
            }

            #[retry(max = 5, base = "1ms", on = is_huge, budget = "none")]
            async fn async_huge(script: &Script) -> $($huge)+ {
                Yield::once().await;
                script.huge()
            }

            #[retry(max = 5, base = "1ms", on = is_transient, budget = "none")]
            async fn kept(script: &Script) -> $($small)+ {
                let kept = [script; 32];
                Yield::once().await;
                black_box(&kept);
                script.small()
            }
        }
    };
}

type R = Result<u64, Fault>;
type Large = io::Result<[u64; 8]>;
type Answer<T, E> = Result<T, E>;

functions!(
    spelled,
    [Result<u64, Fault>],
    [io::Result<[u64; 8]>],
    [Result<u64, Huge>],
    [DELAY, services::OURS, resilience::OURS, breakers::OURS],
    [("service", services::our_size)]
);
functions!(aliased, [R], [Large], [Answer<u64, Huge>], [], []);

const DELAY: &[(&str, Run)] = &[("delay", |k, n| repeat(k, n, delayed))];

#[retry(max = 5, base = "1ms", jitter = "none", on = is_transient, budget = "none")]
async fn plain(script: &Script) -> Result<u64, Fault> {
    at_once(()).await;
    script.small()
}

#[retry(max = 10, base = "1ms", jitter = "none", on = is_transient, timer = Still, budget = "none")]
fn plain_delayed(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[retry(max = 10, base = "1ms", jitter = "full", on = is_transient, timer = Still, budget = "none")]
fn delayed(script: &Script) -> Result<u64, Fault> {
    script.small()
}
