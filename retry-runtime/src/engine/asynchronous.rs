//! The driver of async calls: an attempt is a future, and so is the delay. A future pays for what it keeps: the delay
//! lies where the attempt was, which is over by then.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use pin_project_lite::pin_project;

use super::kept::TakeKept;

use super::{CallContext, Gate, LiveCall, Place};
use crate::around::{self, RetryScope};
use crate::call::{AttemptMarks, Call};
use crate::failure::GaveUp;
use crate::timer::Timer;

pin_project! {
    /// An attempt that is a retry, which everything that it calls can see.
    #[derive(Debug)]
    pub struct Again<'c, F> {
        #[pin]
        body: F,
        call: &'c mut Call,
    }
}

pin_project! {
    /// A first attempt, of which the call only takes over what is marked. It also returns what [`LiveCall::first_ended`]
    /// needs: a success takes nothing over.
    #[derive(Debug)]
    pub struct First<'c, F> {
        #[pin]
        body: F,
        call: &'c mut Call,
    }
}

impl<F: Future> Future for First<'_, F> {
    type Output = (F::Output, u32);

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // All that a success pays for nesting. One wrapper for first attempts and retries cost
        // every poll of every call 5 to 20 instructions.
        let marks = around::marks();
        let Poll::Ready(outcome) = this.body.poll(cx) else {
            // At the end of each poll: between two polls other tasks run on this thread, and what
            // they mark does not concern this call.
            this.call.take_marks(marks);
            return Poll::Pending;
        };
        Poll::Ready((outcome, marks))
    }
}

impl<P: Place> LiveCall<P> {
    /// Returns the future of a first attempt.
    #[inline(always)]
    pub fn first<F>(&mut self, body: F) -> First<'_, F> {
        First {
            body,
            call: &mut self.progress.call,
        }
    }

    /// Returns the same of an attempt that is one call.
    #[inline(always)]
    pub fn first_of<F>(&mut self, attempt: impl FnOnce() -> F) -> First<'_, F> {
        let body = self.begin_first(attempt);
        self.first(body)
    }

    /// Returns the future of an attempt that is a retry and one call.
    #[inline(always)]
    pub fn again_of<F>(&mut self, attempt: impl FnOnce() -> F) -> Again<'_, F> {
        let body = self.begin_again(attempt);
        self.again(body)
    }

    /// Returns the future of an attempt that is a retry.
    #[inline(always)]
    pub fn again<F>(&mut self, body: F) -> Again<'_, F> {
        self.retry_begins();
        Again {
            body,
            call: &mut self.progress.call,
        }
    }

    /// Returns the future of a delay, which gives back what is kept through it. From the second delay on, one of zero
    /// yields once, so that retries without delays leave the executor's other tasks their turn.
    #[inline(always)]
    pub fn pause<T: Timer, K: TakeKept>(
        &mut self,
        context: CallContext<'_, T>,
        delay: Duration,
        mut kept: K,
    ) -> Pause<T::Sleep, K> {
        // An error may hold what the next attempt needs, such as a connection, so it is kept only
        // where the call may end with it.
        if delay.is_zero() || !context.may_end() {
            kept.forget();
        }
        pause(delay, self.failures() > 1, context.timer, kept)
    }

    /// Enters the gates, and waits until they let the attempt begin.
    ///
    /// # Errors
    ///
    /// How the call ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the wait; the gates give back what they hold.
    pub async fn enter_async<T: Timer>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
    ) -> Result<(), GaveUp> {
        if !self.ask(context, gates)?.is_zero() {
            while let Some(wait) = self.progress.ask_again(context.erased(), gates)? {
                pause(wait, false, context.timer, ()).await;
            }
        }
        gates.begin(context.timer);
        Ok(())
    }
}

impl<F: Future> Future for Again<'_, F> {
    type Output = F::Output;

    // The compiler makes the code of an attempt twice; this copy stays out of the way of successes.
    #[cold]
    #[inline(never)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        // Set for one poll and put back after it, so a dropped future leaves nothing on the thread,
        // and a sibling in the same task sees nothing of it.
        let _retry = RetryScope::new(this.call.retries());
        let _marks = AttemptMarks::new(this.call, true);
        this.body.poll(cx)
    }
}

pin_project! {
    /// The delay before the next attempt; of no length, it is over at once.
    #[derive(Debug)]
    pub struct Pause<S, K> {
        #[pin]
        wait: Wait<S>,
        kept: K,
    }

    // Out of line: what only a retry needs takes no register from a success.
    impl<S, K> PinnedDrop for Pause<S, K> {
        #[cold]
        #[inline(never)]
        fn drop(this: Pin<&mut Self>) {
            this.project().wait.set(Wait::Over);
        }
    }
}

pin_project! {
    /// What a pause waits for. It is as large as a sleep of the default timer.
    #[derive(Debug)]
    #[project = Waiting]
    pub(super) enum Wait<S> {
        Over,
        /// That the executor polls again.
        Turn,
        // Not in a box: that spared small futures up to 88 bytes, but cost each task in backoff an
        // allocation of 112.
        Sleep {
            #[pin]
            sleep: S,
        },
    }
}

/// Returns the future of a delay, which gives back what is kept through it. Where it `yields`, one of zero does.
#[cold]
#[inline(never)]
fn pause<T: Timer, K>(delay: Duration, yields: bool, timer: &T, kept: K) -> Pause<T::Sleep, K> {
    // Not where two ways meet: a sleep is large, and would be copied there.
    if delay.is_zero() {
        let wait = if yields { Wait::Turn } else { Wait::Over };
        return Pause { wait, kept };
    }
    let sleep = timer.sleep(delay);
    Pause {
        wait: Wait::Sleep { sleep },
        kept,
    }
}

impl<S: Future<Output = ()>, K: TakeKept> Future for Pause<S, K> {
    type Output = K;

    #[cold]
    #[inline(never)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<K> {
        let mut this = self.project();
        match this.wait.as_mut().project() {
            Waiting::Over => {}
            Waiting::Turn => {
                this.wait.set(Wait::Over);
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Waiting::Sleep { sleep } => {
                if sleep.poll(cx).is_pending() {
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(this.kept.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timer::{DefaultTimer, Timer};

    #[test]
    fn a_pause_is_as_large_as_its_sleep() {
        type Sleep = <DefaultTimer as Timer>::Sleep;
        assert_eq!(size_of::<Pause<Sleep, ()>>(), size_of::<Sleep>());
    }
}
