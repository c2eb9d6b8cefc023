//! What the loop of an async function needs besides the step. A future pays for
//! what it keeps: the sleep is boxed, and lives only while it lasts.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use pin_project_lite::pin_project;

use super::progress::{exponential_delay, general, immediate, or_end};
use super::{Admitted, Progress, Until, admit};
use crate::ambient::Retrying;
use crate::call::GaveUp;
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::timer::Timer;
use crate::verdict::Verdict;

pin_project! {
    // An attempt that is a retry, which everything below sees. The first one is
    // awaited as it is: what nobody asks for costs nothing.
    #[derive(Debug)]
    pub struct Again<F> {
        #[pin]
        body: F,
        failures: u32,
    }
}

#[inline(always)]
pub fn again<F>(body: F, progress: impl Progress) -> Again<F> {
    Again {
        body,
        failures: progress.failures(),
    }
}

impl<F: Future> Future for Again<F> {
    type Output = F::Output;

    #[cold]
    #[inline(never)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _retry = Retrying::after(*this.failures);
        this.body.poll(cx)
    }
}

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
        Admitted::Immediate => {
            or_end(*progress, immediate(operation.policy(), true)).map(|()| Pause(None))
        }
        Admitted::Exponential(retry) => or_end(*progress, exponential(operation, retry, timer)),
        Admitted::General(asked) => paused(progress, operation, until, timer, asked),
    }
}

#[cold]
#[inline(never)]
fn exponential<T: Timer>(
    operation: &Operation,
    retry: u32,
    timer: &T,
) -> Result<Pause<T::Sleep>, GaveUp> {
    exponential_delay(operation, retry, timer).map(|delay| pause(delay, timer))
}

#[cold]
#[inline(never)]
fn paused<T: Timer>(
    progress: &mut impl Progress,
    operation: &Operation,
    until: Until,
    timer: &T,
    asked: Option<Duration>,
) -> Result<Pause<T::Sleep>, Interrupted> {
    let delay = general(progress, operation, until, timer, asked, true)?;
    Ok(pause(delay, timer))
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
