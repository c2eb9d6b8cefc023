//! An attempt that time cuts off: its own time-out, the call's deadline, or a
//! deadline from above.

use core::convert::Infallible;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use pin_project_lite::pin_project;

use super::progress::shorter;
use super::{Count, Progress, TimedOut, Until};
use crate::ambient::{self, Retrying, Shrunk};
use crate::timer::{Clock, Moment, Timer};

pin_project! {
    // What is below sees the limit as its deadline. The timer is asked for only
    // when the attempt has to wait.
    #[derive(Debug)]
    pub struct Limited<T: Timer, F> {
        #[pin]
        body: F,
        timer: T,
        limit: Limit<T::Sleep>,
    }
}

// Sixteen bytes: the limit moves to the box of the sleep.
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
        // The deadline from above that this was made under, and whether it comes first.
        above: Moment,
        is_above: bool,
        #[pin]
        sleep: S,
    }
}

pub fn limited<T: Timer, F: Future>(
    body: F,
    until: Until,
    progress: impl Progress,
    timer: T,
) -> Limited<T, F> {
    Limited {
        body,
        timer,
        limit: Limit::Ahead {
            failures: progress.failures(),
            is_begun: false,
            until,
        },
    }
}

// A hook: under the deadline, but no attempt.
pub fn limited_hook<T: Timer, F: Future>(hook: F, until: Until, timer: T) -> Limited<T, F> {
    limited(hook, until, Count::new(), timer)
}

// What an attempt sees.
pub(crate) fn inside(
    failures: u32,
    until: Until,
    enforced: bool,
    clock: &impl Clock,
) -> (Option<Retrying>, Shrunk) {
    (
        (failures > 0).then(|| Retrying::after(failures)),
        ambient::shrink(clock.travelling(until.moment()), enforced),
    )
}

impl<S> Limit<S> {
    fn inside(&self, clock: &impl Clock) -> (Option<Retrying>, Shrunk) {
        match self {
            Self::Ahead {
                failures, until, ..
            } => inside(*failures, *until, true, clock),
            Self::Near { failures, sleep } => inside(*failures, sleep.until, true, clock),
        }
    }

    // A future may be moved out of a scope, or into one.
    fn follow(&mut self) {
        if let Self::Near { failures, sleep } = self
            && sleep.above != ambient::unenforced()
        {
            *self = Self::Ahead {
                failures: *failures,
                is_begun: true,
                until: sleep.until,
            };
        }
    }

    // A timer may come late, and so may what is polled under a deadline from
    // above; the first attempt of a call has all the time of its own.
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
                is_deadline: true,
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
                    above: ambient::unenforced(),
                    is_above: until.remaining(this.timer).is_none_or(|own| left < own),
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
            is_deadline: *near.is_above,
        };
        near.sleep.poll(cx).map(|()| Err(end))
    }
}

fn left(until: Until, clock: &impl Clock) -> Option<Duration> {
    shorter(until.remaining(clock), ambient::remaining_unenforced())
}

pin_project! {
    // What is below sees the limit, and nothing cuts it off.
    #[derive(Debug)]
    pub struct Endured<T, F> {
        #[pin]
        body: F,
        timer: T,
        failures: u32,
        until: Until,
    }
}

pub fn endured<T: Timer, F: Future>(
    body: F,
    until: Until,
    progress: impl Progress,
    timer: T,
) -> Endured<T, F> {
    Endured {
        body,
        timer,
        failures: progress.failures(),
        until,
    }
}

impl<T: Timer, F: Future> Future for Endured<T, F> {
    type Output = Result<F::Output, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let _inside = inside(*this.failures, *this.until, false, this.timer);
        this.body.poll(cx).map(Ok)
    }
}
