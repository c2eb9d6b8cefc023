//! The future of a call: attempts and the delays between them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use retry_runtime::private::driver::{
    AttemptStart, BudgetGate, CallContext, Gate as _, LiveCall, Spanned, Until, attempt_span,
    spanned,
};
use retry_runtime::timer::Timer;
use retry_runtime::{Cause, GiveUpReason, SharedRetryHook, Verdict};
use tower_service::Service;

use super::classifier::JudgeAnswer;
use super::cloner::RequestCloner;
use super::plan::Plan;

pin_project! {
    /// The future of [`RetryService`](super::RetryService).
    #[must_use = "futures do nothing unless polled"]
    pub struct RetryFuture<S: Service<Req>, Req, J, C, O, T: Timer> {
        plan: Arc<Plan<J, C, O, T>>,
        service: S,
        // `None` where it cannot be sent again.
        request: Option<Req>,
        call: LiveCall,
        until: Until,
        gates: Option<BudgetGate<'static>>,
        #[pin]
        state: State<S::Future, T::Sleep, Result<S::Response, S::Error>>,
    }

    impl<S: Service<Req>, Req, J, C, O, T: Timer> PinnedDrop for RetryFuture<S, Req, J, C, O, T> {
        #[inline]
        fn drop(this: Pin<&mut Self>) {
            if this.call.failures() > 0 {
                this.plan.operation.site().mark();
            }
        }
    }
}

pin_project! {
    #[project = Now]
    enum State<F, P, A> {
        Attempt {
            #[pin]
            future: Spanned<F>,
            start: AttemptStart<1>,
            // Until the deadline cancels it, where it does and the attempt has to wait.
            limit: Option<Pin<Box<P>>>,
        },
        // Before an attempt that may not begin yet.
        Between {
            in_delay: bool,
            // The delay, and then the time that the service has to make room for another attempt.
            #[pin]
            sleep: P,
            // The answer before, where the call may end between two attempts.
            last: Option<A>,
        },
        // Until the service makes room.
        Ready,
    }
}

impl<F, P, A> State<F, P, A> {
    /// Returns the attempt that runs.
    #[inline(always)]
    #[expect(
        clippy::unreachable,
        reason = "called in this state, or by whoever polls after the end"
    )]
    fn attempt(self: Pin<&mut Self>) -> Attempt<'_, F, P> {
        match self.project() {
            Now::Attempt {
                future,
                start,
                limit,
            } => (future, *start, limit),
            _ => unreachable!("there is no attempt between two attempts"),
        }
    }
}

/// An attempt that runs, when it began, and its limit.
type Attempt<'s, F, P> = (
    Pin<&'s mut Spanned<F>>,
    AttemptStart<1>,
    &'s mut Option<Pin<Box<P>>>,
);

/// The answer of a call, or of an attempt that failed.
type Polled<S, Req> = (Answer<S, Req>, Option<Verdict>);

type Answer<S, Req> = Result<<S as Service<Req>>::Response, <S as Service<Req>>::Error>;

impl<S, Req, J, C, O, T> RetryFuture<S, Req, J, C, O, T>
where
    S: Service<Req> + Clone,
    C: RequestCloner<Req>,
    T: Timer,
{
    #[inline]
    pub(super) fn start(plan: &Arc<Plan<J, C, O, T>>, ready: &mut S, request: Req) -> Self {
        let clone = plan.cloner.clone_request(&request);
        let service = ready.clone();
        let policy = plan.operation.policy();
        let until = Until::start(policy, &plan.timer);
        let context = plan.context(until);
        let budget = policy.shared_budget();
        let gates = budget.map(|budget| BudgetGate::new(budget, &plan.timer));
        let start = AttemptStart::now(policy, &plan.timer);
        let mut call = LiveCall::start((), context);
        let future = call.inside(until, context, || ready.call(request));
        let state = State::Attempt {
            future: spanned(attempt_span(context, &call), future),
            start,
            limit: None,
        };
        Self {
            until,
            plan: Arc::clone(plan),
            service,
            request: clone,
            call,
            gates,
            state,
        }
    }
}

impl<S, Req, J, C, O, T> Future for RetryFuture<S, Req, J, C, O, T>
where
    S: Service<Req>,
    J: JudgeAnswer<Req, S::Response, S::Error>,
    C: RequestCloner<Req>,
    O: SharedRetryHook<Result<S::Response, S::Error>>,
    T: Timer,
{
    type Output = Result<S::Response, S::Error>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut failed = None;
        if let State::Attempt { .. } = self.state {
            match ready!(self.as_mut().attempt(cx)) {
                (answer, None) => return Poll::Ready(answer),
                (answer, Some(verdict)) => failed = Some((answer, verdict)),
            }
        }
        self.go_on(failed, cx)
    }
}

