//! Loops by hand: `naive` computes the delay where it stands, `cold` in a function that is out of the way.

use std::cell::Cell;
use std::hint::black_box;
use std::io;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use reattempt::timer::{BlockingTimer, Timer};

use super::bodies::{self, RequestResult, any, request, request_huge, request_large};
use super::client::{Client, Limits, asleep, called, fetched, polled, waited};
use super::lists::{
    async_runs, async_still_runs, client_runs, none_runs, sizes, still_runs, sync_runs, wait_runs,
};
use crate::cases::{
    Huge, Run, Script, Still, exponential_from, exponential_within, is_busy, is_huge, repeat,
};
use crate::peers::ways::{Size, Way};

pub(super) const NAIVE: Way = Way {
    name: "hand",
    lacks: None,
    runs: naive::RUNS,
    sizes: naive::SIZES,
};

pub(super) const COLD: Way = Way {
    name: "hand-cold",
    lacks: None,
    runs: cold::RUNS,
    sizes: cold::SIZES,
};

const BASE: Duration = Duration::from_millis(1);

static LIMITS: LazyLock<Limits> = LazyLock::new(|| black_box(Limits::USUAL));

macro_rules! attempts {
    ($max:expr, $attempt:expr, $retry:ident => $pause:expr) => {
        attempts!($max, any, $attempt, $retry => $pause)
    };
    ($max:expr, $again:path, $attempt:expr, $retry:ident => $pause:expr) => {{
        let mut $retry = 0;
        loop {
            match $attempt {
                Err(error) if $retry + 1 < $max && $again(&error) => {}
                outcome => return outcome,
            }
            $pause;
            $retry += 1;
        }
    }};
}

/// All loops. What is done between two attempts has these attributes.
macro_rules! loops {
    ($way:ident, $(#[$how:meta])+) => {
        mod $way {
            use super::*;

            $(#[$how])+
            fn sleep(retry: u32) {
                thread::sleep(exponential_from(BASE, retry));
            }

            $(#[$how])+
            fn sleep_async(retry: u32) -> tokio::time::Sleep {
                tokio::time::sleep(exponential_from(BASE, retry))
            }

            $(#[$how])+
            fn still(retry: u32) {
                BlockingTimer::sleep(&Still, exponential_from(BASE, retry));
            }

            $(#[$how])+
            fn still_async(retry: u32) -> std::future::Ready<()> {
                Timer::sleep(&Still, exponential_from(BASE, retry))
            }

            $(#[$how])+
            fn sleep_within(limits: &Limits, retry: u32) {
                thread::sleep(exponential_within(limits.base, limits.cap, retry));
            }

            $(#[$how])+
            fn sleep_within_async(limits: &Limits, retry: u32) -> tokio::time::Sleep {
                tokio::time::sleep(exponential_within(limits.base, limits.cap, retry))
            }

            fn inlined(script: &Script) -> RequestResult {
                attempts!(5, script.coded(), retry => sleep(retry))
            }

            fn call(script: &Script) -> RequestResult {
                attempts!(5, request(script), retry => sleep(retry))
            }

            fn still_inlined(script: &Script) -> RequestResult {
                attempts!(5, script.coded(), retry => still(retry))
            }

            fn still_call(script: &Script) -> RequestResult {
                attempts!(5, request(script), retry => still(retry))
            }

            async fn small(script: &Script) -> RequestResult {
                attempts!(5, bodies::small(script).await, retry => sleep_async(retry).await)
            }

            async fn fetch(script: &Script) -> RequestResult {
                attempts!(5, bodies::fetch(script).await, retry => sleep_async(retry).await)
            }

            async fn kept(script: &Script) -> RequestResult {
                attempts!(5, bodies::kept(script).await, retry => sleep_async(retry).await)
            }

            async fn fetch_kept(script: &Script) -> RequestResult {
                attempts!(5, bodies::fetch_kept(script).await, retry => sleep_async(retry).await)
            }

            async fn suspended(script: &Script) -> RequestResult {
                attempts!(5, bodies::suspended(script).await, retry => sleep_async(retry).await)
            }

            async fn fetch_suspended(script: &Script) -> RequestResult {
                attempts!(
                    5,
                    bodies::fetch_suspended(script).await,
                    retry => sleep_async(retry).await
                )
            }

            fn nested(script: &Script) -> RequestResult {
                let first = Cell::new(true);
                attempts!(
                    5,
                    if first.replace(false) {
                        script.coded()
                    } else {
                        black_box(still_call)(script)
                    },
                    retry => still(retry)
                )
            }

            async fn async_nested(script: &Script) -> RequestResult {
                let first = Cell::new(true);
                attempts!(
                    5,
                    if first.replace(false) {
                        script.coded()
                    } else {
                        still_fetch(script).await
                    },
                    retry => still_async(retry).await
                )
            }

            async fn still_small(script: &Script) -> RequestResult {
                attempts!(5, bodies::small(script).await, retry => still_async(retry).await)
            }

            async fn still_fetch(script: &Script) -> RequestResult {
                attempts!(5, bodies::fetch(script).await, retry => still_async(retry).await)
            }

            fn shared(script: &Script) -> RequestResult {
                let limits = &*LIMITS;
                attempts!(limits.max, request(script), retry => sleep_within(limits, retry))
            }

            async fn shared_async(script: &Script) -> RequestResult {
                let limits = &*LIMITS;
                attempts!(
                    limits.max,
                    bodies::fetch(script).await,
                    retry => sleep_within_async(limits, retry).await
                )
            }

            fn own(client: &Client<Limits>) -> RequestResult {
                let limits = &client.settings;
                attempts!(limits.max, request(&client.script), retry => sleep_within(limits, retry))
            }

            async fn own_async(client: &Client<Limits>) -> RequestResult {
                let limits = &client.settings;
                attempts!(
                    limits.max,
                    bodies::fetch(&client.script).await,
                    retry => sleep_within_async(limits, retry).await
                )
            }

            pub(super) const RUNS: &[&[(&str, Run)]] = &[
                sync_runs!(),
                async_runs!(),
                still_runs!(),
                async_still_runs!(),
                wait_runs!(),
                client_runs!(Limits::USUAL),
                NONE,
                &[
                    ("inside", |k, n| repeat(k, n, nested)),
                    ("async-inside", |k, n| polled(k, n, async_nested)),
                ],
            ];

            pub(super) const SIZES: &[(&str, Size)] = sizes!(Limits::USUAL);
        }
    };
}

/// Without a delay both are one.
const NONE: &[(&str, Run)] = none_runs!();

fn none(script: &Script) -> RequestResult {
    attempts!(3, script.coded(), retry => {})
}

fn none_call(script: &Script) -> RequestResult {
    attempts!(3, request(script), retry => {})
}

fn large(script: &Script) -> io::Result<[u64; 8]> {
    attempts!(3, is_busy, script.large(), retry => {})
}

fn large_call(script: &Script) -> io::Result<[u64; 8]> {
    attempts!(3, is_busy, request_large(script), retry => {})
}

fn huge(script: &Script) -> Result<u64, Huge> {
    attempts!(3, is_huge, script.huge(), retry => {})
}

fn huge_call(script: &Script) -> Result<u64, Huge> {
    attempts!(3, is_huge, request_huge(script), retry => {})
}

loops!(naive, #[inline(always)]);
loops!(cold, #[cold] #[inline(never)]);
