//! What the loop of an async function needs besides the step. A future pays for
//! what it keeps: the sleep lies where the attempt was, which is over by then.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use pin_project_lite::pin_project;

use super::limits::{afford, step};
#[cfg(feature = "config")]
use super::progress::failed;
use super::progress::{general, immediate, surrounded, watch};
use super::{Admitted, Limits, Progress, Question, Until, admit, enter};
use crate::ambient::{self, Retrying};
#[cfg(feature = "config")]
use crate::attempt::Cause;
use crate::call::GaveUp;
use crate::events::{Came, Watch};
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::policy::Policy;
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

pin_project! {
    // The delay before the next attempt; of no length, it is over at once.
    #[derive(Debug)]
    pub struct Pause<S> {
        #[pin]
        sleep: Option<S>,
    }

    // Out of line, too: what only a retry needs takes no register from a success.
    impl<S> PinnedDrop for Pause<S> {
        #[cold]
        #[inline(never)]
        fn drop(this: Pin<&mut Self>) {
            this.project().sleep.set(None);
        }
    }
}

#[inline]
pub fn pause<T: Timer>(delay: Duration, timer: &T) -> Pause<T::Sleep> {
    Pause {
        sleep: (!delay.is_zero()).then(|| timer.sleep(delay)),
    }
}

// The step of a loop whose retries nobody looks at, one call out of line as in
// the sync loop. The error goes through that call: what would have to be kept
// beside it would cost a success a register.
#[inline(always)]
pub fn pause_after<T: Timer, E>(
    error: E,
    progress: &mut impl Progress,
    operation: &Operation,
    until: Until,
    timer: &T,
    verdict: Verdict,
    limits: &mut impl Limits,
) -> Result<Pause<T::Sleep>, (E, Interrupted)> {
    let came = Came::Failed(verdict);
    let watch = watch(progress, came);
    limits.failed(operation, came, timer);
    let paused = match admit(progress, operation, until, verdict) {
        Err(end) => Err((error, end.reason())),
        Ok(Admitted::Immediate) => {
            let allowed = immediate(operation.policy(), true)
                .and_then(|()| afford(limits, operation, came, timer));
            match allowed {
                Ok(()) => {
                    watch.retries(operation, Duration::ZERO);
                    Ok(Pause { sleep: None })
                }
                Err(reason) => Err((error, reason)),
            }
        }
        Ok(Admitted::Exponential(retry)) => {
            let draw = |policy: &Policy, retry, timer: &T| {
                policy.draw_exponential(retry, || timer.random())
            };
            let question = limits.question(came);
            plain(error, operation, watch, retry, timer, question, draw)
                .map(|paused| held(paused, limits))
        }
        Ok(Admitted::Plain(retry)) => {
            let draw =
                |policy: &Policy, retry, timer: &T| policy.draw_plain(retry, || timer.random());
            let question = limits.question(came);
            plain(error, operation, watch, retry, timer, question, draw)
                .map(|paused| held(paused, limits))
        }
        Ok(Admitted::General(asked)) => {
            let question = limits.question(came);
            paused(
                error, progress, operation, watch, until, timer, asked, question,
            )
            .map(|paused| held(paused, limits))
        }
    };
    paused.map_err(|(error, reason)| {
        watch.gives_up(operation, reason);
        (error, Interrupted::new(reason, progress.failures()))
    })
}

// The same, and the error comes back, for a call that keeps it through the wait.
#[cfg(feature = "config")]
#[inline(always)]
#[expect(clippy::type_complexity, reason = "the error is there either way")]
pub fn pause_keeping<T: Timer, E>(
    error: E,
    progress: &mut impl Progress,
    operation: &Operation,
    until: Until,
    timer: &T,
    verdict: Verdict,
    limits: &mut impl Limits,
) -> Result<(Pause<T::Sleep>, E), (E, Interrupted)> {
    let cause = Cause::Error(&error);
    let retry = failed(progress, operation, until, timer, cause, verdict, limits);
    match retry {
        Ok(retry) => {
            let pause = pause(retry.delay, timer);
            Ok((pause, error))
        }
        Err(end) => Err((error, end)),
    }
}

// What went along with the question.
#[inline(always)]
fn held<S, L: Limits>((pause, held): Held<S, L::Question>, limits: &mut L) -> Pause<S> {
    limits.take_back(held);
    pause
}

type Held<S, Q> = (Pause<S>, <Q as Question>::Held);

#[cold]
#[inline(never)]
fn plain<T: Timer, E, Q: Question>(
    error: E,
    operation: &Operation,
    watch: Watch,
    retry: u32,
    timer: &T,
    question: Q,
    draw: impl FnOnce(&Policy, u32, &T) -> Duration,
) -> Result<Held<T::Sleep, Q>, (E, GaveUp)> {
    let delay = if ambient::is_quiet() {
        draw(operation.policy(), retry, timer)
    } else {
        match surrounded(operation, retry, timer) {
            Ok(delay) => delay,
            Err(reason) => return Err((error, reason)),
        }
    };
    match question.afford(operation, timer) {
        Ok(held) => {
            watch.retries(operation, delay);
            // Not where two ways meet: a sleep is large, and would be copied there.
            if delay.is_zero() {
                return Ok((Pause { sleep: None }, held));
            }
            let sleep = Some(timer.sleep(delay));
            Ok((Pause { sleep }, held))
        }
        Err(reason) => Err((error, reason)),
    }
}

#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "one step, split in two")]
fn paused<T: Timer, E, Q: Question>(
    error: E,
    progress: &mut impl Progress,
    operation: &Operation,
    watch: Watch,
    until: Until,
    timer: &T,
    asked: Option<Duration>,
    question: Q,
) -> Result<Held<T::Sleep, Q>, (E, GaveUp)> {
    let delay = general(progress, operation, until, timer, asked, true)
        .map_err(|end| end.reason())
        .and_then(|delay| Ok((delay, question.afford(operation, timer)?)));
    match delay {
        Ok((delay, held)) => {
            watch.retries(operation, delay);
            Ok((pause(delay, timer), held))
        }
        Err(reason) => Err((error, reason)),
    }
}

// As `entered` of the sync loops.
pub async fn entered_in_line<T: Timer>(
    limits: &mut impl Limits,
    progress: &impl Progress,
    operation: &Operation,
    until: Until,
    timer: &T,
) -> Result<(), Interrupted> {
    if !enter(limits, progress, operation, until, timer)?.is_zero() {
        while let Some(wait) = step(limits, progress, operation, until, timer)? {
            pause(wait, timer).await;
        }
    }
    limits.begin(timer);
    Ok(())
}

impl<S: Future<Output = ()>> Future for Pause<S> {
    type Output = ();

    // Out of line: what only a retry needs takes no register from a success.
    #[cold]
    #[inline(never)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.project().sleep.as_pin_mut() {
            Some(sleep) => sleep.poll(cx),
            None => Poll::Ready(()),
        }
    }
}
