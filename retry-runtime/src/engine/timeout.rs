//! An attempt that time cuts off: its own time-out, the call's deadline, or an inherited one.

use core::convert::Infallible;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use pin_project_lite::pin_project;

use super::Until;
use super::context::shorter;
use super::timed_out::TimedOut;
use crate::ambient::{self, Inside};
use crate::timer::{Clock, Timer, Timestamp};

pin_project! {
    /// An attempt with a limit, which everything that it calls sees as its deadline. It asks the timer only when it has
    /// to wait.
    #[derive(Debug)]
    pub struct Limited<T: Timer, F> {
        #[pin]
        body: F,
        timer: T,
        limit: Limit<T::Sleep>,
    }
}

/// Sixteen bytes: the limit moves to the box of the sleep.
#[derive(Debug)]
enum Limit<S> {
    Ahead {
        failures: u32,
        // The body has been polled.
        is_begun: bool,
        until: Until,
    },
    Near {
        failures: u32,
        sleep: Pin<Box<Near<S>>>,
    },
}

pin_project! {
    #[derive(Debug)]
    struct Near<S> {
        until: Until,
        // The inherited deadline that this was made under, and whether it comes first.
        inherited: Timestamp,
        is_inherited: bool,
        #[pin]
        sleep: S,
    }
}

/// Returns an attempt after `failures` failed ones, which `until` cuts off.
pub fn limited<T: Timer, F: Future>(
    body: F,
    until: Until,
    failures: u32,
    timer: T,
) -> Limited<T, F> {
    Limited {
        body,
        timer,
        limit: Limit::Ahead {
            failures,
            is_begun: false,
            until,
        },
    }
}

/// Returns an async hook: under the deadline, but not an attempt.
pub fn limited_hook<T: Timer, F: Future>(hook: F, until: Until, timer: T) -> Limited<T, F> {
    limited(hook, until, 0, timer)
}

impl<S> Limit<S> {
    fn inside(&self, clock: &impl Clock) -> Inside {
        match self {
            Self::Ahead {
                failures, until, ..
            } => Inside::attempt(*failures, *until, true, clock),
            Self::Near { failures, sleep } => Inside::attempt(*failures, sleep.until, true, clock),
        }
    }

    /// Starts over where the inherited deadline is another: a future may be moved out of a scope, or into one.
    fn follow(&mut self) {
        if let Self::Near { failures, sleep } = self
            && sleep.inherited != ambient::unenforced()
        {
            *self = Self::Ahead {
                failures: *failures,
                is_begun: true,
                until: sleep.until,
            };
        }
    }

    /// Returns whether a retry, or a first attempt under an inherited deadline, comes too late: timers end late. The
    /// first attempt of a call has all of its own time.
    fn is_over_at_start(&mut self, clock: &impl Clock) -> bool {
        let Self::Ahead {
            failures,
            is_begun: is_begun @ false,
            until,
        } = self
        else {
            return false;
        };
        *is_begun = true;
        let (failures, until) = (*failures, *until);
        let left = if failures > 0 {
            left(until, clock)
        } else {
            ambient::remaining()
        };
        left.is_some_and(|left| left.is_zero())
    }
}

impl<T: Timer, F: Future> Future for Limited<T, F> {
    type Output = Result<F::Output, TimedOut>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if this.limit.is_over_at_start(this.timer) {
            return Poll::Ready(Err(TimedOut {
                started: false,
                is_inherited: true,
            }));
        }
        {
            let _inside = this.limit.inside(this.timer);
            if let Poll::Ready(outcome) = this.body.poll(cx) {
                return Poll::Ready(Ok(outcome));
            }
        }
        this.limit.follow();
        let near = match this.limit {
            Limit::Near { sleep, .. } => sleep,
            Limit::Ahead {
                failures, until, ..
            } => {
                let (failures, until) = (*failures, *until);
                let Some(left) = left(until, this.timer) else {
                    return Poll::Pending;
                };
                let sleep = Box::pin(Near {
                    until,
                    inherited: ambient::unenforced(),
                    is_inherited: until.own_remaining(this.timer).is_none_or(|own| left < own),
                    sleep: this.timer.sleep(left),
                });
                *this.limit = Limit::Near { failures, sleep };
                match this.limit {
                    Limit::Near { sleep, .. } => sleep,
                    Limit::Ahead { .. } => return Poll::Pending,
                }
            }
        };
        let near = near.as_mut().project();
        let end = TimedOut {
            started: true,
            is_inherited: *near.is_inherited,
        };
        near.sleep.poll(cx).map(|()| Err(end))
    }
}

fn left(until: Until, clock: &impl Clock) -> Option<Duration> {
    shorter(until.own_remaining(clock), ambient::remaining_unenforced())
}

pin_project! {
    /// An attempt whose limit everything that it calls can see, and that nothing cuts off.
    #[derive(Debug)]
    pub struct Endured<T, F> {
        #[pin]
        body: F,
        timer: T,
        failures: u32,
        until: Until,
    }
}

/// Returns an attempt after `failures` failed ones that sees `until` and is not cut off.
pub fn endured<T: Timer, F: Future>(
    body: F,
    until: Until,
    failures: u32,
    timer: T,
) -> Endured<T, F> {
    Endured {
        body,
        timer,
        failures,
        until,
    }
}

impl<T: Timer, F: Future> Future for Endured<T, F> {
    type Output = Result<F::Output, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let _inside = Inside::attempt(*this.failures, *this.until, false, this.timer);
        this.body.poll(cx).map(Ok)
    }
}
