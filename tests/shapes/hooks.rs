//! `fallback`, `before_retry`, `on_retry` and `retry_after`.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use reattempt::{Retry, RetryError, retry};

use tokio::time::Instant;

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

    // `retry_after` on `&mut self`.
    #[retry(max = 3, on(_), retry_after = |_| { self.refreshed += 1; SHORT })]
    fn retry_after(&mut self) -> Result<u32, Fault> {
        assert_eq!(self.refreshed, self.script.attempts());
        self.script.step()
    }

    // The same, async.
    #[retry(max = 3, on(_), retry_after = |_| { self.refreshed += 1; MINUTE })]
    async fn async_retry_after(&mut self) -> Result<u32, Fault> {
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
#[retry(max = 3, backoff = "none", on(_), on_retry = |retry| seen.borrow_mut().push(reported(retry)))]
fn on_retry(script: &Script, seen: &RefCell<Vec<(u32, u32)>>) -> Result<u32, Fault> {
    script.step()
}

// `on_retry`, async, next to `before_retry`.
#[retry(
    max = 3,
    on(_),
    on_retry = |retry: &Retry<'_, Fault>| seen.push(reported(retry)),
    before_retry = async |retry| { assert!(retry.error().is_some()) }
)]
async fn async_on_retry(script: &Script, seen: &mut Vec<(u32, u32)>) -> Result<u32, Fault> {
    script.step_async().await
}

// `retry_after` with the error and a parameter.
#[retry(max = 3, on(_), retry_after = |fault: &Fault| { asked.set(asked.get() + fault.0); Some(SHORT) })]
fn retry_after(script: &Script, asked: &Cell<u32>) -> Result<u32, Fault> {
    script.step()
}

// `retry_after`, a path, of a generic error.
#[retry(max = 3, on(_), retry_after = E::wait)]
fn retry_after_path<E: From<Fault> + Wait>(script: &Script) -> Result<u32, E> {
    Ok(script.step()?)
}

// `retry_after` without a parameter, a plain delay, on an `Option`.
#[retry(max = 3, retry_after = || wait)]
fn retry_after_bare(script: &Script, wait: Duration) -> Option<u32> {
    script.step().ok()
}

// `retry_after`, async, with `?` in it, next to `clone` and `RetryError`.
#[retry(max = 3, base = "1h", cap = "1h", on(_), clone(waits), retry_after = |fault| Some(*waits.get(fault.0 as usize)?))]
async fn async_retry_after(
    script: &Script,
    waits: Vec<Duration>,
) -> Result<u32, RetryError<Fault>> {
    drop(waits);
    Ok(script.step_async().await?)
}

// `retry_after` next to all that looks at a failure.
#[retry(
    max = 3,
    deadline = "1m",
    idempotent = false,
    on(_),
    verify = async |_| None,
    retry_after = |_| MINUTE / 4,
    on_retry = |retry| waits.push(retry.delay()),
    before_retry = async |_| waits.push(MINUTE)
)]
async fn async_retry_after_watched(
    script: &Script,
    waits: &mut Vec<Duration>,
) -> Result<u32, RetryError<Fault>> {
    script.step_async().await
}

const SHORT: Duration = Duration::from_nanos(1);
const MINUTE: Duration = Duration::from_secs(60);

trait Wait {
    fn wait(&self) -> Option<Duration>;
}

impl Wait for Fault {
    fn wait(&self) -> Option<Duration> {
        Some(SHORT)
    }
}

fn reported(retry: &Retry<'_, Fault>) -> (u32, u32) {
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
    retry_after => |script| {
        let asked = Cell::default();
        let answer = retry_after(script, &asked);
        assert_eq!(asked.get(), if answer.is_ok() { 1 + 2 } else { 1 + 2 + 3 });
        answer
    },
    retry_after_path => retry_after_path::<Fault>,
    retry_after_bare => |script| retry_after_bare(script, SHORT),
    retry_after_method => |script| {
        let mut step = Refreshing::of(script);
        let answer = step.retry_after();
        assert_eq!(step.refreshed, if answer.is_ok() { 2 } else { 3 });
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
    async_retry_after => async |script| {
        let start = Instant::now();
        let waits = vec![Duration::ZERO, MINUTE, MINUTE / 2];
        let answer = sendable(async_retry_after(script, waits)).await;
        assert_waited(start, MINUTE * 3 / 2);
        crate::last(answer)
    },
    async_retry_after_method => async |script| {
        let (start, mut step) = (Instant::now(), Refreshing::of(script));
        let answer = sendable(step.async_retry_after()).await;
        assert_eq!(step.refreshed, if answer.is_ok() { 2 } else { 3 });
        assert_waited(start, 2 * MINUTE);
        answer
    },
    async_retry_after_watched => async |script| {
        let (start, mut waits) = (Instant::now(), vec![]);
        let answer = sendable(async_retry_after_watched(script, &mut waits)).await;
        assert_eq!(waits.len(), 4);
        assert_eq!((waits[1], waits[3]), (MINUTE, MINUTE));
        assert!(waits[0] >= MINUTE / 4 && waits[2] >= MINUTE / 4);
        assert_waited(start, MINUTE / 2);
        crate::last(answer)
    },
}

/// Up to 10 % more than was asked for, and what tokio rounds up.
fn assert_waited(start: Instant, asked: Duration) {
    let waited = start.elapsed();
    let most = asked + asked / 10 + Duration::from_millis(2);
    assert!(waited >= asked && waited <= most, "{waited:?}");
}
