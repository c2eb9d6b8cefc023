//! The loops of a runner.

use core::borrow::Borrow as _;
use core::future::Future;

use super::runner::{MayGate, Plan};
use super::{Classifier, Decide, Parts, RetryHook, Runner, Setup};
use crate::attempt::Cause;
use crate::attempt::verdict;
use crate::engine::{
    AttemptStart, CallContext, Described, ErrorText, LiveCall, TimedOut, attempt_span, in_span,
    limited, spanned,
};
use crate::failure::{GaveUp, RetryError};
use crate::history::History;
use crate::operation::Operation;
use crate::outcome::{Outcome, ReportLimit};
use crate::timer::{Clock, IntoBlockingTimer, IntoTimer};

impl<C> Runner<'_, C> {
    /// As [`Policy::run`](crate::Policy::run).
    ///
    /// # Errors
    ///
    /// The last error, untouched.
    #[cfg_attr(feature = "tracing", track_caller)]
    pub fn run<R, T>(self, operation: impl FnMut() -> R) -> R
    where
        R: Outcome,
        C: Setup<R::Error, T>,
        T: IntoBlockingTimer,
    {
        answer(blocking(self.plan, self.parts.parts(), operation, false))
    }

    /// As [`Policy::run`](crate::Policy::run), with the whole story when it gives up.
    ///
    /// # Errors
    ///
    /// [`RetryError`]: the last error, why and after how many attempts the call ended.
    #[cfg_attr(feature = "tracing", track_caller)]
    pub fn try_run<V, E, T, L>(
        self,
        operation: impl FnMut() -> Result<V, E>,
    ) -> Result<V, RetryError<E>>
    where
        C: Setup<E, T, L>,
        T: IntoBlockingTimer,
    {
        blocking(self.plan, self.parts.parts(), operation, true)
    }

    /// As [`Policy::run_async`](crate::Policy::run_async), with the whole story when it gives up; the
    /// policy's `timeout` and its deadline cut an attempt off.
    ///
    /// # Errors
    ///
    /// [`RetryError`]: the last error, if there is one, why and after how many attempts
    /// the call ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the attempt or the wait that is under way.
    pub async fn try_run_async<V, E, F, T, L>(
        self,
        operation: impl FnMut() -> F,
    ) -> Result<V, RetryError<E>>
    where
        F: Future<Output = Result<V, E>>,
        C: Setup<E, T, L>,
        T: IntoTimer,
    {
        asynchronous(self.plan, self.parts.parts(), operation).await
    }

    /// As [`Policy::run_async`](crate::Policy::run_async), also with a breaker, a bulkhead or a throttle.
    ///
    /// # Errors
    ///
    /// Returns the last error unchanged; without one, the `From<GaveUp>` of the error type.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the attempt or the wait that is under way.
    pub async fn run_async<R, F, T, L>(self, operation: impl FnMut() -> F) -> R
    where
        F: Future<Output = R>,
        R: Outcome + ReportLimit,
        C: Setup<R::Error, T, L>,
        T: IntoTimer,
    {
        let error = match asynchronous(self.plan, self.parts.parts(), operation).await {
            Ok(value) => return R::success(value),
            Err(error) => error,
        };
        let end = error.end();
        match error.into_last() {
            Some(error) => R::failure(error),
            None => R::cut(end),
        }
    }
}

#[expect(
    clippy::unreachable,
    reason = "nothing cuts a sync attempt off, or turns the first one away"
)]
fn answer<R: Outcome>(ended: Result<R::Value, RetryError<R::Error>>) -> R {
    match ended.map_err(RetryError::into_last) {
        Ok(value) => R::success(value),
        Err(Some(error)) => R::failure(error),
        Err(None) => unreachable!("every attempt has an outcome"),
    }
}

#[cfg_attr(feature = "tracing", track_caller)]
fn blocking<R: Outcome, J, H, T, L, S>(
    plan: Plan<'_>,
    mut parts: Parts<J, H, T, L, S>,
    mut operation: impl FnMut() -> R,
    says_why: bool,
) -> Result<R::Value, RetryError<R::Error>>
where
    J: Classifier<R::Error>,
    H: RetryHook<R::Error>,
    L: MayGate,
    S: Decide<R::Error>,
    T: IntoBlockingTimer,
{
    let timer = parts.timer.for_sync();
    let policy = S::policy(plan.policy);
    let context = CallContext::start(Operation::new(&plan.site, policy.borrow()), &timer);
    let mut gates = plan.gates(&parts.limits, &timer);
    let (mut call, mut state) = (LiveCall::start((), context), S::State::default());
    let mut story = Story::start(plan, &timer);
    if says_why && context.is_over() {
        return Err(story.end(None, call.late(context)));
    }
    let mut last = None;
    loop {
        if let Err(end) = call.enter(context, &mut gates) {
            return Err(story.end(last, end));
        }
        story.take(&mut last);
        let span = attempt_span(context, &call);
        let start = AttemptStart::<1>::now(context.operation.policy(), &timer);
        let outcome = call.attempt(context.until, context, || in_span(&span, &mut operation));
        let error = match outcome.split() {
            Ok(value) => {
                let value = call.succeeded(value, context, &mut gates);
                call.finish();
                return Ok(value);
            }
            Err(error) => error,
        };
        let verdict = parts.classifier.classify(&error);
        let failure = Described::new(Cause::Error(&error), |error| {
            ErrorText::message(error, parts.classifier.message(error))
        })
        .since(start)
        .about(plan.detail);
        let failed =
            (parts.strategy).failed(&mut state, &mut call, context, &mut gates, failure, verdict);
        let delay = match failed {
            Ok(retry) => {
                parts.hook.on_retry(&retry);
                retry.delay()
            }
            Err(end) => return Err(story.end(Some(error), end)),
        };
        if let Err(end) = call.wait(context, delay) {
            return Err(story.end(Some(error), end));
        }
        last = Some(error).filter(|_| L::ASKS || plan.keeps_history);
    }
}

