//! What functions return: where the error is, and what a call that ended
//! without success answers.

use crate::failure::{Failed, Interrupted};
use crate::verdict::Absent;

// `-> Result<T, Failed<E>>`: the body speaks `Result<T, E>`.
pub fn tell<T, E>(outcome: Result<T, E>, end: Interrupted) -> Result<T, Failed<E>> {
    outcome.map_err(|error| Failed::new(end.reason(), end.attempts(), Some(error)))
}

// A success never meets the error type; the conversion only makes the types agree.
#[inline(always)]
pub fn succeed<T, E>(outcome: Result<T, E>) -> Result<T, Failed<E>> {
    outcome.map_err(|error| Failed::new(crate::GaveUp::Permanent, 1, Some(error)))
}

// The answer of a call that the deadline cut off in the middle of an attempt.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot say that the call was cut off",
    label = "its error lacks `From<Interrupted>`",
    note = "`deadline` on an async function ends a call where no error of its own exists",
    note = "implement `From<reattempt::Interrupted>` for the error, or return `Result<T, reattempt::Failed<E>>`"
)]
pub trait Cut {
    fn cut(end: Interrupted) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T, E: From<Interrupted>> Cut for Result<T, E> {
    fn cut(end: Interrupted) -> Self {
        Err(end.into())
    }
}

impl<T> Cut for Option<T> {
    fn cut(_: Interrupted) -> Self {
        None
    }
}

pub fn cut<R: Cut>(end: Interrupted) -> R {
    R::cut(end)
}

// What `fallback` may give: the value, or the whole `Result` or `Option`.
#[diagnostic::on_unimplemented(
    message = "`fallback` answers with `{Self}`, which does not fit `{R}`",
    label = "neither the value nor the whole answer of the function",
    note = "`fallback` answers with what the function returns, or with the value inside it"
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

// The error that `fallback` is given.
pub trait Fallible: Sized {
    type Error;

    fn into_error(self) -> Result<Self, Self::Error>;
}

impl<T, E> Fallible for Result<T, E> {
    type Error = E;

    fn into_error(self) -> Result<Self, E> {
        self.map(Ok)
    }
}

impl<T> Fallible for Option<T> {
    type Error = Absent;

    fn into_error(self) -> Result<Self, Absent> {
        self.map(Some).ok_or(Absent)
    }
}

// `Err` holds what `fallback` said; the caller makes an answer of it.
pub fn fall_back<R: Fallible, V>(end: R, fallback: impl FnOnce(R::Error) -> V) -> Result<R, V> {
    end.into_error().map_err(fallback)
}
