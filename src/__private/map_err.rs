//! `map_err`: the body answers with an error of its own, the call ends with a `RetryError` of it, and the function answers
//! with what the mapper makes of that.

use super::WithReason;
use reattempt_core::{Outcome, RetryError};

/// The parameter of a mapper.
#[diagnostic::on_unimplemented(
    message = "`map_err` takes how a call ended, which is not a `{Self}`",
    label = "not a `RetryError<E>`",
    note = "write `map_err = |error: reattempt::RetryError<E>| ...`, with the error of an attempt for `E`",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait MapperParameter<E> {
    /// Returns how the call ended.
    fn of(ended: RetryError<E>) -> Self;
}

impl<E> MapperParameter<E> for RetryError<E> {
    #[inline(always)]
    fn of(ended: Self) -> Self {
        ended
    }
}

/// Turns the end of a call into the parameter of a mapper.
pub(super) type ToParameter<E, P> = fn(RetryError<E>) -> P;

/// Returns the form of a function that returns `R` and whose mapper takes `P`, and a function that turns the end of a call
/// into a `P`. No other place says what a mapper takes.
#[inline(always)]
pub const fn form_of_parameter<R: Outcome, P: MapperParameter<E>, E>()
-> (WithReason<R::Value, E>, ToParameter<E, P>) {
    (WithReason::NEW, P::of)
}

/// Returns the same where the mapper is a path, whose type says what it takes: `ended` calls it.
#[inline(always)]
pub const fn form_of_mapper<R: Outcome, E>(
    _: &impl FnOnce(Result<R::Value, RetryError<E>>) -> R,
) -> WithReason<R::Value, E> {
    WithReason::NEW
}

/// Returns the answer of a call that has ended: a success as it is, or the error that `map` makes of its end.
#[inline(always)]
pub fn map_err<R: Outcome, P, E>(
    answer: Result<R::Value, RetryError<E>>,
    ended: ToParameter<E, P>,
    map: impl FnOnce(P) -> R::Error,
) -> R {
    match answer {
        Ok(value) => R::success(value),
        Err(error) => R::failure(map(ended(error))),
    }
}
