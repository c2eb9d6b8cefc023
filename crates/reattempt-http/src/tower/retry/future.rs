//! The future of a call: attempts and the delays between them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use retry_runtime::private::driver::{
    AttemptStart, BudgetGate, CallContext, Gate as _, HAS_KILL_SWITCH, LiveCall, Spanned, Until,
    attempt_span, spanned,
};
use retry_runtime::timer::Timer;
use retry_runtime::{GiveUpReason, SharedRetryHook, Verdict};
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
        Between {
            in_delay: bool,
            // The delay, and then the time that the service has to make room for another attempt.
            #[pin]
            sleep: Option<P>,
            // The answer before, where the call may end between two attempts.
            last: Option<A>,
        },
    }
}

/// An attempt that failed: its answer, and when it began.
type Failed<A> = (A, Verdict, AttemptStart<1>);

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
        let failed = match self.state {
            State::Attempt { .. } => match ready!(self.as_mut().attempt(cx)) {
                Ok(answer) => return Poll::Ready(answer),
                Err(failed) => Some(failed),
            },
            State::Between { .. } => None,
        };
        self.go_on(failed, cx)
    }
}

// What only a failure needs is kept out of the way of a success.
#[expect(clippy::type_complexity, reason = "an answer is a result itself")]
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
        mut failed: Option<Failed<Result<S::Response, S::Error>>>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<S::Response, S::Error>> {
        loop {
            if let Some(failed) = failed
                && let Some(answer) = self.as_mut().failed(failed)
            {
                return Poll::Ready(answer);
            }
            if let Some(answer) = ready!(self.as_mut().between(cx)) {
                return Poll::Ready(answer);
            }
            failed = match ready!(self.as_mut().attempt(cx)) {
                Ok(answer) => return Poll::Ready(answer),
                Err(failed) => Some(failed),
            };
        }
    }

    /// Polls the attempt: its answer is that of the call, or it failed.
    #[inline(always)]
    #[expect(
        clippy::unreachable,
        reason = "called in this state, or by whoever polls after the end"
    )]
    fn attempt(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Result<S::Response, S::Error>, Failed<Result<S::Response, S::Error>>>> {
        let this = self.project();
        let Now::Attempt {
            future,
            start,
            limit,
        } = this.state.project()
        else {
            unreachable!("there is no attempt between two attempts")
        };
        let plan = &**this.plan;
        let context = || plan.context(*this.until);
        let polled = this.call.inside(*this.until, context, || future.poll(cx));
        let Poll::Ready(answer) = polled else {
            let Some(answer) = plan.judge.cut_off() else {
                return Poll::Pending;
            };
            ready!(passed(context(), &plan.timer, limit, cx));
            let end = this.call.overdue(context(), this.gates);
            return Poll::Ready(Ok(answer(end)));
        };
        Poll::Ready(match plan.judge.judge(&answer) {
            None => Ok(this.call.succeeded(answer, context, this.gates)),
            Some(verdict) => Err((answer, verdict, *start)),
        })
    }

    /// Begins the delay after an attempt that failed, or gives back its answer as that of the call.
    fn failed(
        self: Pin<&mut Self>,
        (answer, verdict, start): Failed<Result<S::Response, S::Error>>,
    ) -> Option<Result<S::Response, S::Error>> {
        let mut this = self.project();
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
        let failure = plan.failure(&answer).since(start);
        let retry = this.call.failed(context, this.gates, failure, verdict);
        let Ok(retry) = retry else {
            return Some(answer);
        };
        plan.hook.on_retry(&retry);
        let delay = retry.delay();
        // The kill switch or the deadline may end the call between two attempts.
        let is_kept = HAS_KILL_SWITCH || context.remaining().is_some();
        this.state.set(State::Between {
            in_delay: true,
            sleep: None,
            last: is_kept.then_some(answer),
        });
        // Only now: where there may be none, its bytes would be copied all the same.
        if !delay.is_zero()
            && let Now::Between { mut sleep, .. } = this.state.project()
        {
            sleep.set(Some(plan.timer.sleep(delay)));
        }
        None
    }

    /// Waits for the delay and for the service, and begins the next attempt, or gives back the
    /// answer of the call.
    #[expect(clippy::unreachable, reason = "a retry is decided on with a request")]
    fn between(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<S::Response, S::Error>>> {
        let mut this = self.project();
        let plan = &**this.plan;
        let context = plan.context(*this.until);
        let Now::Between {
            in_delay,
            mut sleep,
            last,
        } = this.state.as_mut().project()
        else {
            return Poll::Ready(None);
        };
        if *in_delay {
            if let Some(delay) = sleep.as_mut().as_pin_mut() {
                ready!(delay.poll(cx));
            }
            *in_delay = false;
            if last.is_some() && this.call.resume(context).is_err() {
                return Poll::Ready(last.take());
            }
            let left = context.remaining();
            if left.is_none() {
                // Nobody asks for it any more, and it may hold the room that the service waits for.
                *last = None;
            }
            match left {
                Some(left) => sleep.set(Some(plan.timer.sleep(left))),
                None => sleep.set(None),
            }
        }
        if last.is_some()
            && let Some(limit) = sleep.as_pin_mut()
            && limit.poll(cx).is_ready()
        {
            this.call.ended(context, GiveUpReason::Deadline);
            return Poll::Ready(last.take());
        }
        let service = this.service;
        let ready = (this.call).inside(*this.until, context, || service.poll_ready(cx));
        if let Err(error) = ready!(ready) {
            return Poll::Ready(Some(closed(plan, context, this.call, error)));
        }
        let Some(request) = this.request.take() else {
            unreachable!("without a request there is no retry")
        };
        *this.request = plan.cloner.clone_request(&request);
        this.gates.begin(&plan.timer);
        this.call.retry_begins();
        let start = AttemptStart::now(plan.operation.policy(), &plan.timer);
        let future = (this.call).inside(*this.until, context, || service.call(request));
        let future = spanned(attempt_span(context, this.call), future);
        this.state.set(State::Attempt {
            future,
            start,
            limit: None,
        });
        Poll::Ready(None)
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
    let _end = call.failed(context, &mut (), plan.failure(&answer), Verdict::Permanent);
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
