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
use super::layer::Plan;
use super::request::CopyRequest;
use crate::attempt::Cause;
use crate::budget::Reservation;
#[cfg(feature = "config")]
use crate::private::stopped;
use crate::private::{
    Began, Pause, Spanned, Split, failed, note_answer, over, pause, remaining, spanned,
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
        // `None` in a first attempt of a policy of which nothing counts from the start.
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
    Delay(Pin<Box<Pause<P>>>),
    /// Until the service has room for another attempt, or the deadline is over.
    Room(Option<Pin<Box<Pause<P>>>>),
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
        let state = if plan.counts_from_start {
            let begun = course.insert(Course::begin(&plan.operation, &plan.timer));
            let future = begun.told(&plan.timer, || ready.call(request));
            let future = spanned(&plan.operation, &begun.call, future);
            State::Attempt { future }
        } else {
            let future = ready.call(request);
            State::Plain { future }
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
            return self.go_on(cx);
        };
        let answer = ready!(future.poll(cx));
        match this.plan.judge.judge(&answer) {
            None => Poll::Ready(answer),
            Some(verdict) => self.after(answer, verdict, cx),
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
        let (Now::Attempt { future }, Some(course)) = (this.state.project(), this.course) else {
            unreachable!("there is none between two attempts")
        };
        let plan = &**this.plan;
        let answer = ready!(course.told(&plan.timer, || future.poll(cx)));
        Poll::Ready(match plan.judge.judge(&answer) {
            None => Ok(course.succeeded(answer, &plan.operation, &plan.timer)),
            Some(verdict) => Err((answer, verdict)),
        })
    }

    /// What comes after an attempt that failed.
    #[cold]
    #[inline(never)]
    fn after(
        mut self: Pin<&mut Self>,
        answer: Result<S::Response, S::Error>,
        verdict: Verdict,
        cx: &mut Context<'_>,
    ) -> Poll<Result<S::Response, S::Error>> {
        match self.as_mut().failed(answer, verdict) {
            Some(answer) => Poll::Ready(answer),
            None => self.go_on(cx),
        }
    }

    /// The attempt, the delay, the next attempt, and so on.
    fn go_on(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<S::Response, S::Error>> {
        loop {
            if let State::Between { .. } = self.state
                && let Some(answer) = ready!(self.as_mut().between(cx))
            {
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
        // Nothing has counted so far where there is none yet.
        let course = this
            .course
            .get_or_insert_with(|| Course::begin(&plan.operation, &plan.timer));
        let (until, timer) = (course.until, &plan.timer);
        let began = course.began.known(course.call_began, until, timer);
        note_answer(&course.call, &operation, began, &answer, |answer| {
            plan.judge.message(answer)
        });
        let mut limits = Split::limits();
        let retry = failed(
            &mut course.call,
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
        let pause = pause(retry.delay(), timer);
        // The kill switch may end the call, too.
        let is_kept = cfg!(feature = "config") || remaining(until, timer).is_some();
        let last = is_kept.then_some(answer);
        let phase = Phase::Delay(Box::pin(pause));
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
        let (
            Now::Between {
                between: Boxed(Some(between)),
            },
            Some(course),
        ) = (this.state.as_mut().project(), this.course)
        else {
            unreachable!("asked for between two attempts only")
        };
        if let Phase::Delay(delay) = &mut between.phase {
            ready!(delay.as_mut().poll(cx));
            #[cfg(feature = "config")]
            if between.last.is_some() && stopped(&course.call, &plan.operation).is_some() {
                return Poll::Ready(between.last.take());
            }
            let left = between
                .last
                .as_ref()
                .and_then(|_| remaining(course.until, &plan.timer));
            if left.is_none() {
                // Nobody asks for it any more, and it may hold the room that the service waits for.
                between.last = None;
            }
            between.phase = Phase::Room(left.map(|left| Box::pin(pause(left, &plan.timer))));
        }
        if let Phase::Room(Some(limit)) = &mut between.phase
            && limit.as_mut().poll(cx).is_ready()
        {
            over(&course.call, &plan.operation);
            return Poll::Ready(between.last.take());
        }
        let service = this.service;
        let ready = course.told(&plan.timer, || service.poll_ready(cx));
        if let Err(error) = ready!(ready) {
            let answer = Err(error);
            // What is not ready any more never will be.
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
            return Poll::Ready(Some(answer));
        }
        let Some(request) = this.request.take() else {
            unreachable!("without a request there is no retry")
        };
        *this.request = plan.copy.copy(&request);
        course.payment.spend(between.reserved.take());
        course.began = Began::again();
        let future = course.told(&plan.timer, || service.call(request));
        let future = spanned(&plan.operation, &course.call, future);
        this.state.set(State::Attempt { future });
        Poll::Ready(None)
    }
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
