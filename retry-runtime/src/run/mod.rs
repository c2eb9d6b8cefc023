//! The programmatic form: a policy around a closure.

mod attempt_fn;
mod decide;
mod drive;
mod misnamed;
mod runner;

use attempt_fn::VerdictFn;
pub use attempt_fn::{AsyncAttemptFn, AttemptFn, AttemptFuture};
#[doc(hidden)]
pub use decide::ByStrategy;
use decide::Decide;
#[doc(hidden)]
pub use runner::Parts;
pub use runner::{NoLimits, Runner, SendSetup, Setup, WithLimits};

use core::fmt;
use core::marker::PhantomData;

use crate::attempt::Retry;
#[cfg(feature = "std")]
use crate::outcome::{Outcome, ReportLimit};
use crate::policy::Policy;
use crate::timer::DefaultTimer;
#[cfg(all(feature = "std", target_os = "unknown"))]
use crate::timer::IntoBlockingTimer;
use crate::verdict::{Classify, IntoVerdict, Verdict};

impl Policy {
    /// Runs `operation` under this policy, waiting by blocking the thread.
    ///
    /// The [`Classify`] of its error decides what is retried; [`on`](Self::on) takes a function for
    /// errors without one. The call checks the deadline between attempts, because nothing can
    /// interrupt a thread.
    ///
    /// The operation has no parameter. Where it needs the number of its attempt, write it as a function with
    /// `#[retry(context = attempt)]`, or count in a variable around the closure.
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
    #[cfg(all(feature = "std", not(target_os = "unknown")))]
    #[track_caller]
    pub fn run<R>(&self, operation: impl AttemptFn<R>) -> R
    where
        R: Outcome,
        R::Error: Classify,
    {
        self.runner().run(operation)
    }

    /// Does not compile: in a browser no thread can sleep. [`run_async`](Self::run_async) waits there.
    // The bound has a lifetime, or it would be an error here.
    #[cfg(all(feature = "std", target_os = "unknown"))]
    #[track_caller]
    pub fn run<R>(&self, operation: impl AttemptFn<R>) -> R
    where
        R: Outcome,
        R::Error: Classify,
        for<'a> &'a DefaultTimer: IntoBlockingTimer,
    {
        self.runner().timer(&DefaultTimer).run(operation)
    }

    /// Runs an async `operation` under this policy.
    ///
    /// The closure makes the future of each attempt: `|| fetch(id)`. One that changes a variable around it does so in front
    /// of the future, `|| { calls += 1; fetch(calls) }`, because a future cannot borrow it by `&mut`: that is for
    /// `retry_block!` or a function with `#[retry]`. What the future moves, the closure clones for each attempt.
    ///
    /// # Errors
    ///
    /// Returns the last error unchanged; without one, the `From<GaveUp>` of the error type, because
    /// `timeout` and the deadline cancel attempts. Use [`try_run_async`](Self::try_run_async) for error
    /// types without it. A helper that is generic over the error `E` has the bound `E: From<GaveUp>`;
    /// around `try_run_async` it needs none.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the attempt or the wait that is under way.
    #[cfg(feature = "std")]
    #[track_caller]
    pub fn run_async<R, F>(&self, operation: impl AsyncAttemptFn<F>) -> impl Future<Output = R>
    where
        F: AttemptFuture<Output = R>,
        R: Outcome + ReportLimit,
        R::Error: Classify,
    {
        self.runner().run_async(operation)
    }

    /// As [`run_async`](Self::run_async), with the whole story when it gives up, for any error type.
    ///
    /// # Errors
    ///
    /// [`RetryError`](crate::RetryError): the last error, if there is one, why and after how many attempts
    /// the call ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the attempt or the wait that is under way.
    #[cfg(feature = "std")]
    #[track_caller]
    pub fn try_run_async<V, E: Classify, F>(
        &self,
        operation: impl AsyncAttemptFn<F>,
    ) -> impl Future<Output = Result<V, crate::RetryError<E>>>
    where
        F: AttemptFuture<Output = Result<V, E>>,
    {
        self.runner().try_run_async(operation)
    }

