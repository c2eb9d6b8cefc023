//! The programmatic form: a policy run around a closure, where no attribute can
//! stand.

use core::future::Future;

use crate::attempt::{Cause, Retry};
use crate::call::Call;
use crate::operation::Operation;
use crate::outcome::Outcome;
use crate::policy::Policy;
use crate::private::{Until, failed, pause, sleep};
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
    /// use retry_runtime::Policy;
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
    /// The last error, untouched. The deadline is looked at between attempts;
    /// a running attempt is not cut off.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the attempt or the wait that is under way.
    #[cfg(feature = "tokio")]
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

const UNNAMED: &str = "unnamed";

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
pub struct On<J>(J);

/// A function that is told of each retry.
#[derive(Debug, Clone, Copy)]
pub struct Tell<O>(O);

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
    pub fn run<R>(mut self, mut operation: impl FnMut() -> R) -> R
    where
        R: Outcome,
        J: Judge<R::Error>,
        O: Observe<R::Error>,
        T: ForSync,
    {
        let named = Operation::new(self.name, *self.policy);
        let timer = self.timer.for_sync();
        let until = Until::start(self.policy, &timer);
        let mut call = Call::new();
        loop {
            let error = match operation().split() {
                Ok(value) => break R::success(value),
                Err(error) => error,
            };
            let verdict = self.judge.judge(&error);
            match failed(
                &mut call,
                &named,
                until,
                &timer,
                Cause::Error(&error),
                verdict,
            ) {
                Ok(retry) => {
                    self.observer.observe(&retry);
                    sleep(retry.delay(), &timer);
                }
                Err(_) => break R::failure(error),
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
                let error = match operation().await.split() {
                    Ok(value) => break R::success(value),
                    Err(error) => error,
                };
                let verdict = self.judge.judge(&error);
                match failed(
                    &mut call,
                    &named,
                    until,
                    &timer,
                    Cause::Error(&error),
                    verdict,
                ) {
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
}
