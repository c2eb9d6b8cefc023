//! Success or failure: what the loops ask the answer of an attempt.

use crate::failure::GaveUp;
use crate::verdict::Absent;

/// What a call can answer with that a limit ended before an attempt had an error: an `Option`, and a `Result` whose
/// error has [`From<GaveUp>`](GaveUp).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot report that a limit ended the call",
    label = "its error lacks `From<GaveUp>`",
    note = "`breaker`, `bulkhead` and `throttle` can end a call before it has an error to return; in an async function, `timeout`, `deadline` and a `policy` that may have one of them can do so, too",
    note = "for your own error type: implement `From<reattempt::GaveUp>`; for a type parameter `E`: add the bound `E: From<reattempt::GaveUp>`",
    note = "for any other: in place of `run_async` call `try_run_async`, whose error is `reattempt::RetryError<E>`; in an attribute or a block, return `Result<T, reattempt::RetryError<E>>`, or make your error of it with `map_err = |error: reattempt::RetryError<E>| ...`",
    note = "if another value will do: `fallback = |_| ...`",
    note = "if something else limits attempts: `cut_off = false`, which checks a deadline only between attempts",
    note = "rule S5: https://reattempt.github.io/reattempt/errors.html#s5"
)]
pub trait ReportLimit {
    /// Returns the answer of a call that ended so.
    fn cut(end: GaveUp) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T, E: From<GaveUp>> ReportLimit for Result<T, E> {
    fn cut(end: GaveUp) -> Self {
        Err(end.into())
    }
}

#[diagnostic::do_not_recommend]
impl<T> ReportLimit for Option<T> {
    fn cut(_: GaveUp) -> Self {
        None
    }
}

/// The return types of a retried function: `Result`, `Option`, and types of your own that
/// distinguish success from failure.
#[diagnostic::on_unimplemented(
    message = "a retry cannot tell success from failure in `{Self}`",
    label = "neither a `Result` nor an `Option`",
    note = "return a `Result` or an `Option`, without `?` behind it; or, in a macro, add `until = |value| ...` to say which values are final",
    note = "for an async operation: an `async fn`, `async` in front of the body of `retry_block!` and `.await` behind the operation, or `run_async` in place of `run`",
    note = "rule S1: https://reattempt.github.io/reattempt/errors.html#s1"
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::GiveUpReason;

    #[test]
    fn an_answer_is_a_success_or_a_failure() {
        type Answer = Result<u8, i8>;
        assert_eq!(
            (Answer::Ok(1).split(), Answer::Err(2).split()),
            (Ok(1), Err(2))
        );
        assert_eq!((Answer::success(1), Answer::failure(2)), (Ok(1), Err(2)));
        assert_eq!((Some(1).split(), None::<u8>.split()), (Ok(1), Err(Absent)));
        assert_eq!(
            (Option::success(1), Option::<u8>::failure(Absent)),
            (Some(1), None)
        );
        let end = GaveUp::new(GiveUpReason::Budget, 2);
        assert_eq!(Result::<u8, GaveUp>::cut(end), Err(end));
        assert_eq!(Option::<u8>::cut(end), None);
    }
}
