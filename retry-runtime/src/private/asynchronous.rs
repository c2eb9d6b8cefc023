//! The loop of an async function. What must outlive an attempt lies in a box
//! that is made after the first failure: a call that succeeds at once carries
//! one empty pointer.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;

use pin_project_lite::pin_project;

use super::{Until, failed};
use crate::attempt::{Cause, Retry};
use crate::call::{Call, GaveUp};
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::timer::{Clock, Timer};
use crate::verdict::Verdict;

// A call between two of its polls. `S` is the timer's sleep.
#[derive(Debug)]
pub struct Pending<S>(Option<Pin<Box<State<S>>>>);

pin_project! {
    #[derive(Debug)]
    struct State<S> {
        call: Call,
        delay: Duration,
        #[pin]
        sleep: Option<S>,
    }
}

impl<S> Pending<S> {
    #[inline(always)]
    pub const fn new() -> Self {
        Self(None)
    }

    pub fn failures(&self) -> u32 {
        self.0.as_ref().map_or(0, |state| state.call.failures())
    }

    // The end of a call whose attempt the deadline cut off.
    pub fn cut_off(&self) -> Interrupted {
        Interrupted::new(GaveUp::Deadline, self.failures().saturating_add(1))
    }

    // After a failed attempt: the retry that comes, or the end.
    pub fn failed<'a, E: ?Sized>(
        &mut self,
        operation: &'a Operation,
        until: Until,
        clock: &impl Clock,
        cause: Cause<'a, E>,
        verdict: Verdict,
    ) -> Result<Retry<'a, E>, Interrupted> {
        let mut call = self.0.as_ref().map_or(Call::new(), |state| state.call);
        let retry = failed(&mut call, operation, until, clock, cause, verdict)?;
        match &mut self.0 {
            Some(state) => {
                let state = state.as_mut().project();
                *state.call = call;
                *state.delay = retry.delay();
            }
            empty @ None => {
                *empty = Some(Box::pin(State {
                    call,
                    delay: retry.delay(),
                    sleep: None,
                }));
            }
        }
        Ok(retry)
    }
}

impl<S> Default for Pending<S> {
    fn default() -> Self {
        Self::new()
    }
}

pin_project! {
    // One attempt, and the call it belongs to: both come back when it is over.
    #[derive(Debug)]
    pub struct Attempting<S, F> {
        pending: Pending<S>,
        #[pin]
        body: F,
    }
}

#[inline(always)]
pub fn attempt_async<S, F: Future>(pending: Pending<S>, body: F) -> Attempting<S, F> {
    Attempting { pending, body }
}

impl<S, F: Future> Future for Attempting<S, F> {
    type Output = (F::Output, Pending<S>);

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let outcome = ready!(this.body.poll(cx));
        Poll::Ready((outcome, core::mem::take(this.pending)))
    }
}

// The delay before the next attempt.
#[derive(Debug)]
pub struct Pause<S>(Pending<S>);

#[inline]
pub fn pause<T: Timer>(mut pending: Pending<T::Sleep>, timer: &T) -> Pause<T::Sleep> {
    if let Some(state) = &mut pending.0 {
        let mut state = state.as_mut().project();
        if state.delay.is_zero() {
            state.sleep.set(None);
        } else {
            state.sleep.set(Some(timer.sleep(*state.delay)));
        }
    }
    Pause(pending)
}

impl<S: Future<Output = ()>> Future for Pause<S> {
    type Output = Pending<S>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(state) = &mut self.0.0
            && let Some(sleep) = state.as_mut().project().sleep.as_pin_mut()
        {
            ready!(sleep.poll(cx));
        }
        Poll::Ready(core::mem::take(&mut self.0))
    }
}
