//! No library: the function itself, and in a loop by hand.

use std::hint::black_box;
use std::io;
use std::thread;
use std::time::Duration;

use reattempt::timer::BlockingTimer as _;

use super::bodies;
use super::ways::{Way, async_runs, sizes, sync_runs};
use crate::cases::{
    Fault, Huge, Script, Still, exponential_from, is_busy, is_huge, is_transient, polled,
    polled_in_tokio, repeat,
};

pub(super) const WAY: Way = Way {
    name: "hand",
    lacks: None,
    runs: &[
        sync_runs!(),
        async_runs!(),
        &[
            ("delay", |k, n| repeat(k, n, delayed)),
            ("nested", |k, n| repeat(k, n, nested)),
        ],
    ],
    sizes: sizes!(),
};

const BASE: Duration = Duration::from_millis(1);

/// At most so many attempts, with what is done between two of them.
macro_rules! attempts {
    ($max:literal, $again:path, $attempt:expr, $retry:ident => $pause:expr) => {{
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

macro_rules! slept {
    ($again:path, $attempt:expr) => {
        attempts!(5, $again, $attempt, retry => tokio::time::sleep(exponential_from(BASE, retry)).await)
    };
}

fn small(script: &Script) -> Result<u64, Fault> {
    attempts!(5, is_transient, script.small(), retry => thread::sleep(exponential_from(BASE, retry)))
}

fn large(script: &Script) -> io::Result<[u64; 8]> {
    attempts!(5, is_busy, script.large(), retry => thread::sleep(exponential_from(BASE, retry)))
}

fn none(script: &Script) -> Result<u64, Fault> {
    attempts!(3, is_transient, script.small(), retry => {})
}

fn none_large(script: &Script) -> io::Result<[u64; 8]> {
    attempts!(3, is_busy, script.large(), retry => {})
}

fn huge(script: &Script) -> Result<u64, Huge> {
    attempts!(3, is_huge, script.huge(), retry => {})
}

fn nested(script: &Script) -> Result<u64, Fault> {
    attempts!(5, is_transient, black_box(small)(script), retry => thread::sleep(exponential_from(BASE, retry)))
}

fn delayed(script: &Script) -> Result<u64, Fault> {
    attempts!(10, is_transient, script.small(), retry => Still.sleep(exponential_from(BASE, retry)))
}

async fn ready(script: &Script) -> Result<u64, Fault> {
    slept!(is_transient, bodies::ready(script).await)
}

async fn pending(script: &Script) -> Result<u64, Fault> {
    slept!(is_transient, bodies::pending(script).await)
}

async fn many(script: &Script) -> io::Result<[u64; 8]> {
    slept!(is_busy, bodies::many(script).await)
}

async fn async_huge(script: &Script) -> Result<u64, Huge> {
    slept!(is_huge, bodies::huge(script).await)
}

async fn kept(script: &Script) -> Result<u64, Fault> {
    slept!(is_transient, bodies::kept(script).await)
}
