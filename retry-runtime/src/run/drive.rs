//! The loops of a runner.

use core::future::Future;

use super::runner::Gates;
use super::{Decide, Judge, Observe, Runner};
use crate::attempt::Cause;
use crate::call::Call;
use crate::failure::{Failed, Interrupted};
use crate::outcome::Outcome;
#[cfg(feature = "config")]
use crate::private::stopped;
use crate::private::{
    Began, answered, attempt_until, begun, cause_of, endured, entered, entered_in_line, in_span,
    in_time, is_over, limited, made, note, over, pause, recovered, sleep, spanned,
    split_limited_told, succeeded, tell_limited, verdict, words,
};
use crate::timer::{ForAsync, ForSync};

#[expect(
    private_bounds,
    reason = "there are two, made by the methods of a runner"
)]
impl<J, O, T, S> Runner<'_, J, O, T, (), S> {
    /// As [`Policy::run`](crate::Policy::run).
    ///
    /// # Errors
    ///
    /// The last error, untouched.
    #[cfg_attr(feature = "tracing", track_caller)]
    #[expect(
        clippy::unreachable,
        reason = "without a breaker or a throttle every attempt is made"
    )]
    pub fn run<R>(self, mut operation: impl FnMut() -> R) -> R
    where
        R: Outcome,
        J: Judge<R::Error>,
        O: Observe<R::Error>,
        S: Decide<R::Error>,
        T: ForSync,
    {
        match self.blocking(|| operation().split()) {
            Ok(value) => R::success(value),
            Err((Some(error), _)) => R::failure(error),
            Err((None, _)) => unreachable!("nothing turns the first attempt away"),
        }
    }

    /// As [`Policy::run_async`](crate::Policy::run_async).
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
        S: Decide<R::Error>,
        T: ForAsync,
    {
        let named = self.plan.operation();
        let timer = self.timer.for_async();
        let until = self.plan.start(&timer);
        let mut limits = self.plan.limits(&self.gates, &named, &timer);
        let call_began = Began::start(named.policy());
        let (mut call, mut state) = (Call::new(), S::State::default());
        loop {
            begun(&mut limits, &timer);
            let delay = {
                let began = call_began.attempt(call, until, &timer);
                let attempt = made(call, until, &timer, &mut operation);
                let attempt = spanned(&named, &call, attempt);
                let Ok(outcome) = endured(attempt, until, call, &timer).await;
                let error = match outcome.split() {
                    Ok(value) => {
                        let value = recovered(value, &call, &named, began);
                        let answer = R::success(succeeded(value, &call));
                        break answered(answer, &mut limits, &named, &timer);
                    }
                    Err(error) => error,
                };
                let verdict = self.judge.judge(&error);
                let cause = Cause::Error(&error);
                note(&call, &named, began, cause, |error| {
                    words(self.judge.message(error))
                });
                match self.strategy.failed(
                    &mut state,
                    &mut call,
                    &named,
                    until,
                    &timer,
                    cause,
                    verdict,
                    &mut limits,
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

#[expect(
    private_bounds,
    reason = "there are two, made by the methods of a runner"
)]
impl<J, O, T, G: Gates, S> Runner<'_, J, O, T, G, S> {
    /// As [`Policy::run`](crate::Policy::run), with the whole story when it gives up.
    ///
    /// # Errors
    ///
    /// [`Failed`]: the last error, why and after how many attempts the call ended.
    #[cfg_attr(feature = "tracing", track_caller)]
    pub fn try_run<V, E>(self, operation: impl FnMut() -> Result<V, E>) -> Result<V, Failed<E>>
    where
        J: Judge<E>,
        O: Observe<E>,
        S: Decide<E>,
        T: ForSync,
    {
        self.blocking(operation)
            .map_err(|(error, end)| Failed::new(end, error))
    }

    #[cfg_attr(feature = "tracing", track_caller)]
    fn blocking<V, E>(
        mut self,
        mut operation: impl FnMut() -> Result<V, E>,
    ) -> Result<V, (Option<E>, Interrupted)>
    where
        J: Judge<E>,
        O: Observe<E>,
        S: Decide<E>,
        T: ForSync,
    {
        let named = self.plan.operation();
        let timer = self.timer.for_sync();
        let until = self.plan.start(&timer);
        let mut limits = self.plan.limits(&self.gates, &named, &timer);
        let call_began = Began::start(named.policy());
        let (mut call, mut state) = (Call::new(), S::State::default());
        if let Err(end) = entered(&mut limits, &call, &named, until, &timer) {
            return Err((None, end));
        }
        loop {
            let began = call_began.attempt(call, until, &timer);
            let error = match attempt_until(call, until, &timer, || {
                in_span(&named, &call, &mut operation)
            }) {
                Ok(value) => {
                    let value = recovered(value, &call, &named, began);
                    break Ok(answered(
                        succeeded(value, &call),
                        &mut limits,
                        &named,
                        &timer,
                    ));
                }
                Err(error) => error,
            };
            let verdict = self.judge.judge(&error);
            let cause = Cause::Error(&error);
            note(&call, &named, began, cause, |error| {
                words(self.judge.message(error))
            });
            match self.strategy.failed(
                &mut state,
                &mut call,
                &named,
                until,
                &timer,
                cause,
                verdict,
                &mut limits,
            ) {
                Ok(retry) => {
                    self.observer.observe(&retry);
                    sleep(retry.delay(), &timer);
                    #[cfg(feature = "config")]
                    if let Some(end) = stopped(&call, &named) {
                        break Err((Some(error), end));
                    }
                    if is_over(until, &timer) {
                        break Err((Some(error), over(&call, &named)));
                    }
                    if let Err(end) = entered(&mut limits, &call, &named, until, &timer) {
                        break Err((Some(error), end));
                    }
                }
                Err(end) => break Err((Some(error), end)),
            }
        }
    }

    /// As [`Policy::run_async`](crate::Policy::run_async), with the whole story when it gives up; the
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
        S: Decide<E>,
        T: ForAsync,
    {
        let named = self.plan.operation();
        let timer = self.timer.for_async();
        let until = self.plan.start(&timer);
        let mut limits = self.plan.limits(&self.gates, &named, &timer);
        let call_began = Began::start(named.policy());
        let (mut call, mut state) = (Call::new(), S::State::default());
        // The error of the attempt before, where the call may be turned away.
        let mut last = None;
        loop {
            #[cfg(feature = "config")]
            if let Some(error) = last.take() {
                match stopped(&call, &named) {
                    Some(end) => break tell_limited(error, end),
                    None if G::ASKS => last = Some(error),
                    // It may hold what the attempt needs.
                    None => drop(error),
                }
            }
            if let Err(end) = entered_in_line(&mut limits, &call, &named, until, &timer).await {
                break match last {
                    Some(error) => tell_limited(error, end),
                    None => Err(end.into()),
                };
            }
            let delay = {
                let began = call_began.attempt(call, until, &timer);
                let limit = until.of_attempt(named.policy(), &timer);
                let attempt = made(call, limit, &timer, &mut operation);
                let attempt = spanned(&named, &call, attempt);
                let outcome = limited(attempt, limit, call, &timer).await;
                let outcome = match in_time(outcome, &call, &named, until, &timer, &mut limits) {
                    Ok(outcome) => outcome,
                    Err((_, end)) => break Err(end.into()),
                };
                let error = match split_limited_told(outcome, &call) {
                    Ok(answer) => {
                        let answer = recovered(answer, &call, &named, began);
                        break answered(answer, &mut limits, &named, &timer);
                    }
                    Err(error) => error,
                };
                let cause = cause_of(&error);
                let verdict = verdict(cause, |error| self.judge.judge(error));
                note(&call, &named, began, cause, |error| {
                    words(self.judge.message(error))
                });
                match self.strategy.failed(
                    &mut state,
                    &mut call,
                    &named,
                    until,
                    &timer,
                    cause,
                    verdict,
                    &mut limits,
                ) {
                    Ok(retry) => {
                        self.observer.observe(&retry);
                        let delay = retry.delay();
                        last = (G::ASKS || cfg!(feature = "config")).then_some(error);
                        delay
                    }
                    Err(end) => break tell_limited(error, end),
                }
            };
            pause(delay, &timer).await;
        }
    }
}
