//! The future of a call: attempts and the delays between them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tower_service::Service;

use super::judge::JudgeAnswer;
use super::layer::Plan;
use super::request::CopyRequest;
use crate::attempt::Cause;
use crate::budget::Reservation;
use crate::call::Call;
#[cfg(feature = "config")]
use crate::private::stopped;
use crate::private::{
    Began, Pause, Spanned, Split, Until, failed, note_answer, over, pause, recovered, remaining,
    spanned, succeeded,
};
use crate::run::ObserveRetry;
use crate::timer::Timer;
use crate::verdict::Verdict;

pin_project! {
    /// The future of [`RetryService`](super::RetryService).
    #[must_use = "futures do nothing unless polled"]
    pub struct RetryFuture<S: Service<Req>, Req, J, C, O, T: Timer> {
        plan: Arc<Plan<J, C, O, T>>,
        service: S,
        // `None` where it cannot be sent again.
        request: Option<Req>,
        call: Call,
        call_began: Began,
        began: Began,
        until: Until,
        payment: Split,
        #[pin]
        state: State<S::Future, T::Sleep, Result<S::Response, S::Error>>,
    }
}

pin_project! {
    #[project = Now]
    enum State<F, P, A> {
        Attempt {
            #[pin]
            future: Spanned<F>,
        },
        // Boxed: what only a retry needs makes no future larger.
        Between {
            between: Boxed<P, A>,
        },
    }
}

/// Dropped out of line: a call without a retry has no register to spare for it.
struct Boxed<P, A>(Option<Box<Between<P, A>>>);

impl<P, A> Drop for Boxed<P, A> {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        self.0 = None;
    }
}

/// What lies between two attempts.
struct Between<P, A> {
    phase: Phase<P>,
    /// The answer before, kept where time may run out, to have one then.
    last: Option<A>,
    /// What the retry costs.
    reserved: Option<Reservation<'static>>,
}

enum Phase<P> {
    Delay(Pause<P>),
    /// Until the service has room for another attempt, or the deadline is over.
    Room(Option<Pause<P>>),
}

impl<S, Req, J, C, O, T> RetryFuture<S, Req, J, C, O, T>
where
    S: Service<Req> + Clone,
    C: CopyRequest<Req>,
    T: Timer,
{
    #[inline]
    pub(super) fn start(plan: Arc<Plan<J, C, O, T>>, ready: &mut S, request: Req) -> Self {
        let until = Until::start(plan.operation.policy(), &plan.timer);
        let began = Began::start(plan.operation.policy());
        let copy = plan.copy.copy(&request);
        let service = ready.clone();
        let call = Call::new();
        let payment = Split::begin(&plan.operation, &plan.timer);
        let future = plan.told(call, until, || ready.call(request));
        let future = spanned(&plan.operation, &call, future);
        Self {
            plan,
            service,
            request: copy,
            call,
            call_began: began,
            began,
            until,
            payment,
            state: State::Attempt { future },
        }
    }
}

impl<S, Req, J, C, O, T> Future for RetryFuture<S, Req, J, C, O, T>
where
    S: Service<Req>,
    J: JudgeAnswer<Req, S::Response, S::Error>,
    C: CopyRequest<Req>,
    O: ObserveRetry<Result<S::Response, S::Error>>,
    T: Timer,
{
    type Output = Result<S::Response, S::Error>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let State::Between { .. } = self.state {
            return self.go_on(cx);
        }
        match ready!(self.as_mut().attempt(cx)) {
            Ok(answer) => Poll::Ready(answer),
            Err((answer, verdict)) => match self.as_mut().failed(answer, verdict) {
                Some(answer) => Poll::Ready(answer),
                None => self.go_on(cx),
            },
        }
    }
}

