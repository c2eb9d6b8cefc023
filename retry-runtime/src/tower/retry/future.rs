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
use super::observe::ObserveRetry;
use super::request::CopyRequest;
use crate::attempt::Cause;
use crate::call::Call;
use crate::private::{Pause, Until, failed_within, pause, succeeded};
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
        until: Until,
        #[pin]
        state: State<S::Future, T::Sleep>,
    }
}

pin_project! {
    #[project = Now]
    enum State<F, P> {
        Attempt {
            #[pin]
            future: F,
        },
        Wait {
            pause: Pause<P>,
        },
        // Until the service has room for another attempt.
        Ready,
    }
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
        let copy = plan.copy.copy(&request);
        let service = ready.clone();
        let call = Call::new();
        let future = plan.told(call, until, || ready.call(request));
        Self {
            plan,
            service,
            request: copy,
            call,
            until,
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
        loop {
            let this = self.as_mut().project();
            let Now::Attempt { future } = this.state.project() else {
                match ready!(self.as_mut().between(cx)) {
                    Ok(()) => continue,
                    Err(error) => return Poll::Ready(Err(error)),
                }
            };
            let plan = &**this.plan;
            let answer = ready!(plan.told(*this.call, *this.until, || future.poll(cx)));
            let Some(verdict) = plan.judge.judge(&answer) else {
                plan.note_success();
                return Poll::Ready(succeeded(answer, this.call));
            };
            if let Some(answer) = self.as_mut().failed(answer, verdict) {
                return Poll::Ready(answer);
            }
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
        let is_affordable = plan.note_failure(verdict);
        let (verdict, operation) = match this.request {
            Some(request) => {
                let is_idempotent = plan.judge.is_idempotent(request);
                (verdict, plan.operation.for_request(is_idempotent))
            }
            None => (Verdict::Permanent, plan.operation),
        };
        let retry = failed_within(
            this.call,
            &operation,
            *this.until,
            &plan.timer,
            Cause::Error(&answer),
            verdict,
            || is_affordable,
        );
        let Ok(retry) = retry else {
            return Some(answer);
        };
        plan.observer.observe(&retry);
        let pause = pause(retry.delay(), &plan.timer);
        this.state.set(State::Wait { pause });
        None
    }

    /// Waits for the delay and for the service, and begins the next attempt.
    #[cold]
    #[inline(never)]
    fn between(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        let mut this = self.project();
        if let Now::Wait { pause } = this.state.as_mut().project() {
            ready!(Pin::new(pause).poll(cx));
            this.state.set(State::Ready);
        }
        let (plan, service) = (&**this.plan, this.service);
        plan.told(*this.call, *this.until, || {
            ready!(service.poll_ready(cx))?;
            let Some(request) = this.request.take() else {
                unreachable!("without a request there is no retry")
            };
            *this.request = plan.copy.copy(&request);
            let future = service.call(request);
            this.state.set(State::Attempt { future });
            Poll::Ready(Ok(()))
        })
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
