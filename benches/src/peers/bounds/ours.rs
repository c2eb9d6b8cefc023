//! `#[retry]`, with return types that go by two names. Services and breakers are those of
//! `--peers`.

use std::cell::Cell;
use std::future::ready;
use std::hint::black_box;
use std::io;
use std::sync::LazyLock;
use std::time::Duration;

use reattempt::{Budget, Policy, deadline, retry};

use super::bodies::{self, RequestResult, request, request_huge, request_large};
use super::client::{Client, asleep, called, fetched, polled, waited};
use super::lists::{
    async_runs, async_still_runs, client_runs, none_runs, sizes, still_runs, sync_runs, wait_runs,
};
use crate::cases::{Code, Huge, Run, Script, Still, is_busy, is_huge, repeat};
use crate::peers::ways::{Size, Way};

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

const USUAL: Policy = Policy::new()
    .max(5)
    .base(Duration::from_millis(1))
    .without_budget();
const HOUR: Duration = Duration::from_secs(3_600);

static POLICY: LazyLock<Policy> = LazyLock::new(|| black_box(USUAL));
static PLENTY: Budget = Budget::per_success(1.0);

type R = Result<u64, Code>;
type Large = io::Result<[u64; 8]>;
type Answer<T, E = Code> = Result<T, E>;

