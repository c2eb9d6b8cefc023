//! The functions without any retry, and called again and again until they succeed.

use super::bodies::{
    RequestResult, fetch, fetch_kept, fetch_suspended, kept, request, small, suspended,
};
use super::client::polled;
use super::lists::{async_runs, async_still_runs, sizes, still_runs, sync_runs};
use crate::cases::{Script, repeat};
use crate::peers::ways::Way;

pub(super) const WAY: Way = Way {
    name: "bare",
    lacks: None,
    runs: &[
        sync_runs!(),
        async_runs!(),
        still_runs!(),
        async_still_runs!(),
    ],
    sizes: sizes!(),
};

fn inlined(script: &Script) -> RequestResult {
    script.coded()
}

fn call(script: &Script) -> RequestResult {
    request(script)
}

fn still_inlined(script: &Script) -> RequestResult {
    loop {
        if let Ok(value) = script.coded() {
            return Ok(value);
        }
    }
}

fn still_call(script: &Script) -> RequestResult {
    loop {
        if let Ok(value) = request(script) {
            return Ok(value);
        }
    }
}

async fn still_small(script: &Script) -> RequestResult {
    loop {
        if let Ok(value) = small(script).await {
            return Ok(value);
        }
    }
}

async fn still_fetch(script: &Script) -> RequestResult {
    loop {
        if let Ok(value) = fetch(script).await {
            return Ok(value);
        }
    }
}
