//! What the body of a function answers, and what its calls make of that: a function that answers with `RetryError<E>`
//! has a body that answers with `E`. The type decides, so that aliases and other names are seen through, and a type of
//! the user's of that name is left alone: an inherent method is found before that of a trait.

use core::marker::PhantomData;

use super::{LostAnswer, Polled, fail_cut, fail_limited, fail_limited_retry_error};
use reattempt_core::inherited;
use reattempt_core::{GaveUp, Outcome, ReportLimit, RetryError};
use retry_runtime::driver::{IntoContext, LiveCall, TimedOut};
use retry_runtime::timer::Clock;

/// The form of the answers of type `R`.
#[derive(Debug)]
pub struct FormOf<R>(PhantomData<fn() -> R>);

impl<R> FormOf<R> {
    pub const NEW: Self = Self(PhantomData);
}

impl<T, E> FormOf<Result<T, RetryError<E>>> {
    /// Returns the form of an answer with a reason.
    #[inline(always)]
    pub const fn reattempt_form(self) -> WithReason<T, E> {
        WithReason::NEW
    }
}

/// Any other answer.
pub trait PlainForm<R> {
    fn reattempt_form(self) -> Plain<R>;
}

impl<R> PlainForm<R> for FormOf<R> {
    #[inline(always)]
    fn reattempt_form(self) -> Plain<R> {
        Plain(PhantomData)
    }
}

/// The body answers with what the function answers with.
#[derive(Debug)]
pub struct Plain<R>(PhantomData<fn() -> R>);

#[expect(clippy::unused_self, reason = "its type is what is asked")]
impl<R> Plain<R> {
    /// Tells the type of an attempt: `if let Some(outcome) = form.never() { return outcome; }`.
    #[inline(always)]
    pub const fn never(self) -> Option<R> {
        None
    }

    /// Returns `None`: every call makes an attempt.
    #[inline(always)]
    pub const fn refusal(self) -> Option<fn(GaveUp) -> R> {
        None
    }

    /// Returns the answer of a success.
    #[inline(always)]
    pub fn succeed(self, outcome: R) -> R {
        outcome
    }

    /// Wraps the last value of polling.
    #[inline(always)]
    pub const fn polled(self, outcome: R) -> Polled<R> {
        Polled(outcome)
    }

    /// Returns the answer of a call that gave up after a failure, or after a limit cut its attempt off.
    #[inline(always)]
    pub fn fail_limited<L: LostAnswer<R>>(self, error: Result<R::Error, L>, end: GaveUp) -> R
    where
        R: Outcome,
    {
        fail_limited(error, end)
    }

    /// Returns the same, where `cut` makes the answer of an attempt that was cut off.
    #[inline(always)]
    pub fn fail_cut(
        self,
        error: Result<R::Error, TimedOut>,
        end: GaveUp,
        cut: impl FnOnce(GaveUp) -> R,
    ) -> R
    where
        R: Outcome,
    {
        fail_cut(error, end, cut)
    }
}

/// The body answers with the error alone, and the function with why its call ended besides.
#[derive(Debug)]
pub struct WithReason<T, E>(PhantomData<fn() -> (T, E)>);

impl<T, E> Clone for WithReason<T, E> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, E> Copy for WithReason<T, E> {}

impl<T, E> WithReason<T, E> {
    pub(super) const NEW: Self = Self(PhantomData);
}

impl<T, E> WithReason<T, E> {
    /// Gives an attempt its type, as that of `Plain` does.
    #[inline(always)]
    pub const fn never(self) -> Option<Result<T, E>> {
        None
    }

    /// Returns what makes the answer of a call that makes no attempt.
    #[inline(always)]
    pub fn refusal(self) -> Option<impl FnOnce(GaveUp) -> Result<T, RetryError<E>>> {
        Some(|end| Err(RetryError::from(end)))
    }

    /// Returns the answer of a success.
    pub fn succeed(self, outcome: Result<T, E>) -> Result<T, RetryError<E>> {
        Polled(outcome).succeed()
    }

    /// Wraps the last value of polling.
    #[inline(always)]
    pub const fn polled(self, outcome: Result<T, E>) -> PolledWithReason<T, E> {
        PolledWithReason(outcome)
    }

