//! Keys that reach into the function, on shapes where they could miss.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use reattempt::{Failed, Interrupted, Policy, Retry, Shape, Verdict, retry};

use crate::{Fault, Script, sendable};

const POLICY: Policy = Policy::new().max(3).backoff(Shape::None);
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

// `fallback` with the error.
#[retry(max = 3, backoff = "none", on(_), fallback = |fault| Err(fault))]
fn fallback_error(script: &Script) -> Result<u32, Fault> {
    script.step()
}

// `fallback` with a value.
#[retry(max = 3, backoff = "none", on(_), fallback = |fault: Fault| fault.0 * 100)]
fn fallback_value(script: &Script) -> Result<u32, Fault> {
    script.step()
}

// `fallback` that is a path, on an `Option`.
#[retry(max = 3, backoff = "none", on(_), fallback = || 300)]
fn fallback_option(script: &Script) -> Option<u32> {
    script.step().ok()
}

// `fallback`, async, that reads `&mut self` and waits.
#[retry(max = 3, on(_), fallback = async |_| { step.refresh().await; 300 })]
async fn async_fallback(step: &mut Refreshing) -> Result<u32, Fault> {
    step.script.step_async().await
}

struct Refreshing {
    script: Script,
    refreshed: u32,
}

impl Refreshing {
    fn of(script: &Script) -> Self {
        let script = script.clone();
        Self {
            script,
            refreshed: 0,
        }
    }

    async fn refresh(&mut self) {
        tokio::task::yield_now().await;
        self.refreshed += 1;
    }

    // `before_retry` on `&mut self`.
    #[retry(max = 3, backoff = "none", on(_), before_retry = |_| self.refreshed += 1)]
    fn before_retry(&mut self) -> Result<u32, Fault> {
        assert_eq!(self.refreshed, self.script.attempts());
        self.script.step()
    }

    // A closure without a parameter.
    #[retry(max = 3, backoff = "none", on(_), before_retry = || self.refreshed += 1)]
    fn before_retry_bare(&mut self) -> Result<u32, Fault> {
        assert_eq!(self.refreshed, self.script.attempts());
        self.script.step()
    }

    // An async closure.
    #[retry(max = 3, on(_), before_retry = async |_| self.refresh().await)]
    async fn async_before_retry(&mut self) -> Result<u32, Fault> {
        assert_eq!(self.refreshed, self.script.attempts());
        self.script.step_async().await
    }

    // A closure that gives an `async` block, and one that gives a future.
    #[retry(max = 3, on(_), before_retry = |_| self.refresh())]
    async fn async_before_retry_future(&mut self) -> Result<u32, Fault> {
        assert_eq!(self.refreshed, self.script.attempts());
        self.script.step_async().await
    }

    // A sync closure in an async function, with the error.
    #[retry(max = 3, on(_), before_retry = |retry| self.refreshed = retry.attempt())]
    async fn async_before_retry_sync(&mut self) -> Result<u32, Fault> {
        assert_eq!(self.refreshed, self.script.attempts());
        self.script.step_async().await
    }
}

// `on_retry` with all that it sees.
#[retry(max = 3, backoff = "none", on(_), on_retry = |retry| seen.borrow_mut().push(told(retry)))]
fn on_retry(script: &Script, seen: &RefCell<Vec<(u32, u32)>>) -> Result<u32, Fault> {
    script.step()
}

// `on_retry`, async, next to `before_retry`.
#[retry(
    max = 3,
    on(_),
    on_retry = |retry: &Retry<'_, Fault>| seen.push(told(retry)),
    before_retry = async |retry| { assert!(retry.error().is_some()) }
)]
async fn async_on_retry(script: &Script, seen: &mut Vec<(u32, u32)>) -> Result<u32, Fault> {
    script.step_async().await
}

fn told(retry: &Retry<'_, Fault>) -> (u32, u32) {
    (retry.attempt(), retry.error().map_or(0, |fault| fault.0))
}

// `on` as a pattern with a guard.
#[retry(max = 9, on(Fault(n) if *n < limit))]
async fn on_guard(script: &Script, limit: u32) -> Result<u32, Fault> {
    script.step_async().await
}

