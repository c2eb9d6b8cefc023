//! Attempts that were cut off: what became of them, and what a call answers that
//! ends with one.

use core::convert::Infallible;

use reattempt_core::{GaveUp, GiveUpReason, Outcome, ReportLimit, RetryError};
use reattempt_policy::rules::RuleId;
use retry_runtime::driver::{Lost, TimedOut};
use retry_runtime::{Cause, Policy};

/// Made once, at the user's type, where it says what is expected of it. A pointer,
/// because any other function would say it again wherever it is called.
pub fn cut<R: ReportLimit>() -> fn(GaveUp) -> R {
    R::cut
}

/// The same under other names, by which the compiler says what fits the error as it is written.
macro_rules! cut_of {
    ($($(#[$doc:meta])* $name:ident $report:ident($first:literal, $second:literal);)*) => { $(
        #[diagnostic::on_unimplemented(
            message = "`{Self}` cannot report that a limit ended the call",
            label = "its error lacks `From<GaveUp>`",
            note = "a limit can end a call before it has an error to return",
            note = $first,
            note = $second,
            note = "rule S5: https://reattempt.github.io/reattempt/errors.html#s5"
        )]
        pub trait $report {
            fn cut(end: GaveUp) -> Self;
        }

        #[diagnostic::do_not_recommend]
        impl<R: ReportLimit> $report for R {
            fn cut(end: GaveUp) -> Self {
                <R as ReportLimit>::cut(end)
            }
        }

        $(#[$doc])*
        pub fn $name<R: $report>() -> fn(GaveUp) -> R {
            R::cut
        }
    )* };
}

cut_of! {
    /// Of an error with a name that may be the user's.
    cut_own OwnReport(
        "for an error of yours: implement `From<reattempt::GaveUp>`; with thiserror a variant `GaveUp(#[from] reattempt::GaveUp)`",
        "for an error of another crate: return `Result<T, reattempt::RetryError<E>>`"
    );
    /// Of an error of another crate.
    cut_foreign ForeignReport(
        "return `Result<T, reattempt::RetryError<E>>`",
        "or make your error of it: `map_err = |error: reattempt::RetryError<E>| ...`"
    );
    /// Of a type parameter.
    cut_parameter ParameterReport(
        "add the bound `E: From<reattempt::GaveUp>`",
        "or return `Result<T, reattempt::RetryError<E>>`"
    );
}

/// An inherited constant policy on a sync function.
#[track_caller]
pub const fn refuse_blocking(policy: &Policy) {
    if policy.values().timeout.is_some() {
        RuleId::S2.refuse(
            "`timeout` of the policy cannot interrupt a blocked thread; make this async, or drop `timeout` from the policy and give the client a time-out of `reattempt::deadline::remaining()`",
        );
    }
}

/// The answer of a call whose last attempt has no outcome: one that says so, or none, since it cannot happen.
pub trait LostAnswer<R>: Lost {
    /// Returns it.
    fn answer(self, end: GaveUp) -> R;
}

impl<R: ReportLimit> LostAnswer<R> for TimedOut {
    fn answer(self, end: GaveUp) -> R {
        R::cut(end)
    }
}

impl<R> LostAnswer<R> for Infallible {
    fn answer(self, _: GaveUp) -> R {
        match self {}
    }
}

/// Returns what failed: the error of an attempt, or its time-out.
#[inline(always)]
pub fn cause_of<E, L>(error: &Result<E, L>) -> Cause<'_, E> {
    match error {
        Ok(error) => Cause::Error(error),
        Err(_) => Cause::TimedOut,
    }
}

/// As `fail`, where an attempt may have been cut off.
#[inline(always)]
pub fn fail_limited<R: Outcome, L: LostAnswer<R>>(error: Result<R::Error, L>, end: GaveUp) -> R {
    match error {
        Ok(error) => R::failure(error),
        Err(lost) => lost.answer(end.timed_out()),
    }
}

/// Returns the same where `cut` makes the answer of an attempt that was cut off.
#[inline(always)]
pub fn fail_cut<R: Outcome>(
    error: Result<R::Error, TimedOut>,
    end: GaveUp,
    cut: impl FnOnce(GaveUp) -> R,
) -> R {
    match error {
        Ok(error) => R::failure(error),
        Err(_) => cut(end.timed_out()),
    }
}

/// As `fail_retry_error`, where an attempt may have been cut off.
pub fn fail_limited_retry_error<T, E, L>(
    error: Result<E, L>,
    end: GaveUp,
) -> Result<T, RetryError<E>> {
    Err(match error {
        Ok(error) => RetryError::new(end, Some(error)),
        Err(_) => end.timed_out().into(),
    })
}

/// Returns the end of a call whose last attempt timed out.
pub const fn timed_out(end: GaveUp) -> GaveUp {
    end.timed_out()
}

/// Returns the outcome of an attempt that was polled to a final value.
#[expect(
    clippy::unreachable,
    reason = "what was cut off has no value that could be final"
)]
pub fn finished<R, L>(outcome: Result<R, L>) -> R {
    match outcome {
        Ok(outcome) => outcome,
        Err(_) => unreachable!("an attempt that was cut off has no final value"),
    }
}

/// The error that `verify` is asked about after a time-out.
#[diagnostic::on_unimplemented(
    message = "`verify` takes the error of the attempt, and after a time-out there is none",
    label = "`From<GaveUp>` is not implemented for this error",
    note = "implement `From<reattempt::GaveUp>` for the error type, or drop `verify` or `timeout`",
    note = "rule S5: https://reattempt.github.io/reattempt/errors.html#s5"
)]
pub trait Unasked {
    fn unasked(end: GaveUp) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<GaveUp>> Unasked for E {
    fn unasked(end: GaveUp) -> Self {
        end.into()
    }
}

/// Returns the end of which the error is made that `verify` is asked about after a time-out, where it is asked at all.
pub fn unasked<E>(policy: &Policy, cause: Cause<'_, E>, failures: u32) -> Option<GaveUp> {
    let asks = matches!(cause, Cause::TimedOut) && !policy.is_idempotent();
    let attempts = failures.saturating_add(1);
    asks.then(|| GaveUp::new(GiveUpReason::NotIdempotent, attempts).timed_out())
}
