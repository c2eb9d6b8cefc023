//! What the loop of an async function needs besides the step, without `std`: no
//! allocator, so the sleep lies in the future itself.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;

use super::{Progress, Until, admit, delay};
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::timer::Timer;
use crate::verdict::Verdict;

pub async fn pause<T: Timer>(delay: Duration, timer: &T) {
    if !delay.is_zero() {
        timer.sleep(delay).await;
    }
}

pub fn pause_after<'t, T: Timer, P: Progress>(
    progress: &mut P,
    operation: &Operation,
    until: Until,
    timer: &'t T,
    verdict: Verdict,
) -> Result<impl Future<Output = ()> + use<'t, T, P>, Interrupted> {
    let admitted = admit(progress, operation, until, verdict)?;
    let delay = delay(progress, operation, until, timer, admitted)?;
    Ok(pause(delay, timer))
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
