//! A breaker around a call, and the error of a refused call.

use core::fmt;
use core::future::Future;
use core::time::Duration;

use super::{Breaker, Permit};
use reattempt_core::{Classify, IntoVerdict, Verdict};

impl Breaker {
    /// Calls `f`, unless the breaker refuses calls. The [`Classify`] of its error decides what
    /// counts as a failure; [`call_on`](Self::call_on) takes a function for errors without one. A
    /// panic of `f` does not count.
    ///
    /// # Errors
    ///
    /// [`Rejected::Inner`] with the error of `f`, [`Rejected::Open`] when `f` was not called.
    #[inline]
    pub fn call<T, E: Classify>(&self, f: impl FnOnce() -> Result<T, E>) -> Result<T, Rejected<E>> {
        self.call_on(E::classify, f)
    }

    /// Calls `f`, unless the breaker refuses calls; `on` decides which errors count as failures, by
    /// a `bool` or a [`Verdict`].
    ///
    /// # Errors
    ///
    /// As with [`call`](Self::call).
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::overload::breaker::{Breaker, State};
    ///
    /// static SHOP: Breaker = Breaker::count_window(1);
    ///
    /// let on = |status: &u16| *status >= 500;
    /// assert!(SHOP.call_on(on, || Err::<(), _>(404)).is_err());
    /// assert_eq!(SHOP.state(), State::Closed);
    /// assert!(SHOP.call_on(on, || Err::<(), _>(503)).is_err());
    /// assert_eq!(SHOP.state(), State::Open);
    /// ```
    #[inline]
    pub fn call_on<T, E, V: IntoVerdict>(
        &self,
        on: impl FnOnce(&E) -> V,
        f: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, Rejected<E>> {
        let permit = self.permit()?;
        counted(permit, f(), on)
    }

    /// Awaits `future`, unless the breaker refuses calls. It decides at the first poll.
    ///
    /// # Errors
    ///
    /// As with [`call`](Self::call).
    ///
    /// # Cancel safety
    ///
    /// Dropped before the end nothing is counted.
    pub async fn call_async<T, E: Classify>(
        &self,
        future: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Rejected<E>> {
        self.call_async_on(E::classify, future).await
    }

    /// Awaits `future`, unless calls are refused; `on` says which errors count as failures.
    ///
    /// # Errors
    ///
    /// As with [`call`](Self::call).
    ///
    /// # Cancel safety
    ///
    /// Dropped before the end nothing is counted.
    pub async fn call_async_on<T, E, V: IntoVerdict>(
        &self,
        on: impl FnOnce(&E) -> V,
        future: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Rejected<E>> {
        let permit = self.permit()?;
        counted(permit, future.await, on)
    }
}

#[inline(always)]
fn counted<T, E, V: IntoVerdict>(
    permit: Permit<'_>,
    answer: Result<T, E>,
    on: impl FnOnce(&E) -> V,
) -> Result<T, Rejected<E>> {
    match answer {
        Ok(answer) => {
            permit.succeeded();
            Ok(answer)
        }
        Err(error) => {
            permit.failed(on(&error).into_verdict());
            Err(Rejected::Inner(error))
        }
    }
}

/// A breaker refused a call: nothing was executed.
///
/// Its verdict is [`Verdict::Throttled`], with the time until a call may be let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open {
    /// In milliseconds, so that a breaker that refuses many calls makes no duration for each.
    retry_after: Option<u32>,
}

impl Open {
    pub(super) const fn after(millis: Option<u32>) -> Self {
        Self {
            retry_after: millis,
        }
    }

    /// Returns the time until the breaker may let a call through; `None` if that depends on running
    /// probes, or on an operator who forced the breaker open.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self.retry_after {
            Some(millis) => Some(Duration::from_millis(millis as u64)),
            None => None,
        }
    }
}

impl fmt::Display for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the circuit breaker is open")
    }
}

impl std::error::Error for Open {}

#[diagnostic::do_not_recommend]
impl Classify for Open {
    fn classify(&self) -> Verdict {
        Verdict::Throttled(self.retry_after())
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }
}

/// Why a call through a breaker has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejected<E> {
    /// It was not made.
    Open(Open),
    /// It was made, and this is its error.
    Inner(E),
}

impl<E> Rejected<E> {
    /// Returns whether the call was not made.
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// Returns the error of the call, if it was made.
    pub fn into_inner(self) -> Option<E> {
        match self {
            Self::Open(_) => None,
            Self::Inner(error) => Some(error),
        }
    }
}

impl<E> From<Open> for Rejected<E> {
    fn from(open: Open) -> Self {
        Self::Open(open)
    }
}

impl<E: fmt::Display> fmt::Display for Rejected<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(open) => open.fmt(f),
            Self::Inner(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error> std::error::Error for Rejected<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Open(_) => None,
            Self::Inner(error) => error.source(),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<E: Classify> Classify for Rejected<E> {
    fn classify(&self) -> Verdict {
        match self {
            Self::Open(open) => open.classify(),
            Self::Inner(error) => error.classify(),
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        match self {
            Self::Open(open) => open.message(),
            Self::Inner(error) => error.message(),
        }
    }
}
