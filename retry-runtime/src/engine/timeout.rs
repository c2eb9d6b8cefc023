//! An attempt that time cuts off: its own time-out, the call's deadline, or an inherited one.

use core::convert::Infallible;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use pin_project_lite::pin_project;

use super::context::shorter;
use super::timed_out::TimedOut;
use super::{LiveCall, Place, Until};
use crate::around;
use crate::call::Call;
use crate::inside::attempt_inside;
use crate::timer::{Clock, Timer, Timestamp};

pin_project! {
    /// An attempt with a limit, which everything that it calls sees as its deadline. It asks the timer only when it has
    /// to wait.
    #[derive(Debug)]
    pub struct Limited<'c, T: Timer, F> {
        #[pin]
        body: F,
        timer: T,
        limit: Limit<T::Sleep>,
        // `None` for a hook, which is not an attempt.
        call: Option<&'c mut Call>,
    }
}

/// When an attempt is cut off. Sixteen bytes: the limit moves to the box of the sleep.
#[derive(Debug)]
pub enum Limit<S> {
    /// Nobody has waited for it.
    Ahead {
        /// The attempt has been polled.
        is_begun: bool,
        /// Its own limit.
        until: Until,
    },
    /// It is waited for.
    // In a box, unlike the sleep of a `Pause`, because it stands beside the attempt; an attempt
    // that is answered at its first poll makes none.
    Near(Pin<Box<Near<S>>>),
}

pin_project! {
    /// The sleep until an attempt is cut off.
    #[derive(Debug)]
    pub struct Near<S> {
        until: Until,
        // The inherited deadline that this was made under, and whether it comes first.
        inherited: Timestamp,
        is_inherited: bool,
        #[pin]
        sleep: S,
    }
}

/// Returns an attempt of `call`, which `until` cuts off.
pub fn limited<T: Timer, F: Future>(
    body: F,
    until: Until,
    call: &mut LiveCall<impl Place>,
    timer: T,
) -> Limited<'_, T, F> {
    Limited {
        body,
        timer,
        limit: Limit::begins(until),
        call: Some(&mut call.progress.call),
    }
}

/// Returns an async hook: under the deadline, but not an attempt.
pub const fn limited_hook<T: Timer, F: Future>(
    hook: F,
    until: Until,
    timer: T,
) -> Limited<'static, T, F> {
    Limited {
        body: hook,
        timer,
        limit: Limit::begins(until),
        call: None,
    }
}

impl<S> Limit<S> {
    /// Returns the limit of an attempt that begins now.
    #[inline(always)]
    pub const fn begins(until: Until) -> Self {
        Self::Ahead {
            is_begun: false,
            until,
        }
    }

    fn until(&self) -> Until {
        match self {
            Self::Ahead { until, .. } => *until,
            Self::Near(sleep) => sleep.until,
        }
    }

    /// Starts over where the inherited deadline is another: a future may be moved out of a scope, or into one.
    fn follow(&mut self) {
        if let Self::Near(sleep) = self
            && sleep.inherited != around::unenforced()
        {
            *self = Self::Ahead {
                is_begun: true,
                until: sleep.until,
            };
        }
    }

    /// Returns whether a retry, or a first attempt under an inherited deadline, comes too late: timers end late. The
    /// first attempt of a call has all of its own time.
    fn is_over_at_start(&mut self, is_retry: bool, clock: &impl Clock) -> bool {
        let Self::Ahead {
            is_begun: is_begun @ false,
            until,
        } = self
        else {
            return false;
        };
        *is_begun = true;
        let left = if is_retry {
            left(*until, clock)
        } else {
            around::remaining()
        };
        left.is_some_and(|left| left.is_zero())
    }

    /// Waits until an attempt that has been polled is cut off: for ever without a limit.
    pub fn passed<T: Timer<Sleep = S>>(&mut self, timer: &T, cx: &mut Context<'_>) -> Poll<TimedOut>
    where
        S: Future<Output = ()>,
    {
        self.follow();
        let near = match self {
            Self::Near(sleep) => sleep,
            Self::Ahead { until, .. } => {
                let until = *until;
                let Some(left) = left(until, timer) else {
                    return Poll::Pending;
                };
                let sleep = Box::pin(Near {
                    until,
                    inherited: around::unenforced(),
                    // Decided here, because when the sleep ends both may have passed.
                    is_inherited: until.own_remaining(timer).is_none_or(|own| left < own),
                    sleep: timer.sleep(left),
                });
                *self = Self::Near(sleep);
                match self {
                    Self::Near(sleep) => sleep,
                    // Has just been replaced; this way no panic is compiled in.
                    Self::Ahead { .. } => return Poll::Pending,
                }
            }
        };
        let near = near.as_mut().project();
        let end = TimedOut {
            started: true,
            is_inherited: *near.is_inherited,
            // Read before the attempt is dropped, which may mark operations.
            marks: around::marks(),
        };
        near.sleep.poll(cx).map(|()| end)
    }
}

impl<T: Timer, F: Future> Future for Limited<'_, T, F> {
    type Output = Result<F::Output, TimedOut>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // Its own limits let an attempt be cut off. Without any, the deadline around is looked at between two attempts.
        let is_limited = this.call.is_none() || this.limit.until().bounds().has_deadline();
        let is_retry = || this.call.as_ref().is_some_and(|call| call.retries() > 0);
        if is_limited && this.limit.is_over_at_start(is_retry(), this.timer) {
            return Poll::Ready(Err(TimedOut {
                started: false,
                // Not read of an attempt that was not started.
                is_inherited: true,
                marks: around::marks(),
            }));
        }
        let (call, bounds) = (this.call.as_deref_mut(), this.limit.until().bounds());
        // `true`: this attempt enforces its limit, so calls inside leave that to it, instead of
        // reporting an error of their own.
        let polled = attempt_inside(call, bounds, true, this.timer, || this.body.poll(cx));
        // Before the limit is looked at: an outcome that comes late is still one.
        if let Poll::Ready(outcome) = polled {
            return Poll::Ready(Ok(outcome));
        }
        if !is_limited {
            return Poll::Pending;
        }
        this.limit.passed(this.timer, cx).map(Err)
    }
}

fn left(until: Until, clock: &impl Clock) -> Option<Duration> {
    shorter(until.own_remaining(clock), around::remaining_unenforced())
}

pin_project! {
    /// An attempt that is not cut off, though everything that it calls can see its limit.
    #[derive(Debug)]
    pub struct NotCutOff<'c, T, F> {
        #[pin]
        body: F,
        timer: T,
        call: &'c mut Call,
        until: Until,
    }
}

/// Returns an attempt of `call` that sees `until` and is not cut off.
pub fn not_cut_off<T: Timer, F: Future>(
    body: F,
    until: Until,
    call: &mut LiveCall<impl Place>,
    timer: T,
) -> NotCutOff<'_, T, F> {
    NotCutOff {
        body,
        timer,
        call: &mut call.progress.call,
        until,
    }
}

impl<T: Timer, F: Future> Future for NotCutOff<'_, T, F> {
    type Output = Result<F::Output, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (call, bounds) = (Some(&mut **this.call), this.until.bounds());
        attempt_inside(call, bounds, false, this.timer, || this.body.poll(cx)).map(Ok)
    }
}