// What only a failure needs is kept out of the way of a success.
impl<S, Req, J, C, O, T> RetryFuture<S, Req, J, C, O, T>
where
    S: Service<Req>,
    J: JudgeAnswer<Req, S::Response, S::Error>,
    C: RequestCloner<Req>,
    O: SharedRetryHook<Result<S::Response, S::Error>>,
    T: Timer,
{
    /// Goes on after an attempt that failed, or after a wait: the delay, the attempt, and so on.
    #[cold]
    #[inline(never)]
    fn go_on(
        mut self: Pin<&mut Self>,
        mut failed: Option<(Answer<S, Req>, Verdict)>,
        cx: &mut Context<'_>,
    ) -> Poll<Answer<S, Req>> {
        loop {
            if let Some((answer, verdict)) = failed
                && let Some(answer) = self.as_mut().failed(answer, verdict)
            {
                return Poll::Ready(answer);
            }
            if let Some(answer) = ready!(self.as_mut().between(cx)) {
                return Poll::Ready(answer);
            }
            failed = match ready!(self.as_mut().again(cx)) {
                (answer, None) => return Poll::Ready(answer),
                (answer, Some(verdict)) => Some((answer, verdict)),
            };
        }
    }

    /// Polls the attempt: its answer is that of the call, or it failed.
    #[inline(always)]
    fn attempt(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Polled<S, Req>> {
        let this = self.as_mut().project();
        let context = || this.plan.context(*this.until);
        let (future, ..) = this.state.attempt();
        let polled = this.call.inside(*this.until, context, || future.poll(cx));
        self.polled(polled, cx)
    }

    /// Begins the next attempt as soon as the service has room for it, and polls it.
    #[inline(always)]
    #[expect(clippy::unreachable, reason = "a retry is decided on with a request")]
    fn again(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Polled<S, Req>> {
        let mut this = self.as_mut().project();
        let plan = &**this.plan;
        let context = plan.context(*this.until);
        let service = this.service;
        let ready = (this.call).inside_retry(context, || service.poll_ready(cx));
        if let Err(error) = ready!(ready) {
            return Poll::Ready((closed(plan, context, this.call, error), None));
        }
        let Some(request) = this.request.take() else {
            unreachable!("without a request there is no retry")
        };
        *this.request = plan.cloner.clone_request(&request);
        this.gates.begin(&plan.timer);
        this.call.retry_begins();
        let start = AttemptStart::now(plan.operation.policy(), &plan.timer);
        let mut span = attempt_span(context, this.call);
        if plan.judge.is_http() {
            span = span.resent(this.call);
        }
        let polled = this.call.inside_retry(context, || {
            this.state.set(State::Attempt {
                future: spanned(span, service.call(request)),
                start,
                limit: None,
            });
            this.state.as_mut().attempt().0.poll(cx)
        });
        self.polled(polled, cx)
    }

    /// Judges what a poll of the attempt has come to.
    #[inline(always)]
    fn polled(
        self: Pin<&mut Self>,
        polled: Poll<Result<S::Response, S::Error>>,
        cx: &mut Context<'_>,
    ) -> Poll<Polled<S, Req>> {
        let this = self.project();
        let plan = &**this.plan;
        let context = || plan.context(*this.until);
        let Poll::Ready(answer) = polled else {
            let Some(answer) = plan.judge.cut_off() else {
                return Poll::Pending;
            };
            let (_, _, limit) = this.state.attempt();
            ready!(passed(context(), &plan.timer, limit, cx));
            let end = this.call.overdue(context(), this.gates);
            return Poll::Ready((answer(end), None));
        };
        let verdict = plan.judge.judge(&answer);
        let answer = match verdict {
            None => this.call.succeeded(answer, context, this.gates),
            Some(_) => answer,
        };
        Poll::Ready((answer, verdict))
    }

    /// Begins the delay after an attempt that failed, or gives back its answer as that of the call.
    fn failed(
        mut self: Pin<&mut Self>,
        answer: Answer<S, Req>,
        verdict: Verdict,
    ) -> Option<Answer<S, Req>> {
        let mut this = self.as_mut().project();
        let plan = &**this.plan;
        let (verdict, is_idempotent) = match this.request {
            Some(request) => (verdict, plan.judge.is_idempotent(request)),
            None => (Verdict::Permanent, true),
        };
        let once;
        let operation = if plan.operation.suits(is_idempotent) {
            &plan.operation
        } else {
            once = plan.operation.clone().for_request(is_idempotent);
            &once
        };
        let context = CallContext::of(operation.operation(), *this.until, &plan.timer);
        let delay = if let Some(delay) = this.call.plain_delay(context, this.gates, verdict) {
            Ok(delay)
        } else {
            let (_, start, _) = this.state.as_mut().attempt();
            let failure = plan.failure(&answer).since(start);
            let failure = if this.request.is_some() {
                failure
            } else {
                failure.without_code()
            };
            (this.call).delay_in_full(context, this.gates, failure, verdict)
        };
        let Ok(delay) = delay else {
            return Some(answer);
        };
        (plan.hook).on_retry(&this.call.retry_of(context, Cause::Error(&answer), delay));
        // The kill switch or the deadline may end the call between two attempts.
        let last = context.may_end().then_some(answer);
        if delay.is_zero() {
            this.state.set(State::Ready);
            return last.and_then(|last| self.delayed(last));
        }
        this.state.set(State::Between {
            in_delay: true,
            sleep: plan.timer.sleep(delay),
            last,
        });
        None
    }

    /// Ends a delay: the call may end here, or at the deadline while the service makes room.
    fn delayed(self: Pin<&mut Self>, last: Answer<S, Req>) -> Option<Answer<S, Req>> {
        let mut this = self.project();
        let plan = &**this.plan;
        let context = plan.context(*this.until);
        if this.call.resume(context).is_err() {
            return Some(last);
        }
        // Without one nobody asks for the answer any more, and it may hold the room that the service waits for.
        if let Some(left) = context.remaining() {
            this.state.set(State::Between {
                in_delay: false,
                sleep: plan.timer.sleep(left),
                last: Some(last),
            });
        }
        None
    }

    /// Waits for the delay. Returns the answer of a call that ends before the next attempt.
    fn between(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Answer<S, Req>>> {
        loop {
            let this = self.as_mut().project();
            let Now::Between {
                in_delay,
                sleep,
                last,
            } = this.state.project()
            else {
                return Poll::Ready(None);
            };
            let is_over = sleep.poll(cx).is_ready();
            match (is_over, *in_delay) {
                (false, true) => return Poll::Pending,
                (false, false) => return Poll::Ready(None),
                (true, false) => {
                    (this.call).ended(this.plan.context(*this.until), GiveUpReason::Deadline);
                    return Poll::Ready(last.take());
                }
                (true, true) => {
                    let last = last.take();
                    self.as_mut().project().state.set(State::Ready);
                    if let Some(answer) = last.and_then(|last| self.as_mut().delayed(last)) {
                        return Poll::Ready(Some(answer));
                    }
                }
            }
        }
    }
}

/// Waits for the deadline of a call; for ever, where it has none of its own.
#[cold]
fn passed<T: Timer>(
    context: CallContext<'_, T>,
    timer: &T,
    limit: &mut Option<Pin<Box<T::Sleep>>>,
    cx: &mut Context<'_>,
) -> Poll<()> {
    if limit.is_none() {
        *limit = (context.cut_off_after()).map(|left| Box::pin(timer.sleep(left)));
    }
    match limit {
        Some(limit) => limit.as_mut().poll(cx),
        None => Poll::Pending,
    }
}

/// Returns the answer of a call whose service is not ready any more, and never will be.
#[cold]
#[inline(never)]
fn closed<Req, Res, E, J, C, O, T: Timer>(
    plan: &Plan<J, C, O, T>,
    context: CallContext<'_, T>,
    call: &mut LiveCall,
    error: E,
) -> Result<Res, E>
where
    J: JudgeAnswer<Req, Res, E>,
{
    let answer = Err(error);
    call.give_back(context);
    let _end = call.failed(
        context,
        &mut (),
        plan.failure(&answer).without_code(),
        Verdict::Permanent,
    );
    answer
}

impl<S: Service<Req>, Req, J, C, O, T: Timer> fmt::Debug for RetryFuture<S, Req, J, C, O, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryFuture")
            .field("operation", &self.plan.operation)
            .field("failures", &self.call.failures())
            .finish_non_exhaustive()
    }
}