async fn asynchronous<R: Outcome, F: Future<Output = R>, J, H, T, L, S>(
    plan: Plan<'_>,
    mut parts: Parts<J, H, T, L, S>,
    mut operation: impl FnMut() -> F,
) -> Result<R::Value, RetryError<R::Error>>
where
    J: Classifier<R::Error>,
    H: RetryHook<R::Error>,
    L: MayGate,
    S: Decide<R::Error>,
    T: IntoTimer,
{
    let timer = parts.timer.for_async();
    let policy = S::policy(plan.policy);
    let context = CallContext::start(Operation::new(&plan.site, policy.borrow()), &timer);
    let mut gates = plan.gates(&parts.limits, &timer);
    let (site, mut state) = (&plan.site, S::State::default());
    let mut call = LiveCall::start(|| site, context);
    let mut story = Story::start(plan, &timer);
    if context.is_over() {
        return Err(story.end(None, call.late(context)));
    }
    // What the attempt before came to, where the call may end between two attempts.
    let mut last = None;
    loop {
        if let Err(end) = call.enter_async(context, &mut gates).await {
            return Err(story.cut(last, end));
        }
        story.take_cut(&mut last);
        let delay = {
            let limit = context.attempt_limit();
            let start = AttemptStart::<1>::now(context.operation.policy(), &timer);
            let attempt = call.attempt(
                limit,
                || CallContext::of_attempt(limit, &timer),
                &mut operation,
            );
            let attempt = spanned(attempt_span(context, &call), attempt);
            let outcome = limited(attempt, limit, &mut call, &timer).await;
            let outcome = match call.in_time(outcome, context, &mut gates) {
                Ok(outcome) => outcome,
                Err((TimedOut { .. }, end)) => return Err(story.end(None, end)),
            };
            let error = match outcome.map(R::split) {
                Ok(Ok(value)) => return Ok(call.succeeded(value, context, &mut gates)),
                Ok(Err(error)) => Ok(error),
                Err(cut_off) => Err(cut_off),
            };
            let cause = error.as_ref().map_or(Cause::TimedOut, Cause::Error);
            let verdict = verdict(cause, |error| parts.classifier.classify(error));
            let failure = Described::new(cause, |error| {
                ErrorText::message(error, parts.classifier.message(error))
            })
            .since(start)
            .about(plan.detail);
            match parts
                .strategy
                .failed(&mut state, &mut call, context, &mut gates, failure, verdict)
            {
                Ok(retry) => {
                    parts.hook.on_retry(&retry);
                    let delay = retry.delay();
                    last =
                        Some(error).filter(|_| L::ASKS || plan.keeps_history || context.may_end());
                    delay
                }
                Err(end) => return Err(story.cut(Some(error), end)),
            }
        };
        call.pause(context, delay, ()).await;
        if !delay.is_zero()
            && last.is_some()
            && let Err(end) = call.resume(context)
        {
            return Err(story.cut(last, end));
        }
        // It may hold what the attempt needs.
        last = last.filter(|_| L::ASKS || plan.keeps_history);
        call.retry_begins();
    }
}

/// What a call has been through, for the error that it ends with.
struct Story<'t, E, T> {
    timer: &'t T,
    history: Option<History<E>>,
}

impl<'t, E, T: Clock> Story<'t, E, T> {
    /// Returns the story of a call that begins now.
    #[inline(always)]
    fn start(plan: Plan<'_>, timer: &'t T) -> Self {
        let history = plan.keeps_history.then(|| History::start(timer));
        Self { timer, history }
    }

    /// Takes the error of an attempt that another one follows, where the call keeps its history.
    #[inline(always)]
    fn take(&mut self, last: &mut Option<E>) {
        if let Some(history) = &mut self.history {
            history.push(last.take());
        }
    }

    /// Takes the same of an attempt that may have timed out.
    #[inline(always)]
    fn take_cut(&mut self, last: &mut Option<Result<E, TimedOut>>) {
        if let Some(history) = &mut self.history {
            history.push(last.take().and_then(Result::ok));
        }
    }

    /// Returns how the call ended, with its last error if there is one.
    fn end(self, last: Option<E>, end: GaveUp) -> RetryError<E> {
        let error = RetryError::new(end, last);
        match self.history {
            Some(history) => history.of(error, self.timer),
            None => error,
        }
    }

    /// Returns how a call ended whose last attempt came to an error, or timed out; `None` where nothing is known of one.
    fn cut(self, last: Option<Result<E, TimedOut>>, end: GaveUp) -> RetryError<E> {
        match last {
            Some(Ok(error)) => self.end(Some(error), end),
            Some(Err(_)) => self.end(None, end.timed_out()),
            None => self.end(None, end),
        }
    }
}