/// All functions, with these names for the types of sync answers, of async ones, of large ones and
/// of large errors. The last two are methods, whose names are not in a module.
macro_rules! functions {
    (
        $way:ident, [$($sync:tt)+], [$($async:tt)+], [$($large:tt)+], [$($huge:tt)+],
        $call:ident, $fetch:ident
    ) => {
        mod $way {
            use super::*;

            pub(super) const RUNS: &[&[(&str, Run)]] = &[
                sync_runs!(),
                async_runs!(),
                wait_runs!(),
                none_runs!(),
                still_runs!(),
                async_still_runs!(),
                client_runs!(USUAL),
                &[
                    ("inside", |k, n| repeat(k, n, nested)),
                    ("async-inside", |k, n| polled(k, n, async_nested)),
                    ("until", |k, n| repeat(k, n, until)),
                    ("async-until", |k, n| polled(k, n, async_until)),
                    ("limits", |k, n| polled(k, n, limits)),
                    ("shared", |k, n| repeat(k, n, default)),
                    ("shared-none", |k, n| repeat(k, n, default_none)),
                    ("shared-async", |k, n| polled(k, n, default_async)),
                    ("shared-async-still", |k, n| polled(k, n, default_async_still)),
                ],
                #[cfg(feature = "config")]
                NAMED,
            ];

            pub(super) const SIZES: &[(&str, Size)] = sizes!(USUAL);

            #[retry(max = 5, base = "1ms", on(_), budget = "none")]
            fn inlined(script: &Script) -> $($sync)+ {
                script.coded()
            }

            #[retry(max = 5, base = "1ms", on(_), budget = "none")]
            fn call(script: &Script) -> $($sync)+ {
                request(script)
            }

            #[retry(max = 5, base = "1ms", on(_), timer = Still, budget = "none")]
            fn still_inlined(script: &Script) -> $($sync)+ {
                script.coded()
            }

            #[retry(max = 5, base = "1ms", on(_), timer = Still, budget = "none")]
            fn still_call(script: &Script) -> $($sync)+ {
                request(script)
            }

            #[retry(max = 3, backoff = "none", on(_), budget = "none")]
            fn none(script: &Script) -> $($sync)+ {
                script.coded()
            }

            #[retry(max = 3, backoff = "none", on(_), budget = "none")]
            fn none_call(script: &Script) -> $($sync)+ {
                request(script)
            }

            #[retry(max = 3, backoff = "none", on = is_busy, budget = "none")]
            fn large(script: &Script) -> $($large)+ {
                script.large()
            }

            #[retry(max = 3, backoff = "none", on = is_busy, budget = "none")]
            fn large_call(script: &Script) -> $($large)+ {
                request_large(script)
            }

            #[retry(max = 3, backoff = "none", on = is_huge, budget = "none")]
            fn huge(script: &Script) -> $($huge)+ {
                script.huge()
            }

            #[retry(max = 3, backoff = "none", on = is_huge, budget = "none")]
            fn huge_call(script: &Script) -> $($huge)+ {
                request_huge(script)
            }

            #[retry(max = 5, base = "1ms", on(_), timer = Still, budget = "none")]
            fn outer(script: &Script, first: &Cell<bool>) -> $($sync)+ {
                if first.replace(false) {
                    script.coded()
                } else {
                    black_box(still_call)(script)
                }
            }

            fn nested(script: &Script) -> $($sync)+ {
                outer(script, &Cell::new(true))
            }

            fn until(script: &Script) -> $($sync)+ {
                deadline::within_blocking(HOUR, || still_call(script))
            }

            #[retry(max = 5, base = "1ms", on(_), budget = "none")]
            async fn small(script: &Script) -> $($async)+ {
                ready(()).await;
                script.coded()
            }

            #[retry(max = 5, base = "1ms", on(_), budget = "none")]
            async fn fetch(script: &Script) -> $($async)+ {
                bodies::fetch(script).await
            }

            #[retry(max = 5, base = "1ms", on(_), budget = "none")]
            async fn kept(script: &Script) -> $($async)+ {
                let kept = [script; 32];
                ready(()).await;
                black_box(&kept);
                script.coded()
            }

            #[retry(max = 5, base = "1ms", on(_), budget = "none")]
            async fn fetch_kept(script: &Script) -> $($async)+ {
                bodies::fetch_kept(script).await
            }

            #[retry(max = 5, base = "1ms", on(_), budget = "none")]
            async fn suspended(script: &Script) -> $($async)+ {
                bodies::suspended(script).await
            }

            #[retry(max = 5, base = "1ms", on(_), budget = "none")]
            async fn fetch_suspended(script: &Script) -> $($async)+ {
                bodies::fetch_suspended(script).await
            }

            #[retry(max = 5, base = "1ms", on(_), timer = Still, budget = "none")]
            async fn still_small(script: &Script) -> $($async)+ {
                ready(()).await;
                script.coded()
            }

            #[retry(max = 5, base = "1ms", on(_), timer = Still, budget = "none")]
            async fn still_fetch(script: &Script) -> $($async)+ {
                bodies::fetch(script).await
            }

            #[retry(max = 5, base = "1ms", on(_), timer = Still, budget = "none")]
            async fn async_outer(script: &Script, first: &Cell<bool>) -> $($async)+ {
                if first.replace(false) {
                    script.coded()
                } else {
                    still_fetch(script).await
                }
            }

            async fn async_nested(script: &Script) -> $($async)+ {
                async_outer(script, &Cell::new(true)).await
            }

            async fn async_until(script: &Script) -> $($async)+ {
                deadline::within(HOUR, still_fetch(script)).await
            }

            #[retry(max = 5, base = "1ms", on(_))]
            fn default(script: &Script) -> $($sync)+ {
                request(script)
            }

            #[retry(max = 3, backoff = "none", on(_))]
            fn default_none(script: &Script) -> $($sync)+ {
                request(script)
            }

            #[retry(max = 5, base = "1ms", on(_))]
            async fn default_async(script: &Script) -> $($async)+ {
                bodies::fetch(script).await
            }

            #[retry(max = 5, base = "1ms", on(_), timer = Still)]
            async fn default_async_still(script: &Script) -> $($async)+ {
                bodies::fetch(script).await
            }

            #[retry(
                max = 5, base = "1ms", on(_), timer = Still,
                deadline = "1h", timeout = "1m", budget = &PLENTY
            )]
            async fn limits(script: &Script) -> $($async)+ {
                bodies::fetch(script).await
            }

            #[retry(policy = *POLICY, on(_))]
            fn shared(script: &Script) -> $($sync)+ {
                request(script)
            }

            #[retry(policy = *POLICY, on(_))]
            async fn shared_async(script: &Script) -> $($async)+ {
                bodies::fetch(script).await
            }

            impl Client<Policy> {
                #[retry(policy = self.settings, on(_))]
                fn $call(&self) -> $($sync)+ {
                    request(&self.script)
                }

                #[retry(policy = self.settings, on(_))]
                async fn $fetch(&self) -> $($async)+ {
                    bodies::fetch(&self.script).await
                }
            }

            fn own(client: &Client<Policy>) -> $($sync)+ {
                client.$call()
            }

            fn own_async(client: &Client<Policy>) -> impl Future<Output = $($async)+> {
                client.$fetch()
            }

            #[cfg(feature = "config")]
            const NAMED: &[(&str, Run)] = &[
                ("named", |k, n| repeat(k, n, named)),
                ("named-async", |k, n| polled(k, n, named_async)),
                ("named-still", |k, n| repeat(k, n, named_still)),
                ("named-async-still", |k, n| polled(k, n, named_async_still)),
                ("loaded", |k, n| loaded(|| repeat(k, n, named))),
                ("loaded-async", |k, n| loaded(|| polled(k, n, named_async))),
                ("loaded-still", |k, n| loaded(|| repeat(k, n, named_still))),
                ("loaded-async-still", |k, n| loaded(|| polled(k, n, named_async_still))),
            ];

            #[cfg(feature = "config")]
            #[retry(policy = "benches", max = 5, base = "1ms", on(_), budget = "none")]
            fn named(script: &Script) -> $($sync)+ {
                request(script)
            }

            #[cfg(feature = "config")]
            #[retry(policy = "benches", max = 5, base = "1ms", on(_), budget = "none")]
            async fn named_async(script: &Script) -> $($async)+ {
                bodies::fetch(script).await
            }

            #[cfg(feature = "config")]
            #[retry(policy = "benches", max = 5, base = "1ms", on(_), timer = Still, budget = "none")]
            fn named_still(script: &Script) -> $($sync)+ {
                request(script)
            }

            #[cfg(feature = "config")]
            #[retry(policy = "benches", max = 5, base = "1ms", on(_), timer = Still, budget = "none")]
            async fn named_async_still(script: &Script) -> $($async)+ {
                bodies::fetch(script).await
            }
        }
    };
}

functions!(
    spelled,
    [RequestResult],
    [RequestResult],
    [io::Result<[u64; 8]>],
    [Result<u64, Huge>],
    call,
    fetch
);
functions!(
    aliased,
    [R],
    [Answer<u64>],
    [Large],
    [Answer<u64, Huge>],
    call_aliased,
    fetch_aliased
);

#[cfg(feature = "config")]
fn loaded(calls: impl FnOnce()) {
    let config =
        reattempt::config::Config::from_toml("[policies.benches]\nmax = 5\nbase = \"1ms\"");
    config
        .and_then(reattempt::config::Config::install)
        .unwrap_or_else(|faults| panic!("{faults}"));
    calls();
}
