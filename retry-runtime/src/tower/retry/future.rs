//! The future of a call: attempts and the delays between them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tower_service::Service;

use super::course::Course;
use super::judge::JudgeAnswer;
use super::layer::{Plan, Start};
use super::request::CopyRequest;
use crate::attempt::Cause;
use crate::budget::Reservation;
#[cfg(feature = "config")]
use crate::private::stopped;
use crate::private::{
    Began, Debits, Spanned, Split, failed, note_answer, over, remaining, spanned,
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
        // `None` in a first attempt of a policy of which nothing but a budget counts from the start.
        course: Option<Course>,
        #[pin]
        state: State<S::Future, T::Sleep, Result<S::Response, S::Error>>,
    }
}

pin_project! {
    #[project = Now]
    enum State<F, P, A> {
        // The first, without a course: a success has nothing to ask but whether it is one.
        Plain {
            #[pin]
            future: F,
        },
        // The same, and a budget is told.
        Paying {
            #[pin]
            future: F,
        },
        Attempt {
            #[pin]
            future: Spanned<F>,
            // For the retry that it is.
            payment: Split,
        },
        Between {
            kept: Aside<Kept<P, A>>,
        },
    }
}

/// Dropped out of line: a call without a retry has no register to spare for it.
struct Aside<K>(Option<K>);

impl<K> Drop for Aside<K> {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        self.0 = None;
    }
}

/// What is kept between two attempts.
struct Kept<P, A> {
    waits_for: Wait,
    /// The delay, then what is left until the deadline.
    sleep: Option<Pin<Box<P>>>,
    /// The answer before, kept where time may run out, to have one then.
    last: Option<A>,
    /// What the retry costs.
    reserved: Option<Reservation<'static>>,
}

enum Wait {
    Delay,
    /// Until the service has room for another attempt, or the deadline is over.
    Room,
}

