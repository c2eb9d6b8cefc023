//! What functions return: where the error is, and what a call that ended
//! without success answers.

use core::marker::PhantomData;

use super::Delay;
use reattempt_core::{Absent, GaveUp, IntoVerified, Outcome, RetryError, Verdict, Verified};
use reattempt_policy::rules::RuleId;
use retry_runtime::{Cause, Policy};

/// Takes an outcome apart: a success as it is, or the error. By value, because an answer that is only passed on is not
/// copied.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn split<R: Outcome>(outcome: R) -> Result<R, R::Error> {
    match outcome.split() {
        Ok(value) => Ok(R::success(value)),
        Err(error) => Err(error),
    }
}

/// Returns the same for a function that is written `-> Result<T, RetryError<E>>`.
#[inline(always)]
pub fn split_retry_error<T, E>(outcome: Result<T, E>) -> Result<Result<T, RetryError<E>>, E> {
    match outcome {
        Ok(value) => Ok(Ok(value)),
        Err(error) => Err(error),
    }
}

/// Returns the same of an attempt that may have been cut off: the error, or what is left of the
/// attempt.
#[inline(always)]
pub fn split_limited<R, A, E, L>(
    outcome: Result<R, L>,
    split: impl FnOnce(R) -> Result<A, E>,
) -> Result<A, Result<E, L>> {
    match outcome {
        Ok(outcome) => split(outcome).map_err(Ok),
        Err(lost) => Err(Err(lost)),
    }
}

/// The error of an outcome that stays where it is.
pub trait Fails {
    type Error;

    fn failure(&self) -> Option<&Self::Error>;
}

impl<T, E> Fails for Result<T, E> {
    type Error = E;

    fn failure(&self) -> Option<&E> {
        self.as_ref().err()
    }
}

impl<T> Fails for Option<T> {
    type Error = Absent;

    fn failure(&self) -> Option<&Absent> {
        self.is_none().then_some(&Absent)
    }
}

/// Returns the error of an outcome that is a failure.
#[inline(always)]
pub fn failure<R: Fails>(outcome: &R) -> Option<&R::Error> {
    outcome.failure()
}

/// Returns the answer of a call that gives up: the last error, untouched.
#[inline(always)]
pub fn fail<R: Outcome>(error: R::Error) -> R {
    R::failure(error)
}

/// Returns the same with why and after how many attempts the call ended.
pub fn fail_retry_error<T, E>(error: E, end: GaveUp) -> Result<T, RetryError<E>> {
    Err(RetryError::new(end, Some(error)))
}

/// Whether a type is a `Result` under another name: an inherent constant is found
/// before that of a trait.
#[derive(Debug)]
pub struct IsResult<T: ?Sized>(PhantomData<T>);

impl<T, E> IsResult<Result<T, E>> {
    pub const YES: bool = true;
}

/// Any type that is not a `Result`.
pub trait IsNoResult {
    const YES: bool = false;
}

impl<T: ?Sized> IsNoResult for IsResult<T> {}

/// An alias that the policy of an `impl` block does not reach.
#[track_caller]
pub const fn refuse_alias(is_result: bool) {
    if is_result {
        RuleId::S1.refuse(
            "this is a type alias of `Result`, which the policy of the `impl` block cannot recognize; put `#[retry(...)]` or `#[retry(never)]` on the method",
        );
    }
}

/// Tells the type of an attempt: `if let Some(outcome) = never::<R>() { return outcome; }`.
#[inline(always)]
pub const fn never<R>() -> Option<R> {
    None
}

/// What `fallback` may give: the value, or the whole `Result` or `Option`.
#[diagnostic::on_unimplemented(
    message = "`fallback` returns `{Self}`, which does not fit `{R}`",
    label = "neither the value nor the whole answer of the function",
    note = "`fallback` returns what the function returns, or the value inside it",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait Answer<R> {
    fn answer(self) -> R;
}

impl<T, E> Answer<Result<T, E>> for Result<T, E> {
    fn answer(self) -> Self {
        self
    }
}

impl<T, E> Answer<Result<T, E>> for T {
    fn answer(self) -> Result<T, E> {
        Ok(self)
    }
}

impl<T> Answer<Option<T>> for Option<T> {
    fn answer(self) -> Self {
        self
    }
}

impl<T> Answer<Option<T>> for T {
    fn answer(self) -> Option<T> {
        Some(self)
    }
}

/// `Err` holds what `fallback` said; the caller makes an answer of it.
pub fn fall_back<R: Outcome, V>(end: R, fallback: impl FnOnce(R::Error) -> V) -> Result<R, V> {
    end.split().map(R::success).map_err(fallback)
}

/// `fallback = CODE`, which may be no function: that one is found first, and the other says so.
#[derive(Debug)]
pub struct FallbackOf<F>(pub F);

/// A function.
pub trait FallbackFunction<R, V> {
    fn reattempt_fall_back(self, end: R) -> Result<R, V>;
}

impl<R: Outcome, V, F: FnOnce(R::Error) -> V> FallbackFunction<R, V> for FallbackOf<F> {
    fn reattempt_fall_back(self, end: R) -> Result<R, V> {
        fall_back(end, self.0)
    }
}

/// Anything else.
pub trait FallbackValue<F>: Sized {
    fn reattempt_fall_back<R>(self, end: R) -> Result<R, R>
    where
        F: TakesError,
    {
        Ok(end)
    }
}

impl<F> FallbackValue<F> for &FallbackOf<F> {}

/// What `fallback` takes.
#[diagnostic::on_unimplemented(
    message = "`fallback` takes a function of the last error, and `{Self}` is none; write `fallback = |_| ...` with the value",
    label = "no function of the error",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait TakesError {}

/// `retry_after`, asked about an error after which there may be another attempt.
#[inline(always)]
pub fn retry_after<E: ?Sized, D: Delay>(
    policy: &Policy,
    cause: Cause<'_, E>,
    verdict: Verdict,
    retry_after: impl FnOnce(&E) -> D,
) -> Verdict {
    let ends = verdict.is_ambiguous() && !policy.is_idempotent();
    match cause {
        Cause::Error(error) if verdict.is_retryable() && !ends => {
            verdict.after(retry_after(error).delay())
        }
        _ => verdict,
    }
}

/// Returns the error that `verify` is asked about: the operation may have been executed.
pub fn ambiguous<'e, E: ?Sized>(
    policy: &Policy,
    cause: Cause<'e, E>,
    verdict: Verdict,
) -> Option<&'e E> {
    match (cause, verdict) {
        _ if policy.is_idempotent() => None,
        (Cause::Error(error), verdict) if verdict.is_ambiguous() => Some(error),
        _ => None,
    }
}

/// `verify`. One lifetime, as for `before`.
pub fn ask<'e, E: ?Sized, O>(error: &'e E, verify: impl FnOnce(&'e E) -> O) -> O {
    verify(error)
}

/// What `verify` found: the function's answer, or the verdict that now holds.
pub fn found<R: Outcome>(
    finding: impl IntoVerified<R::Value>,
    verdict: Verdict,
) -> Result<R, Verdict> {
    match finding.into_verified() {
        Verified::Done(value) => Ok(R::success(value)),
        Verified::NotDone => Err(match verdict {
            Verdict::TransientAfter(delay) => Verdict::Refused.after(Some(delay)),
            _ => Verdict::Refused,
        }),
        _ => Err(verdict),
    }
}
