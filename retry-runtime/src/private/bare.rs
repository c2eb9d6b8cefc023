//! What the loop of an async function needs besides the step, without `std`: no
//! allocator, so the sleep lies in the future itself, and no thread on which a
//! deadline could travel.

use core::convert::Infallible;
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;

use super::progress::delay;
use super::{Limits, Progress, TimedOut, Until, admit, enter};
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::timer::Timer;
use crate::verdict::Verdict;

#[inline(always)]
pub fn again<F: Future>(body: F, _: impl Progress) -> F {
    body
}

pub async fn pause<T: Timer>(delay: Duration, timer: &T) {
    if !delay.is_zero() {
        timer.sleep(delay).await;
    }
}

pub fn pause_after<'t, T: Timer, P: Progress, L: Limits, E>(
    error: E,
    progress: &mut P,
    operation: &Operation,
    until: Until,
    timer: &'t T,
    verdict: Verdict,
    _: &mut L,
) -> Result<impl Future<Output = ()> + use<'t, T, P, L, E>, (E, Interrupted)> {
    let delay = admit(progress, operation, until, verdict)
        .and_then(|admitted| delay(progress, operation, until, timer, admitted, true));
    match delay {
        Ok(delay) => Ok(pause(delay, timer)),
        Err(end) => Err((error, end)),
    }
}

// There is nothing to wait for.
pub async fn entered_in_line<T: Timer>(
    limits: &mut impl Limits,
    progress: &impl Progress,
    operation: &Operation,
    until: Until,
    timer: &T,
) -> Result<(), Interrupted> {
    enter(limits, progress, operation, until, timer)?;
    limits.begin(timer);
    Ok(())
}

pub async fn limited<T: Timer, F: Future>(
    body: F,
    until: Until,
    progress: impl Progress,
    timer: T,
) -> Result<F::Output, TimedOut> {
    let late =
        progress.failures() > 0 && until.remaining(&timer).is_some_and(|left| left.is_zero());
    if late {
        return Err(TimedOut {
            started: false,
            is_deadline: true,
        });
    }
    limited_hook(body, until, timer).await
}

pub async fn endured<T: Timer, F: Future>(
    body: F,
    _: Until,
    _: impl Progress,
    _: T,
) -> Result<F::Output, Infallible> {
    Ok(body.await)
}

pub async fn limited_hook<T: Timer, F: Future>(
    body: F,
    until: Until,
    timer: T,
) -> Result<F::Output, TimedOut> {
    let mut body = pin!(body);
    let mut sleep = pin!(None);
    poll_fn(|cx| {
        if let Poll::Ready(outcome) = body.as_mut().poll(cx) {
            return Poll::Ready(Ok(outcome));
        }
        if sleep.is_none() {
            let Some(left) = until.remaining(&timer) else {
                return Poll::Pending;
            };
            sleep.set(Some(timer.sleep(left)));
        }
        match sleep.as_mut().as_pin_mut() {
            Some(sleep) => sleep.poll(cx).map(|()| {
                Err(TimedOut {
                    started: true,
                    is_deadline: false,
                })
            }),
            None => Poll::Pending,
        }
    })
    .await
}
