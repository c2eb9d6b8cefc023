//! `map_err`: the body answers with an error of its own, the call ends with a `RetryError` of it, and the function answers
//! with what the mapper makes of that.

use super::WithReason;
use crate::failure::RetryError;
use crate::outcome::Outcome;

/// The parameter of a mapper.
#[diagnostic::on_unimplemented(
    message = "`map_err` takes how a call ended, which is not a `{Self}`",
    label = "not a `RetryError<E>`",
    note = "write `map_err = |error: reattempt::RetryError<E>| ...`, with the error of an attempt for `E`",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait MapperParameter {
    /// The error of an attempt.
    type Error;
}

impl<E> MapperParameter for RetryError<E> {
    type Error = E;
}

/// Returns the form of a function that answers with `R` and whose mapper takes `P`.
#[inline(always)]
pub const fn form_of_parameter<R: Outcome, P: MapperParameter>() -> WithReason<R::Value, P::Error> {
    WithReason::NEW
}

/// Returns the same where the mapper is a path: its type says what it takes.
#[inline(always)]
pub const fn form_of_mapper<R: Outcome, E>(
    _: &impl FnOnce(RetryError<E>) -> R::Error,
) -> WithReason<R::Value, E> {
    WithReason::NEW
}

/// Returns the answer of a call that has ended: a success as it is, or the error that `map` makes of its end.
#[inline(always)]
pub fn map_err<R: Outcome, E>(
    answer: Result<R::Value, RetryError<E>>,
    map: impl FnOnce(RetryError<E>) -> R::Error,
) -> R {
    match answer {
        Ok(value) => R::success(value),
        Err(error) => R::failure(map(error)),
    }
}
