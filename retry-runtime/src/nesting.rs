//! Retries inside retries, for code that starts work elsewhere.
//!
//! Inside a retry of an outer call, an operation makes a single attempt if it has used up its retries during that call within
//! the last minute. So five layers of five attempts each make 21 calls of a dead service, not 3125.
//!
//! Code that an attempt polls or calls on its own thread is inside the attempt. A spawned task is not, nor is a
//! closure for `spawn_blocking` or rayon: [`current`] and [`scope`] pass the state on, and a low priority with it. [`isolate`] removes it, for work
//! that is not part of the call, such as a refresh of a cache that many callers wait for.
//!
//! # Examples
//!
//! ```
//! use reattempt::nesting;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tokio::task::JoinError> {
//! let here = nesting::current();
//! tokio::spawn(nesting::scope(here, async { /* calls are nested as they would be here */ })).await?;
//! # Ok(())
//! # }
//! ```

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::around::{Bounds, BoundsScope, RetryScope, is_low, retries};
use reattempt_core::marks::{InheritedMarks, ScopeMarks};
pub use reattempt_core::name::OperationId;

/// The retries around a piece of code, the operations that have used up their retries there, and
/// its priority; made by [`current`].
#[derive(Debug, Clone)]
pub struct Nesting {
    retries: u32,
    is_low: bool,
    marks: InheritedMarks,
}

/// Returns the retries around the code that runs here, and its priority, for [`scope`] in another task or thread.
#[must_use = "it has to be handed over"]
pub fn current() -> Nesting {
    Nesting {
        retries: retries(),
        is_low: is_low(),
        marks: InheritedMarks::current(),
    }
}

/// Runs `future` inside the retries of `nesting`. The operations that it marks as used up are not
/// passed back.
///
/// # Cancel safety
///
/// Dropping the future drops `future`; nothing else is kept.
pub const fn scope<F: Future>(nesting: Nesting, future: F) -> Scope<F> {
    Scope { future, nesting }
}

/// Runs `f` inside the retries of `nesting`. The operations that it marks as used up are not passed
/// back.
pub fn scope_blocking<R>(nesting: &Nesting, f: impl FnOnce() -> R) -> R {
    let _inside = nesting.enter();
    f()
}

/// Runs `future` as if no outer call were retrying. The deadline and the priority still apply.
///
/// # Cancel safety
///
/// Dropping the future drops `future`; nothing else is kept.
pub const fn isolate<F: Future>(future: F) -> Scope<F> {
    scope(Nesting::NONE, future)
}

/// Runs `f` as if no outer call were retrying. The deadline and the priority still apply.
pub fn isolate_blocking<R>(f: impl FnOnce() -> R) -> R {
    scope_blocking(&Nesting::NONE, f)
}

impl Nesting {
    const NONE: Self = Self {
        retries: 0,
        is_low: false,
        marks: InheritedMarks::NONE,
    };

    fn enter(&self) -> (RetryScope, ScopeMarks, Option<BoundsScope>) {
        // The first to begin is the last to end.
        let low = self.is_low.then(|| BoundsScope::new(Bounds::LOW, false));
        let retries = RetryScope::new(self.retries);
        (retries, ScopeMarks::new(&self.marks), low)
    }
}

pin_project! {
    /// A future inside the retries of another piece of code: made by [`scope`] and [`isolate`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Scope<F> {
        #[pin]
        future: F,
        nesting: Nesting,
    }
}

impl<F: Future> Future for Scope<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _inside = this.nesting.enter();
        this.future.poll(cx)
    }
}