// What only a failure needs is kept out of the way of a success.
impl<S, Req, J, C, O, T> RetryFuture<S, Req, J, C, O, T>
where
    S: Service<Req>,
    J: JudgeAnswer<Req, S::Response, S::Error>,
    C: CopyRequest<Req>,
    O: ObserveRetry<Result<S::Response, S::Error>>,
    T: Timer,
{
    /// The attempt that is under way: an answer, or one that failed.
    #[inline(always)]
    #[expect(clippy::type_complexity, reason = "an answer is a result itself")]
    #[expect(
        clippy::unreachable,
        reason = "called in this state, or by whoever polls after the end"
    )]
    fn attempt(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Result<S::Response, S::Error>, (Result<S::Response, S::Error>, Verdict)>> {
        let this = self.project();
        let Now::Attempt { future } = this.state.project() else {
            unreachable!("there is none between two attempts")
        };
        let plan = &**this.plan;
        let polled = if Plan::<J, C, O, T>::is_plain(this.call, *this.until) {
            future.poll(cx)
        } else {
            plan.telling(*this.call, *this.until, || future.poll(cx))
        };
        let answer = ready!(polled);
        Poll::Ready(match plan.judge.judge(&answer) {
            None => {
                this.payment.succeeded(&plan.operation, &plan.timer);
                let began = this.began.known(*this.call_began, *this.until, &plan.timer);
                let answer = recovered(answer, this.call, &plan.operation, began);
                Ok(succeeded(answer, this.call))
            }
            Some(verdict) => Err((answer, verdict)),
        })
    }

    /// The delay, the next attempt, and so on.
    #[cold]
    #[inline(never)]
    fn go_on(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<S::Response, S::Error>> {
        loop {
            if let Some(answer) = ready!(self.as_mut().between(cx)) {
                return Poll::Ready(answer);
            }
            let (answer, verdict) = match ready!(self.as_mut().attempt(cx)) {
                Ok(answer) => return Poll::Ready(answer),
                Err(failed) => failed,
            };
            if let Some(answer) = self.as_mut().failed(answer, verdict) {
                return Poll::Ready(answer);
            }
        }
    }

    /// Begins the delay after an attempt that failed, or gives back its answer as that of the call.
    #[cold]
    #[inline(never)]
    fn failed(
        self: Pin<&mut Self>,
        answer: Result<S::Response, S::Error>,
        verdict: Verdict,
    ) -> Option<Result<S::Response, S::Error>> {
        let mut this = self.project();
        let plan = &**this.plan;
        let (verdict, operation) = match this.request {
            Some(request) => {
                let is_idempotent = plan.judge.is_idempotent(request);
                (verdict, plan.operation.for_request(is_idempotent))
            }
            None => (Verdict::Permanent, plan.operation),
        };
        let (until, timer) = (*this.until, &plan.timer);
        let began = this.began.known(*this.call_began, until, timer);
        note_answer(this.call, &operation, began, &answer, |answer| {
            plan.judge.message(answer)
        });
        let mut limits = Split::limits();
        let retry = failed(
            this.call,
            &operation,
            until,
            timer,
            Cause::Error(&answer),
            verdict,
            &mut limits,
        );
        let Ok(retry) = retry else {
            return Some(answer);
        };
        plan.observer.observe(&retry);
        let pause = pause(retry.delay(), &plan.timer);
        // The kill switch may end the call, too.
        let is_kept = cfg!(feature = "config") || remaining(*this.until, &plan.timer).is_some();
        let last = is_kept.then_some(answer);
        let phase = Phase::Delay(pause);
        let reserved = limits.into_reserved();
        let between = Boxed(Some(Box::new(Between {
            phase,
            last,
            reserved,
        })));
        this.state.set(State::Between { between });
        None
    }

    /// Waits for the delay and for the service, and begins the next attempt, or gives back the answer of
    /// the call.
    #[cold]
    #[inline(never)]
    #[expect(
        clippy::unreachable,
        reason = "called in this state; a retry is decided on with a request"
    )]
    fn between(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<S::Response, S::Error>>> {
        let mut this = self.project();
        let plan = &**this.plan;
        let Now::Between {
            between: Boxed(Some(between)),
        } = this.state.as_mut().project()
        else {
            unreachable!("asked for between two attempts only")
        };
        if let Phase::Delay(delay) = &mut between.phase {
            ready!(Pin::new(delay).poll(cx));
            #[cfg(feature = "config")]
            if between.last.is_some() && stopped(this.call, &plan.operation).is_some() {
                return Poll::Ready(between.last.take());
            }
            let left = between
                .last
                .as_ref()
                .and_then(|_| remaining(*this.until, &plan.timer));
            if left.is_none() {
                // Nobody asks for it any more, and it may hold the room that the service waits for.
                between.last = None;
            }
            between.phase = Phase::Room(left.map(|left| pause(left, &plan.timer)));
        }
        if let Phase::Room(Some(limit)) = &mut between.phase
            && Pin::new(limit).poll(cx).is_ready()
        {
            over(this.call, &plan.operation);
            return Poll::Ready(between.last.take());
        }
        let service = this.service;
        let ready = plan.told(*this.call, *this.until, || service.poll_ready(cx));
        if let Err(error) = ready!(ready) {
            let answer = Err(error);
            // What is not ready any more never will be.
            let (cause, verdict) = (Cause::Error(&answer), Verdict::Permanent);
            let (until, timer) = (*this.until, &plan.timer);
            // No attempt has begun.
            let began = Began::UNKNOWN;
            note_answer(this.call, &plan.operation, began, &answer, |answer| {
                plan.judge.message(answer)
            });
            let _end = failed(
                this.call,
                &plan.operation,
                until,
                timer,
                cause,
                verdict,
                &mut (),
            );
            return Poll::Ready(Some(answer));
        }
        let Some(request) = this.request.take() else {
            unreachable!("without a request there is no retry")
        };
        *this.request = plan.copy.copy(&request);
        this.payment.spend(between.reserved.take());
        *this.began = Began::again();
        let future = plan.told(*this.call, *this.until, || service.call(request));
        let future = spanned(&plan.operation, this.call, future);
        this.state.set(State::Attempt { future });
        Poll::Ready(None)
    }
}

impl<S: Service<Req>, Req, J, C, O, T: Timer> fmt::Debug for RetryFuture<S, Req, J, C, O, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryFuture")
            .field("operation", &self.plan.operation)
            .field("failures", &self.call.failures())
            .finish_non_exhaustive()
    }
}
