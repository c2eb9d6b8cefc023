//! `context`, `policy`, values that are expressions, and all keys at once.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use reattempt::{Backoff, Policy, retry};

use crate::judging::Polled;
use crate::{Fault, Script, sendable};

const POLICY: Policy = Policy::new().max(3).backoff(Backoff::None);
const MAX: u32 = 3;

// `context`: the numbers of the attempts are 1, 2, 3.
#[retry(max = 3, backoff = "none", on(_), context = ctx)]
fn context(script: &Script) -> Result<u32, Fault> {
    assert_eq!(ctx.number(), script.attempts() + 1);
    assert_eq!(ctx.is_retry(), script.attempts() > 0);
    script.step()
}

// `context`: one key for all attempts.
#[retry(max = 3, on(_), context = ctx)]
async fn async_context(script: &Script, keys: &RefCell<Vec<String>>) -> Result<u32, Fault> {
    keys.borrow_mut().push(ctx.idempotency_key().to_string());
    assert_eq!(ctx.number(), script.attempts() + 1);
    script.step_async().await
}

// `policy` as a constant.
#[retry(policy = POLICY, on(_))]
fn policy_constant(script: &Script) -> Result<u32, Fault> {
    script.step()
}

// `policy` built in place.
#[retry(policy = Policy::new().max(MAX), backoff = "none", on(_))]
fn policy_in_place(script: &Script) -> Result<u32, Fault> {
    script.step()
}

struct Configured {
    script: Script,
    policy: Policy,
    max: u32,
}

impl Configured {
    fn of(script: &Script) -> Self {
        let script = script.clone();
        Self {
            script,
            policy: POLICY,
            max: 3,
        }
    }

    // `policy` of `self`.
    #[retry(policy = self.policy, on(_))]
    fn policy_of_self(&mut self) -> Result<u32, Fault> {
        self.script.step()
    }

    // A key of `self` over it.
    #[retry(policy = self.policy, max = self.max, on(_))]
    fn key_of_self(&self) -> Result<u32, Fault> {
        self.script.step()
    }

    // The same, async.
    #[retry(policy = self.policy.max(3), on(_))]
    async fn async_policy_of_self(&mut self) -> Result<u32, Polled> {
        self.script
            .step_async()
            .await
            .map_err(|fault| Polled(Some(fault)))
    }
}

// Constants and expressions as values.
#[retry(max = MAX, base = Duration::from_millis(2 * 5), jitter = "none", on(_))]
async fn constants(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

// A delay function.
#[retry(max = 3, backoff = |n| Duration::from_secs(n.into()), jitter = "none", on(_))]
async fn backoff_closure(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

// All keys at once.
#[retry(
    max = 3, backoff = "exp", base = "10ms", first = "5ms", factor = 1.5, cap = "1s", jitter = 0.1, fast_first,
    deadline = "1m", max_retry_after = "1s", on(_), except(Polled(None)), retry_after = |_| None::<Duration>, fallback = |late: Polled| Err(late),
    before_retry = |_| counted.set(counted.get() + 1), on_retry = |_| counted.set(counted.get() + 1),
    context = ctx, clone(text), name = "all.keys"
)]
async fn all_keys(script: &Script, text: String, counted: &Cell<u32>) -> Result<u32, Polled> {
    drop(text);
    assert_eq!(counted.get(), 2 * (ctx.number() - 1));
    script
        .step_async()
        .await
        .map_err(|fault| Polled(Some(fault)))
}

shapes! {
    context, policy_constant, policy_in_place,
    policy_of_self => |script| Configured::of(script).policy_of_self(),
    key_of_self => |script| Configured::of(script).key_of_self(),
}

async_shapes! {
    async_context => async |script| {
        let keys = RefCell::default();
        let answer = async_context(script, &keys).await;
        let mut keys = keys.into_inner();
        keys.dedup();
        assert_eq!(keys.len(), 1);
        answer
    },
    async_policy_of_self => async |script| {
        let answer = sendable(Configured::of(script).async_policy_of_self()).await;
        answer.map_err(|polled| polled.0.unwrap_or(Fault(0)))
    },
    constants => async |script| sendable(constants(script)).await,
    backoff_closure => async |script| {
        let start = tokio::time::Instant::now();
        let answer = sendable(backoff_closure(script)).await;
        assert_eq!(start.elapsed().as_secs(), 1);
        answer
    },
    all_keys => async |script| {
        let answer = all_keys(script, String::new(), &Cell::new(0)).await;
        answer.map_err(|polled| polled.0.unwrap_or(Fault(0)))
    },
}
