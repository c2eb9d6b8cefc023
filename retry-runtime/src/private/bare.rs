//! The loop of an async function without `std`: no allocator, so the state of
//! the call lies in the future; otherwise the same as `asynchronous`.

use core::future::{Future, poll_fn};
use core::marker::PhantomData;
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;

use super::{Until, failed};
use crate::attempt::{Cause, Retry};
use crate::call::{Call, GaveUp};
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::timer::{Clock, Timer};
use crate::verdict::Verdict;

#[derive(Debug)]
pub struct Pending<S> {
    call: Call,
    delay: Duration,
    sleep: PhantomData<fn() -> S>,
}

impl<S> Pending<S> {
    pub const fn new() -> Self {
        Self {
            call: Call::new(),
            delay: Duration::ZERO,
            sleep: PhantomData,
        }
    }

    pub fn failures(&self) -> u32 {
        self.call.failures()
    }

    pub fn cut_off(&self) -> Interrupted {
        Interrupted::new(GaveUp::Deadline, self.failures().saturating_add(1))
    }

    pub fn failed<'a, E: ?Sized>(
        &mut self,
        operation: &'a Operation,
        until: Until,
        clock: &impl Clock,
        cause: Cause<'a, E>,
        verdict: Verdict,
    ) -> Result<Retry<'a, E>, Interrupted> {
        let retry = failed(&mut self.call, operation, until, clock, cause, verdict)?;
        self.delay = retry.delay();
        Ok(retry)
    }
}

impl<S> Default for Pending<S> {
    fn default() -> Self {
        Self::new()
    }
}

pub async fn attempt_async<S, F: Future>(pending: Pending<S>, body: F) -> (F::Output, Pending<S>) {
    (body.await, pending)
}

pub async fn pause<T: Timer>(pending: Pending<T::Sleep>, timer: &T) -> Pending<T::Sleep> {
    if !pending.delay.is_zero() {
        timer.sleep(pending.delay).await;
    }
    pending
}

pub async fn limited<T: Timer, F: Future>(body: F, until: Until, timer: T) -> Option<F::Output> {
    let mut body = pin!(body);
    let mut sleep = pin!(None);
    poll_fn(|cx| {
        if let Poll::Ready(outcome) = body.as_mut().poll(cx) {
            return Poll::Ready(Some(outcome));
        }
        if sleep.is_none() {
            let Some(left) = until.remaining(&timer) else {
                return Poll::Pending;
            };
            sleep.set(Some(timer.sleep(left)));
        }
        match sleep.as_mut().as_pin_mut() {
            Some(sleep) => sleep.poll(cx).map(|()| None),
            None => Poll::Pending,
        }
    })
    .await
}
