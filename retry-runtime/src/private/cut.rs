//! Attempts that were cut off: what became of them, and what a call answers that
//! ends with one.

use core::convert::Infallible;
use core::marker::PhantomData;

use super::{Limits, Progress, Until, cut_off, is_over, over, split, split_told};
use crate::attempt::Cause;
use crate::call::GaveUp;
use crate::events::Came;
use crate::failure::{Failed, Interrupted};
use crate::operation::Operation;
use crate::outcome::Outcome;
use crate::policy::Policy;
use crate::rules::Entry;
use crate::timer::Clock;

// An attempt that was cut off, or that came too late to be started.
#[derive(Debug, Clone, Copy)]
pub struct TimedOut {
    pub(super) started: bool,
    // By a deadline from above, not by a limit that the loop knows.
    pub(super) is_deadline: bool,
}

// The answer of a call that was cut off.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot say that the call was cut off",
    label = "its error lacks `From<Interrupted>`",
    note = "`breaker` and `throttle`, and on an async function `timeout` and `deadline`, end a call where no error of its own exists",
    note = "return `Result<T, reattempt::Failed<E>>`, or, for an error type of yours, implement `From<reattempt::Interrupted>`",
    note = "rule S5: https://docs.rs/reattempt/latest/reattempt/errors/#s5"
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

// Made once, at the user's type, where it says what is expected of it. A pointer,
// because any other function would say it again wherever it is called.
pub fn cut<R: Cut>() -> fn(Interrupted) -> R {
    R::cut
}

// Whether a type is `Cut`: an inherent constant is found before that of a trait.
#[derive(Debug)]
pub struct IsCut<R: ?Sized>(PhantomData<R>);

impl<R: Cut> IsCut<R> {
    pub const YES: bool = true;
}

pub trait IsNotCut {
    const YES: bool = false;
}

impl<R: ?Sized> IsNotCut for IsCut<R> {}

// An inherited constant policy on an async function.
#[track_caller]
pub const fn refuse_uncut(policy: &Policy, can: bool) {
    if !can && policy.timeout.is_some() {
        Entry::S5.refuse(
            "`timeout` of the policy cuts an attempt off, and the answer cannot say so; return `Result<T, reattempt::Failed<E>>`, or implement `From<reattempt::Interrupted>` for the error type",
        );
    }
}

// The same where no type is written that could be asked.
#[track_caller]
pub const fn refuse_untold(policy: &Policy) {
    if policy.timeout.is_some() {
        Entry::S5.refuse(
            "`timeout` of the policy cuts an attempt off, and no type tells whether the answer can say so; write the type, as in `async || -> Result<T, reattempt::Failed<E>> { ... }`",
        );
    }
}

// An inherited constant policy on a sync function.
#[track_caller]
pub const fn refuse_blocking(policy: &Policy) {
    if policy.timeout.is_some() {
        Entry::S2.refuse(
            "`timeout` of the policy cannot interrupt a blocked thread; make this async, or drop `timeout` from the policy and give the client a time-out of `reattempt::deadline::remaining()`",
        );
    }
}

// What is left where an attempt gave nothing: the proof that it was cut off, or
// that it never is.
pub trait Lost<R> {
    fn answer(self, end: Interrupted) -> R;
}

impl<R: Cut> Lost<R> for TimedOut {
    fn answer(self, end: Interrupted) -> R {
        R::cut(end)
    }
}

impl<R> Lost<R> for Infallible {
    fn answer(self, _: Interrupted) -> R {
        match self {}
    }
}

// Whether an attempt was started at all, and what cut it off.
pub trait Started {
    fn started(&self) -> bool;

    fn is_deadline(&self) -> bool;
}

impl Started for TimedOut {
    fn started(&self) -> bool {
        self.started
    }

    fn is_deadline(&self) -> bool {
        self.is_deadline
    }
}

impl Started for Infallible {
    fn started(&self) -> bool {
        match *self {}
    }

    fn is_deadline(&self) -> bool {
        match *self {}
    }
}

// After a deadline nothing is left to decide.
#[inline(always)]
pub fn in_time<R, L: Started>(
    outcome: Result<R, L>,
    progress: &impl Progress,
    operation: &Operation,
    until: Until,
    clock: &impl Clock,
    limits: &mut impl Limits,
) -> Result<Result<R, L>, (L, Interrupted)> {
    match outcome {
        // Its own time-out may have passed before it was polled: that ends the attempt, not the call.
        Err(lost) if !lost.started() => {
            if is_over(until, clock) {
                Err((lost, over(progress, operation)))
            } else {
                Ok(Err(lost))
            }
        }
        Err(lost) if lost.is_deadline() || is_over(until, clock) => {
            // A deadline from above says nothing of the service.
            if !lost.is_deadline() {
                limits.failed(operation, Came::CutOff, clock);
            }
            Err((lost, cut_off(progress, operation)))
        }
        outcome => Ok(outcome),
    }
}

