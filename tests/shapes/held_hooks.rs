//! Hooks that a parameter or a field holds: a call leaves them there, because it may ask them again.

use std::sync::Arc;
use std::time::Duration;

use reattempt::{Retry, Verdict, Verified, retry};

use crate::judging::Polled;
use crate::{Fault, Script, sendable};

// A helper whose callers decide what it retries. Nothing but `on`: the retries are out of line.
#[retry(max = 9, backoff = "none", budget = 0.1, on = judge)]
fn on(script: &Script, judge: impl Fn(&Fault) -> bool) -> Result<u32, Fault> {
    script.step()
}

#[retry(max = 3, on = judge)]
fn on_boxed(script: &Script, judge: Box<dyn Fn(&Fault) -> Verdict>) -> Result<u32, Fault> {
    script.step()
}

#[retry(max = 9, on = judge)]
async fn async_on_shared(
    script: &Script,
    judge: Arc<dyn Fn(&Fault) -> bool + Send + Sync>,
) -> Result<u32, Fault> {
    script.step_async().await
}

// One that counts.
#[retry(max = 9, backoff = "none", budget = 0.1, on = judge)]
fn on_mut(script: &Script, mut judge: impl FnMut(&Fault) -> bool) -> Result<u32, Fault> {
    script.step()
}

#[retry(max = 9, on = judge)]
async fn async_on_borrowed(
    script: &Script,
    judge: &mut (dyn FnMut(&Fault) -> bool + Send),
) -> Result<u32, Fault> {
    script.step_async().await
}

#[retry(max = 9, on = judge)]
async fn async_on<J: Fn(&Fault) -> bool>(script: &Script, judge: J) -> Result<u32, Fault> {
    script.step_async().await
}

// All that are asked about a failure, and those that run before a retry.
#[retry(max = 3, on(_), except = not, retry_after = after, on_retry = notify, before_retry = prepare)]
async fn async_hooks(
    script: &Script,
    not: impl Fn(&Fault) -> bool,
    after: impl Fn(&Fault) -> Option<Duration>,
    notify: impl Fn(&Retry<'_, Fault>),
    prepare: impl AsyncFn(&Retry<'_, Fault>),
) -> Result<u32, Fault> {
    script.step_async().await
}

#[retry(max = 3, on(_), except = not, retry_after = after, on_retry = notify, before_retry = prepare)]
fn hooks(
    script: &Script,
    not: impl Fn(&Fault) -> bool,
    after: impl Fn(&Fault) -> Option<Duration>,
    notify: impl Fn(&Retry<'_, Fault>),
    prepare: impl Fn(&Retry<'_, Fault>),
) -> Result<u32, Fault> {
    script.step()
}

#[retry(max = 3, idempotent = false, on = |_| Verdict::Transient, verify = check)]
fn verify(script: &Script, check: impl Fn(&Fault) -> Verified<u32>) -> Result<u32, Fault> {
    script.step()
}

#[retry(max = 3, backoff = "none", on(_), until = is_last)]
fn until(script: &Script, is_last: impl Fn(&u32) -> bool) -> Result<u32, Polled> {
    Ok(script.step().unwrap_or(0))
}

#[retry(max = 3, on(_), until = is_last)]
async fn async_until(script: &Script, is_last: impl Fn(&u32) -> bool) -> Result<u32, Polled> {
    Ok(script.step_async().await.unwrap_or(0))
}

// A fallback and a mapper run once: they need not be functions that run again.
#[retry(max = 3, on(_), fallback = other)]
async fn fallback(script: &Script, other: impl FnOnce(Fault) -> u32) -> Result<u32, Fault> {
    script.step_async().await
}

struct Client {
    script: Script,
    judge: Box<dyn Fn(&Fault) -> bool + Send + Sync>,
}

impl Client {
    fn new(script: &Script) -> Self {
        let (script, judge) = (script.clone(), Box::new(|fault: &Fault| fault.0 < 3));
        Self { script, judge }
    }

    #[retry(max = 9, backoff = "none", budget = 0.1, on = self.judge)]
    fn field(&self) -> Result<u32, Fault> {
        self.script.step()
    }

    #[retry(max = 9, on = self.judge)]
    async fn async_field(&mut self) -> Result<u32, Fault> {
        self.script.step_async().await
    }
}

fn is_early(fault: &Fault) -> bool {
    fault.0 < 3
}

fn end(polled: Polled) -> Fault {
    polled.0.unwrap_or(Fault(3))
}

shapes! {
    on => |script| on(script, is_early),
    on_boxed => |script| on_boxed(script, Box::new(|_| Verdict::Transient)),
    on_mut => |script| {
        let mut asked = 0;
        on_mut(script, |_| { asked += 1; asked < 3 })
    },
    hooks => |script| hooks(script, |_| false, |_| None, |_| (), |_| ()),
    verify => |script| verify(script, |_| Verified::NotDone),
    until => |script| until(script, |number| *number == 3).map_err(end),
    field => |script| Client::new(script).field(),
}

async_shapes! {
    async_on => async |script| sendable(async_on(script, |fault: &Fault| fault.0 < 3)).await,
    async_hooks => async |script| async_hooks(script, |_| false, |_| None, |_| (), async |_| tokio::task::yield_now().await).await,
    async_on_borrowed => async |script| {
        let mut asked = 0;
        sendable(async_on_borrowed(script, &mut |_| { asked += 1; asked < 3 })).await
    },
    async_on_shared => async |script| sendable(async_on_shared(script, Arc::new(is_early))).await,
    async_until => async |script| sendable(async_until(script, |number| *number == 3)).await.map_err(end),
    async_field => async |script| sendable(Client::new(script).async_field()).await,
    fallback => async |script| match fallback(script, |fault| fault.0 * 100).await {
        Ok(300) => Err(Fault(3)),
        answer => answer,
    },
}
