//! Polling: `until` looks at the value inside a `Result`, or at the whole value
//! of a function that returns anything else. Which it is, the type decides, so
//! that aliases of `Result` are seen through: an inherent method is found
//! before the method of a trait.

use core::convert::Infallible;

use reattempt_core::{GaveUp, GiveUpReason, RetryError};
use retry_runtime::Cause;

/// Says what the parameter of a closure is.
#[inline(always)]
pub fn until<T: ?Sized>(value: &T, until: impl FnOnce(&T) -> bool) -> bool {
    until(value)
}

/// A value that `until` looks at.
#[derive(Debug)]
pub struct Polled<R>(pub R);

impl<'a, T, E> Polled<&'a Result<T, E>> {
    /// Returns why the value calls for another attempt; `None` for a final one.
    #[inline(always)]
    pub fn reattempt_cause(self, is_final: impl FnOnce(&T) -> bool) -> Option<Cause<'a, E>> {
        match self.0 {
            Ok(value) if is_final(value) => None,
            Ok(_) => Some(Cause::NotFinal),
            Err(error) => Some(Cause::Error(error)),
        }
    }
}

impl<'a, T, E> Polled<&'a Result<T, E>> {
    /// Returns the value that calls for another attempt; `None` for an error.
    pub fn reattempt_value(self) -> Option<&'a T> {
        self.0.as_ref().ok()
    }
}

impl<T, E> Polled<Result<T, E>> {
    /// Polling that gives up has no error of its own.
    pub fn reattempt_end(self, end: GaveUp) -> Result<T, E>
    where
        E: Unfinished,
    {
        match self.0 {
            Ok(_) => Err(E::unfinished(end)),
            error => error,
        }
    }

    /// Returns the answer of polling that has seen a final value.
    pub fn succeed(self) -> Result<T, RetryError<E>> {
        let end = GaveUp::new(GiveUpReason::Permanent, 1);
        self.0.map_err(|error| RetryError::new(end, Some(error)))
    }

    /// Returns the answer of polling that gave up, with its reason.
    pub fn fail(self, end: GaveUp) -> Result<T, RetryError<E>> {
        match self.0 {
            Ok(_) => Err(end.into()),
            Err(error) => Err(RetryError::new(end, Some(error))),
        }
    }
}

/// The whole value of a function that returns no `Result`.
pub trait Whole {
    type Value;
    type Seen;

    fn reattempt_cause<'a>(
        self,
        is_final: impl FnOnce(&Self::Value) -> bool,
    ) -> Option<Cause<'a, Infallible>>;

    fn reattempt_value(self) -> Option<Self::Seen>;
}

impl<'r, R> Whole for Polled<&'r R> {
    type Value = R;
    type Seen = &'r R;

    fn reattempt_value(self) -> Option<&'r R> {
        Some(self.0)
    }

    #[inline(always)]
    fn reattempt_cause<'a>(
        self,
        is_final: impl FnOnce(&R) -> bool,
    ) -> Option<Cause<'a, Infallible>> {
        (!is_final(self.0)).then_some(Cause::NotFinal)
    }
}

/// Ends polling of a whole value.
pub trait WholeEnd {
    type Value;

    fn reattempt_end(self, end: GaveUp) -> Self::Value;
}

impl<R> WholeEnd for Polled<R> {
    type Value = R;

    // Nothing else can be answered: the last value, which the caller can see is not final.
    fn reattempt_end(self, _: GaveUp) -> R {
        self.0
    }
}

/// An error that can say that polling gave up.
#[diagnostic::on_unimplemented(
    message = "polling can end before `until` accepts a value, and `{Self}` cannot report that",
    label = "`From<GaveUp>` is not implemented for this error",
    note = "with `until`, a call can end before it has an error to return",
    note = "for your own error type: implement `From<reattempt::GaveUp>`; for any other: return `Result<T, reattempt::RetryError<E>>`, or write `map_err`",
    note = "rule S5: https://reattempt.github.io/reattempt/errors.html#s5"
)]
pub trait Unfinished {
    fn unfinished(end: GaveUp) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<GaveUp>> Unfinished for E {
    fn unfinished(end: GaveUp) -> Self {
        end.into()
    }
}
