//! Inherited deadlines: an outer function sets one, and everything that it calls obeys it.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use pin_project_lite::pin_project;

use crate::around::{self, Bounds, BoundsScope};
use crate::nesting;
use crate::timer::Timestamp;

/// A deadline, which you can pass on to another task or thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Timestamp);

impl Deadline {
    /// Returns the deadline that lies `limit` from now.
    pub fn after(limit: Duration) -> Self {
        Self(around::now().after(limit))
    }

    /// Returns the time until the deadline; 0 after it.
    pub fn remaining(self) -> Duration {
        self.0.since(around::now())
    }

    /// Returns whether the deadline has passed.
    pub fn is_over(self) -> bool {
        self.remaining().is_zero()
    }
}

/// Returns the time until the current deadline; `None` without one.
///
/// It is 0 after the deadline.
pub fn remaining() -> Option<Duration> {
    around::remaining()
}

/// Returns the current deadline, for [`scope`] in another task or thread.
pub fn current() -> Option<Deadline> {
    let until = around::until();
    (!until.is_endless()).then_some(Deadline(until))
}

/// Returns the number of the current attempt, from 1: that of the innermost outer call that is
/// retrying; 1 if there is none.
pub fn attempt() -> u32 {
    around::retries().saturating_add(1)
}

/// Runs `future` with `limit` as its deadline, from now on, unless it inherits an earlier one.
///
/// The expression that makes `future` runs before the deadline is set:
/// `within(limit, client.get(url).send())` makes the request outside,
/// `within(limit, async { client.get(url).send().await })` inside.
///
/// It needs no runtime and no timer, and **does not cancel `future`**. Only code that looks at the
/// deadline obeys it:
///
/// * a retried call that has a `deadline` or a `timeout` of its own cancels its attempts there;
/// * any other retried call begins no delay and no retry that would be too late, but waits for an attempt
///   that hangs;
/// * everything else, such as a client that is awaited, runs on. Pass [`remaining`] to it as a
///   time-out, or wrap it in a time-out of the runtime.
///
/// # Cancel safety
///
/// Dropping the future drops `future`; nothing else is kept.
///
/// # Examples
///
/// ```
/// use reattempt::deadline;
/// use std::time::Duration;
/// use tokio::time::{Instant, sleep, timeout};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let (second, start) = (Duration::from_secs(1), Instant::now());
/// let query = async || sleep(60 * second).await; // it knows no deadline
///
/// deadline::within(second, query()).await;
/// assert_eq!(start.elapsed(), 60 * second);
///
/// let cut = async {
///     let left = deadline::remaining().unwrap_or(Duration::MAX);
///     timeout(left, query()).await
/// };
/// assert!(deadline::within(second, cut).await.is_err());
/// assert_eq!(start.elapsed(), 61 * second);
/// # }
/// ```
pub fn within<F: Future>(limit: Duration, future: F) -> Scope<F> {
    scope(Deadline::after(limit), future)
}

/// Runs `f` with `limit` as its deadline, from now on, unless it inherits an earlier one. A future
/// that `f` returns is polled later, without the deadline; use [`within`] for a future.
///
/// Nothing interrupts `f`: retried calls inside begin no delay and no retry that would be too late, and
/// all other code has to look at [`remaining`].
///
/// # Examples
///
/// ```
/// use reattempt::{Jitter, Policy, deadline};
/// use std::io::{Error, ErrorKind};
/// use std::time::Duration;
///
/// const PATIENT: Policy = Policy::new().base(Duration::from_secs(10)).jitter(Jitter::None);
///
/// let mut calls = 0;
/// let answer: Result<(), _> = deadline::within_blocking(Duration::from_secs(1), || {
///     PATIENT.run(|| {
///         calls += 1;
///         assert!(deadline::remaining() <= Some(Duration::from_secs(1)));
///         Err(Error::from(ErrorKind::TimedOut))
///     })
/// });
/// // The first delay would not end in time, so the call ended at once.
/// assert!(answer.is_err() && calls == 1);
/// ```
pub fn within_blocking<R>(limit: Duration, f: impl FnOnce() -> R) -> R {
    scope_blocking(Deadline::after(limit), f)
}

/// Runs `future` with a deadline that was set elsewhere, unless it inherits an earlier one; `None`
/// changes nothing.
///
/// # Cancel safety
///
/// Dropping the future drops `future`; nothing else is kept.
pub fn scope<F: Future>(deadline: impl Into<Option<Deadline>>, future: F) -> Scope<F> {
    Scope {
        future,
        bounds: bounds(deadline.into()),
    }
}

/// Runs `f` with a deadline that was set elsewhere, unless it inherits an earlier one; `None`
/// changes nothing.
pub fn scope_blocking<R>(deadline: impl Into<Option<Deadline>>, f: impl FnOnce() -> R) -> R {
    let _holds = BoundsScope::new(bounds(deadline.into()), false);
    f()
}

/// Runs `future` without the inherited deadline, and as if no outer call were retrying.
///
/// Work that an attempt polls is inside the attempt, even if it belongs to another caller: the
/// tasks of a `LocalSet`, or of a runtime whose `block_on` runs inside it, and a future that
/// several tasks share, which the first of them polls for all. Wrap such a future:
/// `isolate(load()).shared()`. [`nesting::isolate`] keeps the deadline.
///
/// # Cancel safety
///
/// Dropping the future drops `future`; nothing else is kept.
///
/// # Examples
///
/// ```
/// use reattempt::deadline;
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// deadline::within(Duration::from_secs(2), async {
///     let other = deadline::isolate(async { deadline::remaining() }).await;
///     assert_eq!(other, None);
/// })
/// .await;
/// # }
/// ```
pub const fn isolate<F: Future>(future: F) -> Isolated<F> {
    Isolated {
        future: nesting::isolate(future),
    }
}

/// Runs `f` without the inherited deadline, and as if no outer call were retrying.
///
/// A waiting thread may run other work: a worker of rayon that waits in `join` takes the next job,
/// which then inherits the deadline and the retry of the waiting call. Begin such a job with this
/// function.
pub fn isolate_blocking<R>(f: impl FnOnce() -> R) -> R {
    let _inside = BoundsScope::without();
    nesting::isolate_blocking(f)
}

fn bounds(deadline: Option<Deadline>) -> Bounds {
    deadline.map_or(Bounds::NONE, |deadline| Bounds::new(deadline.0, false))
}

pin_project! {
    /// A future with a deadline: made by [`within`] and [`scope`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Scope<F> {
        #[pin]
        future: F,
        bounds: Bounds,
    }
}

impl<F: Future> Future for Scope<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _holds = BoundsScope::new(*this.bounds, false);
        this.future.poll(cx)
    }
}

pin_project! {
    /// A future without a deadline: made by [`isolate`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Isolated<F> {
        #[pin]
        future: nesting::Scope<F>,
    }
}

impl<F: Future> Future for Isolated<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let _inside = BoundsScope::without();
        self.project().future.poll(cx)
    }
}
