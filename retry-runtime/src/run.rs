//! The programmatic form: a policy run around a closure, where no attribute can
//! stand.

use core::future::Future;

use crate::attempt::{Cause, Retry};
use crate::call::Call;
use crate::failure::{Failed, Interrupted};
use crate::operation::{Operation, UNNAMED};
use crate::outcome::Outcome;
use crate::policy::Policy;
use crate::private::{
    Until, attempt_until, cause_of, endured, failed, in_time, is_over, limited, made, over, pause,
    sleep, split_limited_told, succeeded, tell_limited, verdict,
};
use crate::timer::{ByFeature, ForAsync, ForSync};
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
    /// # use retry_runtime as reattempt;
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
    #[cfg_attr(feature = "tracing", track_caller)]
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
    /// The last error, untouched. The deadline is looked at between attempts, and
    /// no attempt is cut off, not by a `timeout` either: for that there is
    /// [`Runner::try_run_async`], whose error can say so.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the attempt or the wait that is under way.
    #[cfg(any(feature = "tokio", feature = "smol"))]
    pub async fn run_async<R, F>(&self, operation: impl FnMut() -> F) -> R
    where
        F: Future<Output = R>,
        R: Outcome,
        R::Error: Classify,
    {
        self.runner().run_async(operation).await
    }

    /// Says which errors are retried: a function of the error that answers with
    /// a `bool` or a [`Verdict`].
    pub const fn on<J>(&self, on: J) -> Runner<'_, On<J>, (), ByFeature> {
        Runner {
            policy: self,
            name: UNNAMED,
            judge: On(on),
            observer: (),
            timer: ByFeature,
        }
    }

    /// A runner, for an observer, a timer or a name.
    pub const fn runner(&self) -> Runner<'_, ByClassify, (), ByFeature> {
        Runner {
            policy: self,
            name: UNNAMED,
            judge: ByClassify,
            observer: (),
            timer: ByFeature,
        }
    }
}

/// A policy with what surrounds it; made by [`Policy::on`] and [`Policy::runner`].
#[derive(Debug, Clone, Copy)]
#[must_use = "a runner does nothing until `run` or `run_async` is called"]
pub struct Runner<'p, J, O, T> {
    policy: &'p Policy,
    name: &'static str,
    judge: J,
    observer: O,
    timer: T,
}

/// The error says itself whether it is retried.
#[derive(Debug, Clone, Copy)]
pub struct ByClassify;

/// A function says which errors are retried.
#[derive(Debug, Clone, Copy)]
pub struct On<J>(pub(crate) J);

/// A function that is told of each retry.
#[derive(Debug, Clone, Copy)]
pub struct Tell<O>(pub(crate) O);

/// What says whether an error is retried.
pub trait Judge<E> {
    /// The verdict on `error`.
    fn judge(&mut self, error: &E) -> Verdict;
}

