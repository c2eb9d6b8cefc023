//! `#[retry]`. Services and breakers are those of `--peers`.

use std::future::ready;
use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Duration;

use reattempt::{Policy, retry};

use super::bodies::{self, RequestResult, request};
use super::client::{Client, asleep, called, fetched, polled};
use super::lists::{async_runs, async_still_runs, client_runs, sizes, still_runs, sync_runs};
use crate::cases::{Script, Still, repeat};
use crate::peers::ways::Way;
use crate::peers::{breakers, services};

pub(super) const WAY: Way = Way {
    name: "ours",
    lacks: None,
    runs: &[
        sync_runs!(),
        async_runs!(),
        still_runs!(),
        async_still_runs!(),
        client_runs!(USUAL),
        services::OURS,
        breakers::OURS,
        #[cfg(feature = "config")]
        super::named::RUNS,
    ],
    sizes: sizes!(USUAL),
};

const USUAL: Policy = Policy::new().max(5).base(Duration::from_millis(1));

static POLICY: LazyLock<Policy> = LazyLock::new(|| black_box(USUAL));

#[retry(max = 5, base = "1ms", on(_))]
fn inlined(script: &Script) -> RequestResult {
    script.coded()
}

#[retry(max = 5, base = "1ms", on(_))]
fn call(script: &Script) -> RequestResult {
    request(script)
}

#[retry(max = 5, base = "1ms", on(_), timer = Still)]
fn still_inlined(script: &Script) -> RequestResult {
    script.coded()
}

#[retry(max = 5, base = "1ms", on(_), timer = Still)]
fn still_call(script: &Script) -> RequestResult {
    request(script)
}

#[retry(max = 5, base = "1ms", on(_))]
async fn small(script: &Script) -> RequestResult {
    ready(()).await;
    script.coded()
}

#[retry(max = 5, base = "1ms", on(_))]
async fn fetch(script: &Script) -> RequestResult {
    bodies::fetch(script).await
}

#[retry(max = 5, base = "1ms", on(_))]
async fn kept(script: &Script) -> RequestResult {
    let kept = [script; 32];
    ready(()).await;
    black_box(&kept);
    script.coded()
}

#[retry(max = 5, base = "1ms", on(_))]
async fn fetch_kept(script: &Script) -> RequestResult {
    bodies::fetch_kept(script).await
}

#[retry(max = 5, base = "1ms", on(_), timer = Still)]
async fn still_small(script: &Script) -> RequestResult {
    ready(()).await;
    script.coded()
}

#[retry(max = 5, base = "1ms", on(_), timer = Still)]
async fn still_fetch(script: &Script) -> RequestResult {
    bodies::fetch(script).await
}

#[retry(policy = *POLICY, on(_))]
fn shared(script: &Script) -> RequestResult {
    request(script)
}

#[retry(policy = *POLICY, on(_))]
async fn shared_async(script: &Script) -> RequestResult {
    bodies::fetch(script).await
}

impl Client<Policy> {
    #[retry(policy = self.settings, on(_))]
    fn call(&self) -> RequestResult {
        request(&self.script)
    }

    #[retry(policy = self.settings, on(_))]
    async fn fetch(&self) -> RequestResult {
        bodies::fetch(&self.script).await
    }
}

fn own(client: &Client<Policy>) -> RequestResult {
    client.call()
}

fn own_async(client: &Client<Policy>) -> impl Future<Output = RequestResult> {
    client.fetch()
}
