//! Functions whose policy has a name in the configuration; none is loaded.

use reattempt::retry;

use super::asynchronous::polled;
use super::{Fault, Run, Script, Yield, is_transient, repeat};

pub(super) const CASES: &[(&str, Run)] = &[
    ("sync-small-named", |k, n| repeat(k, n, small_named)),
    ("async-pending-named", polled!(pending_named)),
];

#[retry(policy = "benches", max = 5, on = is_transient, budget = "none")]
fn small_named(script: &Script) -> Result<u64, Fault> {
    script.small()
}

#[retry(policy = "benches", max = 5, on = is_transient, budget = "none")]
async fn pending_named(script: &Script) -> Result<u64, Fault> {
    Yield::once().await;
    script.small()
}