    /// Returns which errors are retried: a function of the error that returns a `bool` or a
    /// [`Verdict`].
    #[track_caller]
    pub const fn on<J>(&self, on: J) -> Runner<'_, Parts<On<J>, (), DefaultTimer, (), ()>> {
        Runner::new(self, On::new(on))
    }

    /// Returns a runner, for a hook, a timer, a name or a limit.
    #[track_caller]
    pub const fn runner(&self) -> Runner<'_, Parts<ByClassify, (), DefaultTimer, (), ()>> {
        Runner::new(self, ByClassify)
    }
}

/// The error's [`Classify`](crate::Classify) decides whether it is retried.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct ByClassify;

/// A function decides which errors are retried.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct On<J>(J);

impl<J> On<J> {
    /// Returns the classifier that this function is.
    pub const fn new(function: J) -> Self {
        Self(function)
    }
}

/// Another classifier decides, and telemetry shows the errors.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Shown<J>(pub(crate) J);

/// A function that is called before each retry after an error of `E`, as `fn(&E)`: so that its closure needs no type.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Hook<F, M>(F, PhantomData<M>);

/// The same for errors of `E`.
#[doc(hidden)]
pub type HookOf<F, E> = Hook<F, fn(&E)>;

impl<F, E> HookOf<F, E> {
    /// Returns the hook that `function` is.
    pub const fn new(function: F) -> Self {
        Self(function, PhantomData)
    }
}

/// Decides which errors are retried: by their [`Classify`], or by the function of [`Policy::on`].
pub trait Classifier<E> {
    /// Returns the verdict on `error`.
    fn classify(&mut self, error: &E) -> Verdict;

    /// Returns the error in words, for telemetry.
    ///
    /// # Default
    ///
    /// None.
    fn message<'e>(&self, _error: &'e E) -> Option<&'e dyn fmt::Display> {
        None
    }

    /// Returns whether the error has this status or code.
    ///
    /// # Default
    ///
    /// `false`: nothing is known of it.
    fn has_code(&self, _error: &E, _code: &str) -> bool {
        false
    }
}

impl<E: Classify> Classifier<E> for ByClassify {
    fn classify(&mut self, error: &E) -> Verdict {
        error.classify()
    }

    fn message<'e>(&self, error: &'e E) -> Option<&'e dyn fmt::Display> {
        error.message()
    }

    fn has_code(&self, error: &E, code: &str) -> bool {
        error.has_code(code)
    }
}

impl<E, F: VerdictFn<E, Verdict: IntoVerdict>> Classifier<E> for On<F> {
    fn classify(&mut self, error: &E) -> Verdict {
        self.0.verdict(error).into_verdict()
    }
}

impl<E: fmt::Display, J: Classifier<E>> Classifier<E> for Shown<J> {
    fn classify(&mut self, error: &E) -> Verdict {
        self.0.classify(error)
    }

    fn message<'e>(&self, error: &'e E) -> Option<&'e dyn fmt::Display> {
        Some(error)
    }

    fn has_code(&self, error: &E, code: &str) -> bool {
        self.0.has_code(error, code)
    }
}

/// Is called before the delay of each retry of one call.
pub trait RetryHook<E> {
    /// A retry follows.
    fn on_retry(&mut self, retry: &Retry<'_, E>);
}

impl<E> RetryHook<E> for () {
    fn on_retry(&mut self, _: &Retry<'_, E>) {}
}

impl<E, F: FnMut(&Retry<'_, E>)> RetryHook<E> for HookOf<F, E> {
    fn on_retry(&mut self, retry: &Retry<'_, E>) {
        (self.0)(retry);
    }
}

/// Is called before the delay of each retry, by many calls at once: of a layer, of middleware.
pub trait SharedRetryHook<E> {
    /// A retry follows.
    fn on_retry(&self, retry: &Retry<'_, E>);
}

impl<E> SharedRetryHook<E> for () {
    fn on_retry(&self, _: &Retry<'_, E>) {}
}

impl<E, F: Fn(&Retry<'_, E>)> SharedRetryHook<E> for HookOf<F, E> {
    fn on_retry(&self, retry: &Retry<'_, E>) {
        (self.0)(retry);
    }
}
