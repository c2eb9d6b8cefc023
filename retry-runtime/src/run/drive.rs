//! The loops of a runner.

use core::borrow::Borrow as _;
use core::future::Future;

use super::runner::{MayGate, NoLimits, Plan};
use super::{
    AsyncAttemptFn, AttemptFn, AttemptFuture, Classifier, Decide, Parts, RetryHook, Runner, Setup,
};
use crate::attempt::{Cause, verdict};
use crate::engine::{
    AttemptStart, CallContext, Described, ErrorText, LiveCall, TimedOut, attempt_span, in_span,
    limited, spanned,
};
use crate::failure::{GaveUp, RetryError};
use crate::operation::Operation;
use crate::outcome::{Outcome, ReportLimit};
use crate::timer::{Clock, IntoBlockingTimer, IntoTimer};
use reattempt_core::history::History;

impl<C> Runner<'_, C> {
    /// As [`Policy::run`](crate::Policy::run).
    ///
    /// # Errors
    ///
    /// The last error, untouched.
    #[cfg_attr(feature = "tracing", track_caller)]
    #[expect(
        clippy::unreachable,
        reason = "nothing cuts a sync attempt off, or turns the first one away"
    )]
    pub fn run<R, T, L>(self, operation: impl AttemptFn<R>) -> R
    where
        R: Outcome,
        C: Setup<R::Error, T, L>,
        T: IntoBlockingTimer,
        L: NoLimits,
    {
        let ended = blocking(self.plan, self.parts.parts(), operation, false);
        answer(ended, |_| unreachable!("every attempt has an outcome"))
    }

    /// As [`Policy::run`](crate::Policy::run), with the whole story when it gives up.
    ///
    /// # Errors
    ///
    /// [`RetryError`]: the last error, why and after how many attempts the call ended.
    #[cfg_attr(feature = "tracing", track_caller)]
    pub fn try_run<V, E, T, L>(
        self,
        operation: impl AttemptFn<Result<V, E>>,
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
        operation: impl AsyncAttemptFn<F>,
    ) -> Result<V, RetryError<E>>
    where
        F: AttemptFuture<Output = Result<V, E>>,
        C: Setup<E, T, L>,
        T: IntoTimer,
    {
        asynchronous(self.plan, self.parts.parts(), operation, true).await
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
    pub async fn run_async<R, F, T, L>(self, operation: impl AsyncAttemptFn<F>) -> R
    where
        F: AttemptFuture<Output = R>,
        R: Outcome + ReportLimit,
        C: Setup<R::Error, T, L>,
        T: IntoTimer,
    {
        let ended = asynchronous(self.plan, self.parts.parts(), operation, false).await;
        answer(ended, R::cut)
    }
}

fn answer<R: Outcome>(ended: Result<R::Value, RetryError<R::Error>>, cut: fn(GaveUp) -> R) -> R {
    let error = match ended {
        Ok(value) => return R::success(value),
        Err(error) => error,
    };
    let end = error.end();
    error.into_last().map_or_else(|| cut(end), R::failure)
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
    // Only `RetryError` can say that no attempt was made; `run` makes one.
    if says_why && context.is_over() {
        return Err(story.end(None, call.late(context)));
    }
    let mut last = None;
    loop {
        if let Err(end) = call.enter(context, &mut gates) {
            return Err(story.end(last, end));
        }
        story.take(&mut last);
        let span = attempt_span(context, call.failures());
        // 1: the policy is a value here, so the compiler cannot know whether it has `reset_after`.
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
        let failure = Described::new(
            Cause::Error(&error),
            |error| ErrorText::message(error, parts.classifier.message(error)),
            |error, code| parts.classifier.has_code(error, code),
        )
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
        // A gate may end the call with it; otherwise it goes, as it may hold what the next attempt
        // needs.
        last = Some(error).filter(|_| L::ASKS || plan.keeps_history);
    }
}