    /// Returns the answer of a call that gave up after a failure, or after a limit cut its attempt off.
    #[inline(always)]
    pub fn fail_limited<L>(self, error: Result<E, L>, end: GaveUp) -> Result<T, RetryError<E>> {
        fail_limited_retry_error(error, end)
    }

    /// Returns the same, where `cut` makes the answer of an attempt that was cut off.
    #[inline(always)]
    pub fn fail_cut(
        self,
        error: Result<E, TimedOut>,
        end: GaveUp,
        _: impl FnOnce(GaveUp) -> Result<T, RetryError<E>>,
    ) -> Result<T, RetryError<E>> {
        fail_limited_retry_error(error, end)
    }
}

/// A form, as functions take it: of them the compiler says what a type lacks.
pub trait AnswerForm {
    /// What the body answers.
    type Body;
    /// What the function answers.
    type Answer;
    /// The error of the body.
    type Error;

    fn split(outcome: Self::Body) -> Result<Self::Answer, Self::Error>;

    fn fail(error: Self::Error, end: GaveUp) -> Self::Answer;
}

impl<R: Outcome> AnswerForm for Plain<R> {
    type Body = R;
    type Answer = R;
    type Error = R::Error;

    #[inline(always)]
    fn split(outcome: R) -> Result<R, R::Error> {
        super::split(outcome)
    }

    #[inline(always)]
    fn fail(error: R::Error, _: GaveUp) -> R {
        super::fail(error)
    }
}

impl<T, E> AnswerForm for WithReason<T, E> {
    type Body = Result<T, E>;
    type Answer = Result<T, RetryError<E>>;
    type Error = E;

    #[inline(always)]
    fn split(outcome: Result<T, E>) -> Result<Result<T, RetryError<E>>, E> {
        super::split_retry_error(outcome)
    }

    #[inline(always)]
    fn fail(error: E, end: GaveUp) -> Result<T, RetryError<E>> {
        super::fail_retry_error(error, end)
    }
}

/// Takes an outcome apart, as `split`.
#[inline(always)]
pub fn split_as<F: AnswerForm>(_: F, outcome: F::Body) -> Result<F::Answer, F::Error> {
    F::split(outcome)
}

/// Returns the answer of a call that gives up, as `fail`.
#[inline(always)]
pub fn fail_as<F: AnswerForm>(_: F, error: F::Error, end: GaveUp) -> F::Answer {
    F::fail(error, end)
}

/// Polling whose end says why.
#[derive(Debug)]
pub struct PolledWithReason<T, E>(Result<T, E>);

impl<T, E> PolledWithReason<T, E> {
    /// Returns the answer of polling that gave up.
    pub fn reattempt_end(self, end: GaveUp) -> Result<T, RetryError<E>> {
        Polled(self.0).fail(end)
    }
}

/// The answers of a type that can say how a call ended without an attempt.
#[derive(Debug)]
pub struct Refusal<R>(PhantomData<fn() -> R>);

impl<R: ReportLimit> Refusal<R> {
    pub const REATTEMPT_ANSWER: Option<fn(GaveUp) -> R> = Some(R::cut);
}

/// Those that cannot: an inherent constant is found before that of a trait.
pub trait NoRefusal<R> {
    const REATTEMPT_ANSWER: Option<fn(GaveUp) -> R> = None;
}

impl<R> NoRefusal<R> for Refusal<R> {}

/// Returns the answer of a call that makes no attempt because its caller's deadline has passed.
#[inline(always)]
pub fn refused<'c, R, T: Clock + 'c>(
    answer: Option<impl FnOnce(GaveUp) -> R>,
    context: impl IntoContext<'c, T>,
) -> Option<R> {
    let answer = answer?;
    if inherited::until().is_endless() {
        return None;
    }
    end_at_once(context).map(answer)
}

#[cold]
#[inline(never)]
fn end_at_once<'c, T: Clock + 'c>(context: impl IntoContext<'c, T>) -> Option<GaveUp> {
    let context = context.into_context();
    context.is_over().then(|| LiveCall::new(()).late(context))
}
