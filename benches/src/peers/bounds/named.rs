//! Functions whose policy has a name, with a configuration that has it and without any.

use reattempt::config::Config;
use reattempt::retry;

use super::bodies::{self, RequestResult, request};
use super::client::polled;
use crate::cases::{Run, Script, Still, repeat};

pub(super) const RUNS: &[(&str, Run)] = &[
    ("named", |k, n| repeat(k, n, named)),
    ("named-async", |k, n| polled(k, n, named_async)),
    ("named-still", |k, n| repeat(k, n, named_still)),
    ("named-async-still", |k, n| polled(k, n, named_async_still)),
    ("loaded", |k, n| loaded(|| repeat(k, n, named))),
    ("loaded-async", |k, n| loaded(|| polled(k, n, named_async))),
    ("loaded-still", |k, n| loaded(|| repeat(k, n, named_still))),
    ("loaded-async-still", |k, n| {
        loaded(|| polled(k, n, named_async_still));
    }),
];

fn loaded(calls: impl FnOnce()) {
    let config = Config::from_toml("[policies.benches]\nmax = 5\nbase = \"1ms\"");
    config
        .and_then(Config::install)
        .unwrap_or_else(|faults| panic!("{faults}"));
    calls();
}

#[retry(policy = "benches", max = 5, base = "1ms", on(_))]
fn named(script: &Script) -> RequestResult {
    request(script)
}

#[retry(policy = "benches", max = 5, base = "1ms", on(_))]
async fn named_async(script: &Script) -> RequestResult {
    bodies::fetch(script).await
}

#[retry(policy = "benches", max = 5, base = "1ms", on(_), timer = Still)]
fn named_still(script: &Script) -> RequestResult {
    request(script)
}

#[retry(policy = "benches", max = 5, base = "1ms", on(_), timer = Still)]
async fn named_async_still(script: &Script) -> RequestResult {
    bodies::fetch(script).await
}
