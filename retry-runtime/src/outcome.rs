//! Success or failure: what the loops ask the answer of an attempt.

use crate::attempt::Cause;
use crate::verdict::Absent;

/// What a retried function may return: `Result` and `Option`, and a type of
/// the user's own that can tell success from failure.
#[diagnostic::on_unimplemented(
    message = "a retry cannot tell success from failure in `{Self}`",
    label = "neither a `Result` nor an `Option`",
    note = "return a `Result` or an `Option`, or add `until = |value| ...` to say which values are final"
)]
pub trait Outcome {
    /// What says why it failed.
    type Error;

    /// The error, if this is a failure.
    fn error(&self) -> Option<&Self::Error>;
}

impl<T, E> Outcome for Result<T, E> {
    type Error = E;

    #[inline(always)]
    fn error(&self) -> Option<&E> {
        match self {
            Ok(_) => None,
            Err(error) => Some(error),
        }
    }
}

impl<T> Outcome for Option<T> {
    type Error = Absent;

    #[inline(always)]
    fn error(&self) -> Option<&Absent> {
        match self {
            Some(_) => None,
            None => Some(&Absent),
        }
    }
}

/// The failure of an attempt, if it failed.
#[inline(always)]
pub fn failure<R: Outcome>(outcome: &R) -> Option<Cause<'_, R::Error>> {
    outcome.error().map(Cause::Error)
}