async fn asynchronous<R: Outcome, F: Future<Output = R>, J, H, T, L, S>(
    plan: Plan<'_>,
    mut parts: Parts<J, H, T, L, S>,
    mut operation: impl FnMut() -> F,
    says_why: bool,
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
    // An async call may be dropped after a failure, and then marks its operation.
    let mut call = LiveCall::start(|| site, context);
    let mut story = Story::start(plan, &timer);
    if context.is_over() {
        // Every async answer can say so: it is a `ReportLimit` or a `RetryError`.
        return Err(story.end(None, call.late(context)));
    }
    // Only a limit makes attempts without an error, and only a `RetryError` has a place for one
    // before.
    let keeps_earlier = says_why && context.operation.policy().has_limit();
    // It may hold what an attempt needs.
    let outlives_delay = L::ASKS || plan.keeps_history || keeps_earlier;
    let mut past = Past::NOTHING;
    loop {
        if let Err(end) = call.enter_async(context, &mut gates).await {
            return Err(story.past(past, end));
        }
        story.take(&mut past.error);
        let delay = {
            let limit = context.attempt_limit();
            let start = AttemptStart::<1>::now(context.operation.policy(), &timer);
            let attempt = call.attempt(
                limit,
                || CallContext::of_attempt(limit, &timer),
                &mut operation,
            );
            let attempt = spanned(attempt_span(context, call.failures()), attempt);
            let outcome = limited(attempt, limit, &mut call, &timer).await;
            let outcome = match call.in_time(outcome, context, &mut gates) {
                Ok(outcome) => outcome,
                Err((TimedOut { .. }, end)) => {
                    return Err(story.lost(past.error.filter(|_| keeps_earlier), end));
                }
            };
            let error = match outcome.map(R::split) {
                Ok(Ok(value)) => return Ok(call.succeeded(value, context, &mut gates)),
                Ok(Err(error)) => Ok(error),
                Err(cut_off) => Err(cut_off),
            };
            let cause = error.as_ref().map_or(Cause::TimedOut, Cause::Error);
            let verdict = verdict(cause, |error| parts.classifier.classify(error));
            let failure = Described::new(
                cause,
                |error| ErrorText::message(error, parts.classifier.message(error)),
                |error, code| parts.classifier.has_code(error, code),
            )
            .since(start)
            .about(plan.detail);
            let failed = parts
                .strategy
                .failed(&mut state, &mut call, context, &mut gates, failure, verdict);
            let decided = failed.map(|retry| {
                parts.hook.on_retry(&retry);
                retry.delay()
            });
            past = past.after(error, keeps_earlier);
            match decided {
                Ok(delay) => delay,
                Err(end) => return Err(story.past(past, end)),
            }
        };
        if !outlives_delay && !context.may_end() {
            past = Past::NOTHING;
        }
        call.pause(context, delay, ()).await;
        if !delay.is_zero()
            && let Err(end) = call.resume(context)
        {
            return Err(story.past(past, end));
        }
        if !outlives_delay {
            past = Past::NOTHING;
        }
        call.retry_begins();
    }
}

/// What the attempts of a call came to.
struct Past<E> {
    /// The error of the last one, or of one before it.
    error: Option<E>,
    /// The last one had none.
    timed_out: bool,
}

impl<E> Past<E> {
    const NOTHING: Self = Self {
        error: None,
        timed_out: false,
    };

    /// Returns the same after one more attempt. What was before a time-out stays where it is kept.
    fn after(self, attempt: Result<E, TimedOut>, keeps_earlier: bool) -> Self {
        let timed_out = attempt.is_err();
        let earlier = self.error.filter(|_| timed_out && keeps_earlier);
        Self {
            error: attempt.ok().or(earlier),
            timed_out,
        }
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

    /// Returns how the call ended, with its last error if there is one.
    fn end(self, last: Option<E>, end: GaveUp) -> RetryError<E> {
        self.with_history(RetryError::new(end, last))
    }

    fn with_history(self, error: RetryError<E>) -> RetryError<E> {
        match self.history {
            Some(history) => history.of(error, self.timer),
            None => error,
        }
    }

    /// Returns how a call ended between two attempts.
    fn past(self, past: Past<E>, end: GaveUp) -> RetryError<E> {
        if past.timed_out {
            self.lost(past.error, end.timed_out())
        } else {
            self.end(past.error, end)
        }
    }

    /// Returns how a call ended if its last attempt has no error, with the last one before it.
    fn lost(self, earlier: Option<E>, end: GaveUp) -> RetryError<E> {
        self.with_history(earlier.map_or(end.into(), |error| RetryError::with_earlier(end, error)))
    }
}