// As `split`: the success, or the error or what is left of it.
#[inline(always)]
pub fn split_limited<R: Outcome, L>(
    outcome: Result<R, L>,
    progress: &impl Progress,
) -> Result<R, Result<R::Error, L>> {
    match outcome {
        Ok(outcome) => split(outcome, progress).map_err(Ok),
        Err(lost) => Err(Err(lost)),
    }
}

// As `split_told`.
#[inline(always)]
pub fn split_limited_told<T, E, L>(
    outcome: Result<Result<T, E>, L>,
    progress: &impl Progress,
) -> Result<Result<T, Failed<E>>, Result<E, L>> {
    match outcome {
        Ok(outcome) => split_told(outcome, progress).map_err(Ok),
        Err(lost) => Err(Err(lost)),
    }
}

#[inline(always)]
pub fn cause_of<E, L>(error: &Result<E, L>) -> Cause<'_, E> {
    match error {
        Ok(error) => Cause::Error(error),
        Err(_) => Cause::TimedOut,
    }
}

// As `fail`.
#[inline(always)]
pub fn fail_limited<R: Outcome, L: Lost<R>>(error: Result<R::Error, L>, end: Interrupted) -> R {
    match error {
        Ok(error) => R::failure(error),
        Err(lost) => lost.answer(end.timed_out()),
    }
}

// The same where every attempt is cut off.
#[inline(always)]
pub fn fail_cut<R: Outcome>(
    error: Result<R::Error, TimedOut>,
    end: Interrupted,
    cut: impl FnOnce(Interrupted) -> R,
) -> R {
    match error {
        Ok(error) => R::failure(error),
        Err(_) => cut(end.timed_out()),
    }
}

// The end of a call whose last attempt timed out.
pub const fn timed_out(end: Interrupted) -> Interrupted {
    end.timed_out()
}

// As `tell`.
pub fn tell_limited<T, E, L>(error: Result<E, L>, end: Interrupted) -> Result<T, Failed<E>> {
    Err(match error {
        Ok(error) => Failed::new(end, Some(error)),
        Err(_) => end.timed_out().into(),
    })
}

// The outcome of an attempt that was polled to a final value.
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

// The error that `verify` is asked about after a time-out.
#[diagnostic::on_unimplemented(
    message = "`verify` is asked about the error, and after a time-out there is none",
    label = "`From<Interrupted>` is not implemented for this error",
    note = "implement `From<reattempt::Interrupted>` for the error type, or drop `verify` or `timeout`",
    note = "rule S5: https://docs.rs/reattempt/latest/reattempt/errors/#s5"
)]
pub trait Unasked {
    fn unasked(end: Interrupted) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<Interrupted>> Unasked for E {
    fn unasked(end: Interrupted) -> Self {
        end.into()
    }
}

pub fn unasked<E: Unasked>(
    operation: &Operation,
    cause: Cause<'_, E>,
    progress: impl Progress,
) -> Option<E> {
    let asks = matches!(cause, Cause::TimedOut) && !operation.policy().is_idempotent();
    asks.then(|| {
        let attempts = progress.failures().saturating_add(1);
        E::unasked(Interrupted::new(GaveUp::Permanent, attempts).timed_out())
    })
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;
    use core::future::{Ready, ready};
    use core::task::{Context, Poll, Waker};
    use core::time::Duration;

    use super::*;
    use crate::timer::{Moment, Timer};

    struct Hand(Cell<Duration>);

    impl Clock for Hand {
        fn now(&self) -> Moment {
            Moment::from_origin(self.0.get())
        }
    }

    impl Timer for Hand {
        type Sleep = Ready<()>;

        fn sleep(&self, duration: Duration) -> Ready<()> {
            self.0.set(self.0.get().saturating_add(duration));
            ready(())
        }
    }

    #[test]
    fn a_time_out_that_passes_before_the_first_poll_is_no_deadline() {
        let clock = Hand(Cell::new(Duration::ZERO));
        let policy = Policy::new().max(3).timeout(Duration::from_millis(5));
        let call = policy.on(|(): &()| true).timer(&clock).try_run_async(|| {
            // Whatever makes the future is slow, or the thread is.
            clock
                .0
                .set(clock.0.get().saturating_add(Duration::from_millis(10)));
            ready(Err::<(), _>(()))
        });
        let mut call = core::pin::pin!(call);
        let answer = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(Err(failed)) = answer else {
            panic!("{answer:?}");
        };
        assert_eq!((failed.reason(), failed.attempts()), (GaveUp::Attempts, 3));
        assert!(failed.is_timeout());
    }
}