// `on` as alternatives.
#[retry(max = 9, on(Fault(1) | Fault(2)))]
async fn on_alternatives(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

// `on` as a path.
#[retry(max = 9, on = is_early)]
async fn on_path(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

fn is_early(fault: &Fault) -> bool {
    fault.0 < 3
}

// `on` with a verdict.
#[retry(max = 9, on = |fault| match fault {
    Fault(1) => Verdict::Throttled(None),
    Fault(2) => Verdict::Refused,
    _ => Verdict::Permanent,
})]
async fn on_verdict(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

// `except` as a pattern, which wins over `on`.
#[retry(max = 9, on(_), except(Fault(3)))]
async fn except(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

// `except` as a closure, async.
#[retry(max = 9, on(_), except = |fault: &Fault| fault.0 == limit)]
async fn async_except(script: &Script, limit: u32) -> Result<u32, Fault> {
    script.step_async().await
}

/// A fault, or the end of polling.
#[derive(Debug)]
struct Polled(Option<Fault>);

impl From<Interrupted> for Polled {
    fn from(_: Interrupted) -> Self {
        Self(None)
    }
}

// `until` on the value of a `Result`.
// DEFECT: `until` never compiles, `let Some(cause) = { .. } else`.
#[cfg(any())]
#[retry(max = 3, backoff = "none", on(_), until = |number| *number == 3)]
fn until(script: &Script) -> Result<u32, Polled> {
    Ok(script.step().unwrap_or(0))
}

// `until` with `Failed`.
// DEFECT: `until` never compiles, `let Some(cause) = { .. } else`.
#[cfg(any())]
#[retry(max = 3, backoff = "none", on(_), until = |number| *number == 3)]
fn until_failed(script: &Script) -> Result<u32, Failed<Fault>> {
    Ok(script.step().unwrap_or(0))
}

// `until` on an `Option`, async.
// DEFECT: `until` never compiles, `let Some(cause) = { .. } else`.
#[cfg(any())]
#[retry(max = 3, until = Option::is_some)]
async fn async_until(script: &Script) -> Option<u32> {
    script.step_async().await.ok()
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
    deadline = "1m", patience = "1s", on(_), except(Polled(None)), fallback = |late: Polled| Err(late),
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
    context, fallback_error, policy_constant, policy_in_place,
    fallback_value => |script| fallback_value(script).ok().filter(|number| *number != 300),
    fallback_option => |script| fallback_option(script).filter(|number| *number != 300),
    before_retry => |script| Refreshing::of(script).before_retry(),
    before_retry_bare => |script| Refreshing::of(script).before_retry_bare(),
    on_retry => |script| {
        let seen = RefCell::default();
        let answer = on_retry(script, &seen);
        assert_eq!(*seen.borrow(), [(1, 1), (2, 2)]);
        answer
    },
    #[cfg(any())]
    until => |script| until(script).map_err(|polled| polled.0.unwrap_or(Fault(3))),
    #[cfg(any())]
    until_failed => |script| until_failed(script).map_err(|failed| failed.into_last().unwrap_or(Fault(3))),
    policy_of_self => |script| Configured::of(script).policy_of_self(),
    key_of_self => |script| Configured::of(script).key_of_self(),
}

async_shapes! {
    on_alternatives, on_path, on_verdict, except,
    on_guard => async |script| sendable(on_guard(script, 3)).await,
    async_context => async |script| {
        let keys = RefCell::default();
        let answer = async_context(script, &keys).await;
        let mut keys = keys.into_inner();
        keys.dedup();
        assert_eq!(keys.len(), 1);
        answer
    },
    async_fallback => async |script| {
        let mut step = Refreshing::of(script);
        let answer = sendable(async_fallback(&mut step)).await;
        answer.ok().filter(|number| *number != 300 || step.refreshed != 1)
    },
    async_before_retry => async |script| Refreshing::of(script).async_before_retry().await,
    async_before_retry_future => async |script| sendable(Refreshing::of(script).async_before_retry_future()).await,
    async_before_retry_sync => async |script| sendable(Refreshing::of(script).async_before_retry_sync()).await,
    async_on_retry => async |script| {
        let mut seen = vec![];
        let answer = sendable(async_on_retry(script, &mut seen)).await;
        assert_eq!(seen, [(1, 1), (2, 2)]);
        answer
    },
    async_except => async |script| sendable(async_except(script, 3)).await,
    #[cfg(any())]
    async_until => async |script| sendable(async_until(script)).await,
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
