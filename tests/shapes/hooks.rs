//! `fallback`, `before_retry` and `on_retry`.

use std::cell::RefCell;

use reattempt::{Retry, retry};

use crate::{Fault, Script, sendable};

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

    // A closure that gives a future.
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

shapes! {
    fallback_error,
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
}

async_shapes! {
    async_fallback => async |script| {
        let mut step = Refreshing::of(script);
        let answer = sendable(async_fallback(&mut step)).await;
        answer.ok().filter(|number| *number != 300 || step.refreshed != 1)
    },
    async_before_retry => async |script| sendable(Refreshing::of(script).async_before_retry()).await,
    async_before_retry_future => async |script| sendable(Refreshing::of(script).async_before_retry_future()).await,
    async_before_retry_sync => async |script| sendable(Refreshing::of(script).async_before_retry_sync()).await,
    async_on_retry => async |script| {
        let mut seen = vec![];
        let answer = sendable(async_on_retry(script, &mut seen)).await;
        assert_eq!(seen, [(1, 1), (2, 2)]);
        answer
    },
}
