//! The driver of async calls without `std`: no allocator, so the sleep lies in the future itself, and no thread on
//! which a deadline could travel.

use core::convert::Infallible;
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;

use super::kept::TakeKept;
use super::timed_out::TimedOut;
use super::{CallContext, Gate, LiveCall, Place, Until};
use crate::failure::GaveUp;
use crate::timer::Timer;

impl<P: Place> LiveCall<P> {
    /// Returns the future of a first attempt. Nothing is marked.
    #[inline(always)]
    pub async fn first<F: Future>(&mut self, body: F) -> (F::Output, u32) {
        (body.await, 0)
    }

    /// Returns the same of an attempt that is one call.
    #[inline(always)]
    pub async fn first_of<F: Future>(&mut self, attempt: impl FnOnce() -> F) -> (F::Output, u32) {
        (self.begin_first(attempt).await, 0)
    }

    /// Returns the future of an attempt that is a retry and one call.
    #[inline(always)]
    pub fn again_of<F: Future>(&mut self, attempt: impl FnOnce() -> F) -> F {
        self.begin_again(attempt)
    }

    /// Returns the future of an attempt that is a retry.
    #[inline(always)]
    pub fn again<F: Future>(&mut self, body: F) -> F {
        body
    }

    /// Returns the future of a delay, which gives back what is kept through it. From the second delay on, one of zero
    /// yields once.
    #[inline(always)]
    pub fn pause<'t, T: Timer, K: TakeKept>(
        &mut self,
        context: CallContext<'t, T>,
        delay: Duration,
        mut kept: K,
    ) -> impl Future<Output = K> + use<'t, T, K, P> {
        if delay.is_zero() || !context.may_end() {
            kept.forget();
        }
        let yields = delay.is_zero() && self.failures() > 1;
        pause(delay, yields, context.timer, kept)
    }

    /// Enters the gates, of which none waits.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[expect(clippy::unused_async, reason = "as with `std`, where gates wait")]
    pub async fn enter_async<T: Timer>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
    ) -> Result<(), GaveUp> {
        self.ask(context, gates)?;
        gates.begin(context.timer);
        Ok(())
    }
}

/// Returns the future of a delay, which gives back what is kept through it.
async fn pause<T: Timer, K>(delay: Duration, mut yields: bool, timer: &T, kept: K) -> K {
    poll_fn(|cx| {
        if !core::mem::take(&mut yields) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    if !delay.is_zero() {
        timer.sleep(delay).await;
    }
    kept
}

/// Returns an attempt of `call`, which `until` cuts off.
///
/// # Errors
///
/// That it was cut off.
pub async fn limited<T: Timer, F: Future>(
    body: F,
    until: Until,
    call: &mut LiveCall<impl Place>,
    timer: T,
) -> Result<F::Output, TimedOut> {
    // The first attempt has all of its own time; a retry may come too late, since timers end late.
    let late = call.retries() > 0 && until.is_over(&timer);
    if late {
        return Err(TimedOut {
            started: false,
            // Not read of an attempt that was not started.
            is_inherited: true,
            marks: 0,
        });
    }
    limited_hook(body, until, timer).await
}

/// Returns an attempt that is not cut off.
///
/// # Errors
///
/// None.
pub async fn not_cut_off<T: Timer, F: Future>(
    body: F,
    _: Until,
    _: &mut LiveCall<impl Place>,
    _: T,
) -> Result<F::Output, Infallible> {
    Ok(body.await)
}

/// Returns an async hook: under the deadline, but not an attempt.
///
/// # Errors
///
/// That it was cut off.
pub async fn limited_hook<T: Timer, F: Future>(
    body: F,
    until: Until,
    timer: T,
) -> Result<F::Output, TimedOut> {
    let mut body = pin!(body);
    // As with `std`, the timer is asked only when the body has to wait.
    let mut sleep = pin!(None);
    poll_fn(|cx| {
        if let Poll::Ready(outcome) = body.as_mut().poll(cx) {
            return Poll::Ready(Ok(outcome));
        }
        if sleep.is_none() {
            let Some(left) = until.own_remaining(&timer) else {
                return Poll::Pending;
            };
            sleep.set(Some(timer.sleep(left)));
        }
        match sleep.as_mut().as_pin_mut() {
            Some(sleep) => sleep.poll(cx).map(|()| {
                Err(TimedOut {
                    started: true,
                    is_inherited: false,
                    marks: 0,
                })
            }),
            None => Poll::Pending,
        }
    })
    .await
}
