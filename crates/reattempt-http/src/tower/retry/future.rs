//! The future of a call: attempts and the delays between them.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use retry_runtime::driver::{
    AttemptStart, CallContext, Gate as _, Limit, LiveCall, Spanned, Until, attempt_span, spanned,
};
use retry_runtime::timer::Timer;
use retry_runtime::{Cause, GaveUp, SharedRetryHook, Verdict};
use tower_service::Service;

use super::classifier::JudgeAnswer;
use super::cloner::RequestCloner;
use super::ends::MayEnd;
use super::plan::Plan;

pin_project! {
    /// The future of [`RetryService`](super::RetryService).
    #[must_use = "futures do nothing unless polled"]
    pub struct RetryFuture<S: Service<Req>, Req, J, C, O, T: Timer, L: MayEnd<S::Error>> {
        plan: Arc<Plan<J, C, O, T, L>>,
        service: S,
        // Of the next attempt; `None` where it cannot be sent again.
        request: Option<Req>,
        call: LiveCall,
        until: Until,
        #[pin]
        state: State<S::Future, T::Sleep, Result<S::Response, S::Error>>,
        // Behind the attempt, which has its slot until it is gone.
        gates: L::Gates,
    }

    impl<S: Service<Req>, Req, J, C, O, T: Timer, L: MayEnd<S::Error>> PinnedDrop
        for RetryFuture<S, Req, J, C, O, T, L>
    {
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
            // When the deadline cancels it, where it does.
            limit: Limit<P>,
        },
        // Before an attempt that may not begin yet.
        Between {
            wait: Wait,
            #[pin]
            sleep: P,
            // The answer before, where the call may end between two attempts.
            last: Option<A>,
        },
        // Before the limits are asked.
        Asks { last: Option<A> },
        // Until the service makes room.
        Ready,
    }
}

