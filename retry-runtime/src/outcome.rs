//! Success or failure: what the loops ask the answer of an attempt.

use crate::verdict::Absent;

/// What a retried function may return: `Result` and `Option`, and a type of
/// the user's own that can tell success from failure.
#[diagnostic::on_unimplemented(
    message = "a retry cannot tell success from failure in `{Self}`",
    label = "neither a `Result` nor an `Option`",
    note = "return a `Result` or an `Option`, or add `until = |value| ...` to say which values are final",
    note = "rule S1: https://docs.rs/reattempt/latest/reattempt/errors/#s1"
)]
pub trait Outcome: Sized {
    /// What a success holds.
    type Value;
    /// What says why it failed.
    type Error;

    /// The value, or the error.
    ///
    /// # Errors
    ///
    /// The error, if this is a failure.
    fn split(self) -> Result<Self::Value, Self::Error>;

    /// A success with this value.
    fn success(value: Self::Value) -> Self;

    /// A failure with this error.
    fn failure(error: Self::Error) -> Self;
}

impl<T, E> Outcome for Result<T, E> {
    type Value = T;
    type Error = E;

    #[inline(always)]
    fn split(self) -> Self {
        self
    }

    #[inline(always)]
    fn success(value: T) -> Self {
        Ok(value)
    }

    #[inline(always)]
    fn failure(error: E) -> Self {
        Err(error)
    }
}

impl<T> Outcome for Option<T> {
    type Value = T;
    type Error = Absent;

    #[inline(always)]
    fn split(self) -> Result<T, Absent> {
        self.ok_or(Absent)
    }

    #[inline(always)]
    fn success(value: T) -> Self {
        Some(value)
    }

    #[inline(always)]
    fn failure(_: Absent) -> Self {
        None
    }
}
