//! The last error before the attempts that time ended: what a call with a limit in time and an answer with `RetryError`
//! keeps from attempt to attempt. The types decide: only an error that can be sent, only where an attempt may be cut off.

use core::convert::Infallible;

use super::form::{Plain, WithReason};
use reattempt_core::{GaveUp, RetryError};
use retry_runtime::driver::{Dropped, Kept, Lost, TimedOut};

/// The last error of the attempts so far.
#[derive(Debug)]
pub struct Earlier<E>(Option<E>);

impl<E> Default for Earlier<E> {
    #[inline(always)]
    fn default() -> Self {
        Self(None)
    }
}

/// Nothing, where nothing is kept.
#[derive(Debug, Default)]
pub struct NoEarlier;

/// What an attempt leaves: its error.
#[derive(Debug)]
pub struct OfError;

/// The same where the attempt is polled: its whole outcome.
#[derive(Debug)]
pub struct OfOutcome;

/// What may be kept of an attempt that another one follows; `M` says what it came to.
pub trait Remember<M> {
    /// What is kept from attempt to attempt.
    type Earlier: Default;

    /// Returns what is known after this attempt.
    fn after(self, before: Self::Earlier) -> Self::Earlier;
}

impl<E> Remember<OfError> for Kept<Result<E, TimedOut>> {
    type Earlier = Earlier<E>;

    #[inline(always)]
    fn after(self, before: Earlier<E>) -> Earlier<E> {
        match self.0 {
            Some(Ok(error)) => Earlier(Some(error)),
            _ => before,
        }
    }
}

impl<T, E> Remember<OfOutcome> for Kept<Result<Result<T, E>, TimedOut>> {
    type Earlier = Earlier<E>;

    #[inline(always)]
    fn after(self, before: Earlier<E>) -> Earlier<E> {
        match self.0 {
            Some(Ok(Err(error))) => Earlier(Some(error)),
            _ => before,
        }
    }
}

impl<V, M> Remember<M> for Kept<Result<V, Infallible>> {
    type Earlier = NoEarlier;

    #[inline(always)]
    fn after(self, before: NoEarlier) -> NoEarlier {
        before
    }
}

impl<V, M> Remember<M> for Dropped<V> {
    type Earlier = NoEarlier;

    #[inline(always)]
    fn after(self, before: NoEarlier) -> NoEarlier {
        before
    }
}

/// Returns what is known after an attempt of which `kept` is left.
#[inline(always)]
pub fn remember<K: Remember<M>, M>(kept: K, before: K::Earlier, _: M) -> K::Earlier {
    kept.after(before)
}

/// What a `RetryError` is made of whose last attempt has no error.
pub trait IntoEarlier<E> {
    /// Returns the error of a call that ended so.
    fn end(self, end: GaveUp) -> RetryError<E>;
}

impl<E> IntoEarlier<E> for Earlier<E> {
    fn end(self, end: GaveUp) -> RetryError<E> {
        match self.0 {
            Some(error) => RetryError::with_earlier(end, error),
            None => end.into(),
        }
    }
}

impl<E> IntoEarlier<E> for NoEarlier {
    fn end(self, end: GaveUp) -> RetryError<E> {
        end.into()
    }
}

#[expect(clippy::unused_self, reason = "its type is what is asked")]
impl<R> Plain<R> {
    /// Returns what is known after an attempt: an answer without a reason has no place for it.
    #[inline(always)]
    pub fn remember<K, M>(self, _: K, before: NoEarlier, _: M) -> NoEarlier {
        before
    }

    /// Returns the answer of a call whose last attempt has no outcome: that of `lost_answer`.
    #[inline(always)]
    pub fn lost<L: Lost>(
        self,
        lost: L,
        end: GaveUp,
        _: NoEarlier,
        lost_answer: impl FnOnce(L, GaveUp) -> R,
    ) -> R {
        lost_answer(lost, end)
    }
}

impl<T, E> WithReason<T, E> {
    /// Returns what is known after an attempt.
    #[inline(always)]
    pub fn remember<K: Remember<M>, M>(self, kept: K, before: K::Earlier, _: M) -> K::Earlier {
        kept.after(before)
    }

    /// Returns the answer of a call whose last attempt has no outcome.
    pub fn lost<L: Lost>(
        self,
        _: L,
        end: GaveUp,
        earlier: impl IntoEarlier<E>,
        _: impl FnOnce(L, GaveUp) -> Result<T, RetryError<E>>,
    ) -> Result<T, RetryError<E>> {
        Err(earlier.end(end))
    }
}

/// The form of an answer whose name says that it has a reason.
#[inline(always)]
pub const fn with_reason<T, E>() -> WithReason<T, E> {
    WithReason::NEW
}
