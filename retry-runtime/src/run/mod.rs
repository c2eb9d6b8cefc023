//! The programmatic form: a policy run around a closure, where no attribute can
//! stand.

mod decide;
mod drive;
mod runner;

pub use decide::ByStrategy;
use decide::Decide;
pub use runner::{Gated, Runner};

use core::fmt;

use crate::attempt::Retry;
#[cfg(feature = "std")]
use crate::outcome::Cut;
#[cfg(feature = "std")]
use crate::outcome::Outcome;
use crate::policy::Policy;
use crate::timer::DefaultTimer;
use crate::verdict::{Classify, IntoVerdict, Verdict};

impl Policy {
    /// Runs `operation` under this policy, waiting by blocking the thread.
    ///
    /// Its error says by [`Classify`] what is retried; [`on`](Self::on) says it
    /// where the error cannot. The deadline is looked at between attempts: a
    /// thread cannot be interrupted.
    ///
    /// # Errors
    ///
    /// The last error, untouched.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::Policy;
    /// use std::io::{Error, ErrorKind};
    ///
    /// let mut calls = 0;
    /// let answer = Policy::new().base(std::time::Duration::from_nanos(1)).run(|| {
    ///     calls += 1;
    ///     if calls < 3 { Err(Error::from(ErrorKind::ConnectionReset)) } else { Ok(calls) }
    /// });
    /// assert_eq!(answer?, 3);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "std")]
    #[track_caller]
    pub fn run<R>(&self, operation: impl FnMut() -> R) -> R
    where
        R: Outcome,
        R::Error: Classify,
    {
        self.runner().run(operation)
    }

    /// Runs an async `operation` under this policy.
    ///
    /// # Errors
    ///
    /// The last error, untouched; without one, what `From<GaveUp>` makes of the end: `timeout` and the deadline cut attempts
    /// off. [`Runner::try_run_async`] is for errors that cannot say so.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the attempt or the wait that is under way.
    #[cfg(feature = "std")]
    #[track_caller]
    pub fn run_async<R, F>(&self, operation: impl FnMut() -> F) -> impl Future<Output = R>
    where
        F: Future<Output = R>,
        R: Outcome + Cut,
        R::Error: Classify,
    {
        self.runner().run_async(operation)
    }

    /// Says which errors are retried: a function of the error that answers with
    /// a `bool` or a [`Verdict`].
    #[track_caller]
    pub const fn on<J>(&self, on: J) -> Runner<'_, On<J>, (), DefaultTimer> {
        Runner::new(self, On(on))
    }

    /// A runner, for an observer, a timer or a name.
    #[track_caller]
    pub const fn runner(&self) -> Runner<'_, ByClassify, (), DefaultTimer> {
        Runner::new(self, ByClassify)
    }
}

/// The error says itself whether it is retried.
#[derive(Debug, Clone, Copy)]
pub struct ByClassify;

/// A function says which errors are retried.
#[derive(Debug, Clone, Copy)]
pub struct On<J>(pub(crate) J);

/// As another judge says; the errors show themselves in telemetry.
#[derive(Debug, Clone, Copy)]
pub struct Shown<J>(pub(crate) J);

impl<E: fmt::Display, J: Judge<E>> Judge<E> for Shown<J> {
    fn judge(&mut self, error: &E) -> Verdict {
        self.0.judge(error)
    }

    fn message<'e>(&self, error: &'e E) -> Option<&'e dyn fmt::Display> {
        Some(error)
    }
}

/// A function that is told of each retry.
#[derive(Debug, Clone, Copy)]
pub struct Tell<O>(#[doc(hidden)] pub O);

/// What says whether an error is retried.
pub trait Judge<E> {
    /// The verdict on `error`.
    fn judge(&mut self, error: &E) -> Verdict;

    /// The error in words, for telemetry.
    ///
    /// # Default
    ///
    /// None.
    fn message<'e>(&self, _error: &'e E) -> Option<&'e dyn fmt::Display> {
        None
    }
}

impl<E: Classify> Judge<E> for ByClassify {
    fn judge(&mut self, error: &E) -> Verdict {
        error.classify()
    }

    fn message<'e>(&self, error: &'e E) -> Option<&'e dyn fmt::Display> {
        error.message()
    }
}

impl<E, V: IntoVerdict, F: FnMut(&E) -> V> Judge<E> for On<F> {
    fn judge(&mut self, error: &E) -> Verdict {
        (self.0)(error).into_verdict()
    }
}

/// What is told of each retry.
pub trait Observe<E> {
    /// A retry is about to happen.
    fn observe(&mut self, retry: &Retry<'_, E>);
}

impl<E> Observe<E> for () {
    fn observe(&mut self, _: &Retry<'_, E>) {}
}

impl<E, F: FnMut(&Retry<'_, E>)> Observe<E> for Tell<F> {
    fn observe(&mut self, retry: &Retry<'_, E>) {
        (self.0)(retry);
    }
}

/// Is told of each retry, by many calls at once: of a layer, of middleware.
pub trait ObserveRetry<E> {
    /// A retry is about to happen.
    fn observe(&self, retry: &Retry<'_, E>);
}

impl<E> ObserveRetry<E> for () {
    fn observe(&self, _: &Retry<'_, E>) {}
}

impl<E, F: Fn(&Retry<'_, E>)> ObserveRetry<E> for Tell<F> {
    fn observe(&self, retry: &Retry<'_, E>) {
        (self.0)(retry);
    }
}
