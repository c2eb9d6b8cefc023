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
        is_idempotent: bool,
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
    J: JudgeAnswer<Req, S::Response, S::Error>,
    C: CopyRequest<Req>,
    T: Timer,
{
    pub(super) fn start(plan: Arc<Plan<J, C, O, T>>, ready: &mut S, request: Req) -> Self {
        let until = Until::start(plan.operation.policy(), &plan.timer);
        let is_idempotent = plan.judge.is_idempotent(&request);
        let copy = plan.copy.copy(&request);
        let service = ready.clone();
        let future = {
            let _inside = plan.surround(&Call::new(), until);
            ready.call(request)
        };
        Self {
            plan,
            service,
            request: copy,
            is_idempotent,
            call: Call::new(),
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

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let plan = &**this.plan;
        loop {
            let next = match this.state.as_mut().project() {
                Now::Attempt { future } => {
                    let answer = {
                        let _inside = plan.surround(this.call, *this.until);
                        ready!(future.poll(cx))
                    };
                    let Some(verdict) = plan.judge.judge(&answer) else {
                        plan.note_success();
                        return Poll::Ready(succeeded(answer, this.call));
                    };
                    let is_affordable = plan.note_failure(verdict);
                    let verdict = match this.request {
                        Some(_) => verdict,
                        None => Verdict::Permanent,
                    };
                    let pause = {
                        let operation = plan.operation.for_request(*this.is_idempotent);
                        let retry = failed_within(
                            this.call,
                            &operation,
                            *this.until,
                            &plan.timer,
                            Cause::Error(&answer),
                            verdict,
                            || is_affordable,
                        );
                        retry.map(|retry| {
                            plan.observer.observe(&retry);
                            pause(retry.delay(), &plan.timer)
                        })
                    };
                    match pause {
                        Ok(pause) => State::Wait { pause },
                        Err(_) => return Poll::Ready(answer),
                    }
                }
                Now::Wait { pause } => {
                    ready!(Pin::new(pause).poll(cx));
                    State::Ready
                }
                Now::Ready => {
                    let _inside = plan.surround(this.call, *this.until);
                    if let Err(error) = ready!(this.service.poll_ready(cx)) {
                        return Poll::Ready(Err(error));
                    }
                    let Some(request) = this.request.take() else {
                        unreachable!("without a request there is no retry")
                    };
                    *this.request = plan.copy.copy(&request);
                    State::Attempt {
                        future: this.service.call(request),
                    }
                }
            };
            this.state.set(next);
        }
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