impl<S, Req, J, C, O, T> RetryFuture<S, Req, J, C, O, T>
where
    S: Service<Req> + Clone,
    C: CopyRequest<Req>,
    T: Timer,
{
    #[inline]
    pub(super) fn start(plan: &Arc<Plan<J, C, O, T>>, ready: &mut S, request: Req) -> Self {
        let copy = plan.copy.copy(&request);
        let service = ready.clone();
        let mut course = None;
        let state = match plan.start {
            Start::Nothing => {
                let future = ready.call(request);
                State::Plain { future }
            }
            Start::Budget => {
                Split::begin(&plan.operation, &plan.timer);
                let future = ready.call(request);
                State::Paying { future }
            }
            Start::Everything => {
                let begun = course.insert(Course::begin(&plan.operation, &plan.timer));
                let future = {
                    let _inside = begun.inside(&plan.timer);
                    ready.call(request)
                };
                let future = spanned(&plan.operation, &begun.call, future);
                let payment = Split::NOTHING;
                State::Attempt { future, payment }
            }
        };
        Self {
            plan: Arc::clone(plan),
            service,
            request: copy,
            course,
            state,
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
        let this = self.as_mut().project();
        let Now::Plain { future } = this.state.project() else {
            return self.paying(cx);
        };
        let answer = ready!(future.poll(cx));
        match this.plan.judge.judge(&answer) {
            None => Poll::Ready(answer),
            Some(verdict) => self.go_on(Some((answer, verdict)), cx),
        }
    }
}

// What only a failure needs is kept out of the way of a success.
#[expect(clippy::type_complexity, reason = "an answer is a result itself")]
impl<S, Req, J, C, O, T> RetryFuture<S, Req, J, C, O, T>
where
    S: Service<Req>,
    J: JudgeAnswer<Req, S::Response, S::Error>,
    C: CopyRequest<Req>,
    O: ObserveRetry<Result<S::Response, S::Error>>,
    T: Timer,
{
    /// The first attempt where a budget counts it, or whatever comes later.
    #[cold]
    #[inline(never)]
    fn paying(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<S::Response, S::Error>> {
        let this = self.as_mut().project();
        let Now::Paying { future } = this.state.project() else {
            return self.go_on(None, cx);
        };
        let plan = &**this.plan;
        let answer = ready!(future.poll(cx));
        match plan.judge.judge(&answer) {
            None => {
                Split::NOTHING.succeeded(&plan.operation, &plan.timer);
                Poll::Ready(answer)
            }
            Some(verdict) => self.go_on(Some((answer, verdict)), cx),
        }
    }

    /// What comes after an attempt that `failed`, or after a wait: the delay, the attempt, and so on.
    #[cold]
    #[inline(never)]
    fn go_on(
        mut self: Pin<&mut Self>,
        mut failed: Option<(Result<S::Response, S::Error>, Verdict)>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<S::Response, S::Error>> {
        loop {
            if let Some((answer, verdict)) = failed
                && let Some(answer) = self.as_mut().failed(answer, verdict)
            {
                return Poll::Ready(answer);
            }
            if let State::Between { .. } = self.state
                && let Some(answer) = ready!(self.as_mut().between(cx))
            {
                return Poll::Ready(answer);
            }
            failed = match ready!(self.as_mut().attempt(cx)) {
                Ok(answer) => return Poll::Ready(answer),
                Err(failed) => Some(failed),
            };
        }
    }

    /// The attempt that is under way: an answer, or one that failed.
    #[inline(always)]
    #[expect(
        clippy::unreachable,
        reason = "called in this state, or by whoever polls after the end"
    )]
    fn attempt(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Result<S::Response, S::Error>, (Result<S::Response, S::Error>, Verdict)>> {
        let this = self.project();
        let (Now::Attempt { future, payment }, Some(course)) = (this.state.project(), this.course)
        else {
            unreachable!("there is none between two attempts")
        };
        let plan = &**this.plan;
        let answer = {
            let _inside = course.inside(&plan.timer);
            ready!(future.poll(cx))
        };
        Poll::Ready(match plan.judge.judge(&answer) {
            None => {
                payment.succeeded(&plan.operation, &plan.timer);
                Ok(course.succeeded(answer, &plan.operation, &plan.timer))
            }
            Some(verdict) => Err((answer, verdict)),
        })
    }

    /// Begins the delay after an attempt that failed, or gives back its answer as that of the call.
    #[inline(always)]
    fn failed(
        self: Pin<&mut Self>,
        answer: Result<S::Response, S::Error>,
        verdict: Verdict,
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
            once = plan.operation.for_request(is_idempotent);
            &once
        };
        let course = this.course.get_or_insert_with(Course::late);
        let (until, timer) = (course.until, &plan.timer);
        let began = course.began.known(course.call_began, until, timer);
        note_answer(&course.call, operation, began, &answer, |answer| {
            plan.judge.message(answer)
        });
        let mut limits = Debits::default();
        let retry = failed(
            &mut course.call,
            operation,
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
        let delay = retry.delay();
        // The kill switch may end the call, too.
        let is_kept = cfg!(feature = "config") || remaining(until, timer).is_some();
        let kept = Kept {
            waits_for: Wait::Delay,
            sleep: (!delay.is_zero()).then(|| Box::pin(timer.sleep(delay))),
            last: is_kept.then_some(answer),
            reserved: limits.into_reserved(),
        };
        let kept = Aside(Some(kept));
        this.state.set(State::Between { kept });
        None
    }

    /// Waits for the delay and for the service, and begins the next attempt, or gives back the answer of
    /// the call.
    #[inline(always)]
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
        let (
            Now::Between {
                kept: Aside(Some(kept)),
            },
            Some(course),
        ) = (this.state.as_mut().project(), this.course)
        else {
            unreachable!("asked for between two attempts only")
        };
        if let Wait::Delay = kept.waits_for {
            if let Some(delay) = &mut kept.sleep {
                ready!(delay.as_mut().poll(cx));
                kept.sleep = None;
            }
            #[cfg(feature = "config")]
            if kept.last.is_some() && stopped(&course.call, &plan.operation).is_some() {
                return Poll::Ready(kept.last.take());
            }
            kept.waits_for = Wait::Room;
            if kept.last.is_some() {
                match remaining(course.until, &plan.timer) {
                    Some(left) if left.is_zero() => {
                        over(&course.call, &plan.operation);
                        return Poll::Ready(kept.last.take());
                    }
                    Some(left) => kept.sleep = Some(Box::pin(plan.timer.sleep(left))),
                    // Nobody asks for it any more, and it may hold the room that the service waits for.
                    None => kept.last = None,
                }
            }
        }
        if let Some(limit) = &mut kept.sleep
            && limit.as_mut().poll(cx).is_ready()
        {
            over(&course.call, &plan.operation);
            return Poll::Ready(kept.last.take());
        }
        let ready = {
            let _inside = course.inside(&plan.timer);
            this.service.poll_ready(cx)
        };
        if let Err(error) = ready!(ready) {
            return Poll::Ready(Some(closed(plan, course, error)));
        }
        let Some(request) = this.request.take() else {
            unreachable!("without a request there is no retry")
        };
        *this.request = plan.copy.copy(&request);
        let payment = Split::spend(kept.reserved.take());
        course.began = Began::again();
        let future = {
            let _inside = course.inside(&plan.timer);
            this.service.call(request)
        };
        let future = spanned(&plan.operation, &course.call, future);
        this.state.set(State::Attempt { future, payment });
        Poll::Ready(None)
    }
}

/// The answer of a call whose service is not ready any more, and never will be.
#[cold]
#[inline(never)]
fn closed<Req, Res, E, J, C, O, T>(
    plan: &Plan<J, C, O, T>,
    course: &mut Course,
    error: E,
) -> Result<Res, E>
where
    J: JudgeAnswer<Req, Res, E>,
    T: Timer,
{
    let answer = Err(error);
    let (cause, verdict) = (Cause::Error(&answer), Verdict::Permanent);
    // No attempt has begun.
    let began = Began::UNKNOWN;
    note_answer(&course.call, &plan.operation, began, &answer, |answer| {
        plan.judge.message(answer)
    });
    let _end = failed(
        &mut course.call,
        &plan.operation,
        course.until,
        &plan.timer,
        cause,
        verdict,
        &mut (),
    );
    answer
}

impl<S: Service<Req>, Req, J, C, O, T: Timer> fmt::Debug for RetryFuture<S, Req, J, C, O, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryFuture")
            .field("operation", &self.plan.operation)
            .field(
                "failures",
                &self
                    .course
                    .as_ref()
                    .map_or(0, |course| course.call.failures()),
            )
            .finish_non_exhaustive()
    }
}