impl<E: Classify> Judge<E> for ByClassify {
    fn judge(&mut self, error: &E) -> Verdict {
        error.classify()
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

impl<'p, J, O, T> Runner<'p, J, O, T> {
    /// The name of the operation in telemetry.
    pub const fn name(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Told of each retry before its delay: `|retry: &Retry<'_, E>| ...`.
    pub fn on_retry<F>(self, observer: F) -> Runner<'p, J, Tell<F>, T> {
        Runner {
            policy: self.policy,
            name: self.name,
            judge: self.judge,
            observer: Tell(observer),
            timer: self.timer,
        }
    }

    /// Waits with `timer` instead of the one that the features choose.
    pub fn timer<U>(self, timer: U) -> Runner<'p, J, O, U> {
        Runner {
            policy: self.policy,
            name: self.name,
            judge: self.judge,
            observer: self.observer,
            timer,
        }
    }

    /// As [`Policy::run`].
    ///
    /// # Errors
    ///
    /// The last error, untouched.
    #[cfg_attr(feature = "tracing", track_caller)]
    pub fn run<R>(self, mut operation: impl FnMut() -> R) -> R
    where
        R: Outcome,
        J: Judge<R::Error>,
        O: Observe<R::Error>,
        T: ForSync,
    {
        match self.blocking(|| operation().split()) {
            Ok(value) => R::success(value),
            Err((error, _)) => R::failure(error),
        }
    }

    /// As [`Policy::run`], with the whole story when it gives up.
    ///
    /// # Errors
    ///
    /// [`Failed`]: the last error, why and after how many attempts the call ended.
    #[cfg_attr(feature = "tracing", track_caller)]
    pub fn try_run<V, E>(self, operation: impl FnMut() -> Result<V, E>) -> Result<V, Failed<E>>
    where
        J: Judge<E>,
        O: Observe<E>,
        T: ForSync,
    {
        self.blocking(operation)
            .map_err(|(error, end)| Failed::new(end, Some(error)))
    }

    #[cfg_attr(feature = "tracing", track_caller)]
    fn blocking<V, E>(
        mut self,
        mut operation: impl FnMut() -> Result<V, E>,
    ) -> Result<V, (E, Interrupted)>
    where
        J: Judge<E>,
        O: Observe<E>,
        T: ForSync,
    {
        let named = Operation::new(self.name, *self.policy);
        let timer = self.timer.for_sync();
        let until = Until::start(self.policy, &timer);
        let mut call = Call::new();
        loop {
            let error = match attempt_until(call, until, &timer, &mut operation) {
                Ok(value) => break Ok(succeeded(value, &call)),
                Err(error) => error,
            };
            let verdict = self.judge.judge(&error);
            let cause = Cause::Error(&error);
            match failed(&mut call, &named, until, &timer, cause, verdict) {
                Ok(retry) => {
                    self.observer.observe(&retry);
                    sleep(retry.delay(), &timer);
                    if is_over(until, &timer) {
                        break Err((error, over(&call, &named)));
                    }
                }
                Err(end) => break Err((error, end)),
            }
        }
    }

    /// As [`Policy::run_async`].
    ///
    /// # Errors
    ///
    /// The last error, untouched.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the attempt or the wait that is under way.
    pub async fn run_async<R, F>(mut self, mut operation: impl FnMut() -> F) -> R
    where
        F: Future<Output = R>,
        R: Outcome,
        J: Judge<R::Error>,
        O: Observe<R::Error>,
        T: ForAsync,
    {
        let named = Operation::new(self.name, *self.policy);
        let timer = self.timer.for_async();
        let until = Until::start(self.policy, &timer);
        let mut call = Call::new();
        loop {
            let delay = {
                let attempt = made(call, until, &timer, &mut operation);
                let Ok(outcome) = endured(attempt, until, call, &timer).await;
                let error = match outcome.split() {
                    Ok(value) => break R::success(succeeded(value, &call)),
                    Err(error) => error,
                };
                let verdict = self.judge.judge(&error);
                let cause = Cause::Error(&error);
                match failed(&mut call, &named, until, &timer, cause, verdict) {
                    Ok(retry) => {
                        self.observer.observe(&retry);
                        retry.delay()
                    }
                    Err(_) => break R::failure(error),
                }
            };
            pause(delay, &timer).await;
        }
    }

    /// As [`Policy::run_async`], with the whole story when it gives up; the
    /// policy's `timeout` and its deadline cut an attempt off.
    ///
    /// # Errors
    ///
    /// [`Failed`]: the last error, if there is one, why and after how many attempts
    /// the call ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the attempt or the wait that is under way.
    pub async fn try_run_async<V, E, F>(
        mut self,
        mut operation: impl FnMut() -> F,
    ) -> Result<V, Failed<E>>
    where
        F: Future<Output = Result<V, E>>,
        J: Judge<E>,
        O: Observe<E>,
        T: ForAsync,
    {
        let named = Operation::new(self.name, *self.policy);
        let timer = self.timer.for_async();
        let until = Until::start(self.policy, &timer);
        let mut call = Call::new();
        loop {
            let delay = {
                let limit = until.of_attempt(self.policy, &timer);
                let attempt = made(call, limit, &timer, &mut operation);
                let outcome = limited(attempt, limit, call, &timer).await;
                let outcome = match in_time(outcome, &call, &named, until, &timer) {
                    Ok(outcome) => outcome,
                    Err((_, end)) => break Err(end.into()),
                };
                let error = match split_limited_told(outcome, &call) {
                    Ok(answer) => break answer,
                    Err(error) => error,
                };
                let cause = cause_of(&error);
                let verdict = verdict(cause, |error| self.judge.judge(error));
                match failed(&mut call, &named, until, &timer, cause, verdict) {
                    Ok(retry) => {
                        self.observer.observe(&retry);
                        retry.delay()
                    }
                    Err(end) => break tell_limited(error, end),
                }
            };
            pause(delay, &timer).await;
        }
    }
}