/// What is waited for before an attempt.
#[derive(Clone, Copy)]
enum Wait {
    /// The delay.
    Delay,
    /// The turn of a throttle.
    Turn,
    /// Room in the service, no longer than the call may take.
    Room,
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
type Attempt<'s, F, P> = (Pin<&'s mut Spanned<F>>, AttemptStart<1>, &'s mut Limit<P>);

/// The answer of a call, or of an attempt that failed.
type Polled<S, Req> = (Answer<S, Req>, Option<Verdict>);

type Answer<S, Req> = Result<<S as Service<Req>>::Response, <S as Service<Req>>::Error>;

impl<S, Req, J, C, O, T, L> RetryFuture<S, Req, J, C, O, T, L>
where
    S: Service<Req> + Clone,
    C: RequestCloner<Req>,
    T: Timer,
    L: MayEnd<S::Error>,
{
    #[inline]
    pub(super) fn start(plan: &Arc<Plan<J, C, O, T, L>>, ready: &mut S, request: Req) -> Self {
        if L::ASKS {
            return Self::asking(plan, ready, request);
        }
        let clone = plan.cloner.clone_request(&request);
        let service = ready.clone();
        let policy = plan.operation.policy();
        let (until, budget, start) = if policy.starts_plain() {
            (Until::NEVER, None, AttemptStart::NONE)
        } else {
            let until = Until::start(policy, &plan.timer);
            let start = AttemptStart::now(policy, &plan.timer);
            (until, policy.shared_budget(), start)
        };
        let context = plan.context(until);
        let gates = plan.ends.gates(budget, &plan.timer);
        let mut call = LiveCall::start((), context);
        let future = call.inside(until, context, || ready.call(request));
        let state = State::Attempt {
            future: spanned(attempt_span(context, 0), future),
            start,
            limit: Limit::begins(until),
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

    /// Begins a call whose first attempt has limits, too: it begins as the others do.
    fn asking(plan: &Arc<Plan<J, C, O, T, L>>, ready: &mut S, request: Req) -> Self {
        let clone = ready.clone();
        let policy = plan.operation.policy();
        let until = Until::start(policy, &plan.timer);
        Self {
            plan: Arc::clone(plan),
            service: mem::replace(ready, clone),
            request: Some(request),
            call: LiveCall::start((), plan.context(until)),
            until,
            gates: plan.ends.gates(policy.shared_budget(), &plan.timer),
            state: State::Asks { last: None },
        }
    }
}

impl<S, Req, J, C, O, T, L> Future for RetryFuture<S, Req, J, C, O, T, L>
where
    S: Service<Req>,
    J: JudgeAnswer<Req, S::Response, S::Error>,
    C: RequestCloner<Req>,
    O: SharedRetryHook<Result<S::Response, S::Error>>,
    T: Timer,
    L: MayEnd<S::Error>,
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
impl<S, Req, J, C, O, T, L> RetryFuture<S, Req, J, C, O, T, L>
where
    S: Service<Req>,
    J: JudgeAnswer<Req, S::Response, S::Error>,
    C: RequestCloner<Req>,
    O: SharedRetryHook<Result<S::Response, S::Error>>,
    T: Timer,
    L: MayEnd<S::Error>,
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
            // After a delay of zero there is nothing to wait for.
            if !matches!(self.state, State::Ready)
                && let Some(answer) = ready!(self.as_mut().between(cx))
            {
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
        let failures = this.call.failures();
        this.call.retry_begins();
        // One scope for the service and its future: each sets the thread's word and puts it back.
        let polled = this.call.inside_retry(context, || {
            if let Err(error) = ready!(this.service.poll_ready(cx)) {
                return Poll::Ready(Err(error));
            }
            let Some(request) = this.request.take() else {
                unreachable!("without a request there is no retry")
            };
            *this.request = plan.cloner.clone_request(&request);
            this.gates.begin(&plan.timer);
            let start = AttemptStart::now(plan.operation.policy(), &plan.timer);
            let mut span = attempt_span(context, failures);
            if plan.judge.is_http() {
                span = span.resent(failures);
            }
            this.state.set(State::Attempt {
                future: spanned(span, this.service.call(request)),
                start,
                limit: Limit::begins(*this.until),
            });
            Poll::Ready(Ok(this.state.as_mut().attempt().0.poll(cx)))
        });
        match ready!(polled) {
            Ok(polled) => self.polled(polled, cx),
            Err(error) => {
                let answer = closed(plan, context, this.call, error);
                *this.gates = plan.ends.gates(None, &plan.timer);
                Poll::Ready((answer, None))
            }
        }
    }

    /// Judges what a poll of the attempt has come to.
    #[inline(always)]
    fn polled(
        self: Pin<&mut Self>,
        polled: Poll<Answer<S, Req>>,
        cx: &mut Context<'_>,
    ) -> Poll<Polled<S, Req>> {
        let mut this = self.project();
        let plan = &**this.plan;
        let context = || plan.context(*this.until);
        let Poll::Ready(answer) = polled else {
            let Some(error) = L::ERROR else {
                return Poll::Pending;
            };
            if !this.until.bounds().has_deadline() {
                return Poll::Pending;
            }
            let (_, _, limit) = this.state.as_mut().attempt();
            let end = ready!(limit.passed(&plan.timer, cx));
            // The attempt is gone before its slot is free.
            this.state.set(State::Ready);
            let end = (this.call).cut_off(context(), this.gates, !end.is_inherited);
            *this.gates = plan.ends.gates(None, &plan.timer);
            return Poll::Ready((Err(error(end)), None));
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
        // A limit, the kill switch or the deadline may end the call between two attempts.
        let may_end = L::ASKS || context.may_end();
        if delay.is_zero() {
            this.state.set(State::Ready);
            return may_end.then(|| self.delayed(answer)).flatten();
        }
        this.state.set(State::Between {
            wait: Wait::Delay,
            sleep: plan.timer.sleep(delay),
            last: may_end.then_some(answer),
        });
        None
    }

    /// Ends a delay: the call may end here.
    fn delayed(mut self: Pin<&mut Self>, last: Answer<S, Req>) -> Option<Answer<S, Req>> {
        let mut this = self.as_mut().project();
        let context = this.plan.context(*this.until);
        if this.call.resume(context).is_err() {
            return Some(last);
        }
        let last = Some(last);
        if L::ASKS {
            this.state.set(State::Asks { last });
        } else {
            self.make_room(last, false);
        }
        None
    }

    /// Gives the service time to make room for the next attempt, until the deadline of the call.
    ///
    /// A first attempt that has not waited begins at once: its service is ready.
    fn make_room(self: Pin<&mut Self>, last: Option<Answer<S, Req>>, has_waited: bool) {
        let mut this = self.project();
        let plan = &**this.plan;
        // Without one nobody asks for the answer any more, and it may hold the room that the service waits for.
        this.state.set(match plan.context(*this.until).remaining() {
            Some(left) if last.is_some() || has_waited => State::Between {
                wait: Wait::Room,
                sleep: plan.timer.sleep(left),
                last,
            },
            _ => State::Ready,
        });
    }

    /// Asks the limits for an attempt, or asks again after a wait. Returns the answer of a call that they end.
    fn ask(
        mut self: Pin<&mut Self>,
        has_waited: bool,
        last: Option<Answer<S, Req>>,
    ) -> Option<Answer<S, Req>> {
        let mut this = self.as_mut().project();
        let plan = &**this.plan;
        let context = plan.context(*this.until);
        let asked = if this.call.failures() == 0 && context.is_over() {
            Err(this.call.late(context))
        } else {
            (this.call).ask_or_wait(context, this.gates, has_waited)
        };
        match asked {
            Ok(None) => self.make_room(last, has_waited),
            Ok(Some(wait)) => this.state.set(State::Between {
                wait: Wait::Turn,
                sleep: plan.timer.sleep(wait),
                last,
            }),
            Err(end) => return Some(self.ended(last, end)),
        }
        None
    }

    /// Returns the answer of a call that ended before its next attempt. The limits are free at once: whoever polls it may
    /// keep the future.
    fn ended(self: Pin<&mut Self>, last: Option<Answer<S, Req>>, end: GaveUp) -> Answer<S, Req> {
        let this = self.project();
        *this.gates = this.plan.ends.gates(None, &this.plan.timer);
        last.unwrap_or_else(|| refused(L::ERROR, end))
    }

    /// Waits until the next attempt may begin. Returns the answer of a call that ends before it.
    fn between(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Answer<S, Req>>> {
        loop {
            let this = self.as_mut().project();
            let (wait, last) = match this.state.project() {
                Now::Between { wait, sleep, last } => {
                    let is_over = sleep.poll(cx).is_ready();
                    match wait {
                        Wait::Room if !is_over => return Poll::Ready(None),
                        _ if !is_over => return Poll::Pending,
                        _ => (Some(*wait), last.take()),
                    }
                }
                Now::Asks { last } => (None, last.take()),
                _ => return Poll::Ready(None),
            };
            let ended = match wait {
                Some(Wait::Room) => {
                    let end = this.call.late(this.plan.context(*this.until));
                    return Poll::Ready(Some(self.ended(last, end)));
                }
                Some(Wait::Delay) => {
                    self.as_mut().project().state.set(State::Ready);
                    last.and_then(|last| self.as_mut().delayed(last))
                }
                Some(Wait::Turn) => self.as_mut().ask(true, last),
                None => self.as_mut().ask(false, last),
            };
            if ended.is_some() {
                return Poll::Ready(ended);
            }
        }
    }
}

/// Returns the answer of a call that ended before its first attempt.
#[cold]
#[expect(clippy::unreachable, reason = "limits have an error for it")]
fn refused<R, E>(error: Option<fn(GaveUp) -> E>, end: GaveUp) -> Result<R, E> {
    match error {
        Some(error) => Err(error(end)),
        None => unreachable!("nothing refuses an attempt"),
    }
}

/// Returns the answer of a call whose service is not ready any more, and never will be.
#[cold]
#[inline(never)]
fn closed<Req, Res, E, J, C, O, T: Timer, L>(
    plan: &Plan<J, C, O, T, L>,
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

impl<S: Service<Req>, Req, J, C, O, T: Timer, L: MayEnd<S::Error>> fmt::Debug
    for RetryFuture<S, Req, J, C, O, T, L>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryFuture")
            .field("operation", &self.plan.operation)
            .field("failures", &self.call.failures())
            .finish_non_exhaustive()
    }
}
