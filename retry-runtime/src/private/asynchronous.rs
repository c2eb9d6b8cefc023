//! What the loop of an async function needs besides the step. The sleep lies in
//! a box that lives only while it lasts: the future of a call need not be large
//! enough for it.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use super::{Admitted, Progress, Until, admit, delay};
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::policy::Policy;
use crate::timer::Timer;
use crate::verdict::Verdict;

// The delay before the next attempt; of no length, it is over at once.
#[derive(Debug)]
pub struct Pause<S>(Option<Pin<Box<S>>>);

#[inline]
pub fn pause<T: Timer>(delay: Duration, timer: &T) -> Pause<T::Sleep> {
    Pause((!delay.is_zero()).then(|| Box::pin(timer.sleep(delay))))
}

// The step of a loop whose retries nobody looks at, one call out of line as in
// the sync loop.
#[inline(always)]
pub fn pause_after<T: Timer>(
    progress: &mut impl Progress,
    operation: &Operation,
    until: Until,
    timer: &T,
    verdict: Verdict,
) -> Result<Pause<T::Sleep>, Interrupted> {
    match admit(progress, operation, until, verdict)? {
        Admitted::Immediate => Ok(Pause(None)),
        Admitted::Exponential(retry) => Ok(exponential(operation.policy(), retry, timer)),
        admitted @ Admitted::General(_) => general(progress, operation, until, timer, admitted),
    }
}

#[cold]
#[inline(never)]
fn exponential<T: Timer>(policy: &Policy, retry: u32, timer: &T) -> Pause<T::Sleep> {
    pause(policy.draw_exponential(retry, || timer.random()), timer)
}

#[cold]
#[inline(never)]
fn general<T: Timer>(
    progress: &mut impl Progress,
    operation: &Operation,
    until: Until,
    timer: &T,
    admitted: Admitted,
) -> Result<Pause<T::Sleep>, Interrupted> {
    Ok(pause(
        delay(progress, operation, until, timer, admitted)?,
        timer,
    ))
}

impl<S: Future<Output = ()>> Future for Pause<S> {
    type Output = ();

    // Out of line for the same reason.
    #[cold]
    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            Some(sleep) => sleep.as_mut().poll(cx),
            None => Poll::Ready(()),
        }
    }
}
