//! An attempt that the call's deadline cuts off.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::Until;
use crate::timer::Timer;

pin_project! {
    // The timer is asked for only when the attempt has to wait.
    #[derive(Debug)]
    pub struct Limited<T: Timer, F> {
        #[pin]
        body: F,
        until: Until,
        timer: T,
        sleep: Option<Pin<Box<T::Sleep>>>,
    }
}

pub fn limited<T: Timer, F: Future>(body: F, until: Until, timer: T) -> Limited<T, F> {
    Limited {
        body,
        until,
        timer,
        sleep: None,
    }
}

impl<T: Timer, F: Future> Future for Limited<T, F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(outcome) = this.body.poll(cx) {
            return Poll::Ready(Some(outcome));
        }
        let sleep = match this.sleep {
            Some(sleep) => sleep,
            none @ None => {
                let Some(left) = this.until.remaining(this.timer) else {
                    return Poll::Pending;
                };
                none.insert(Box::pin(this.timer.sleep(left)))
            }
        };
        sleep.as_mut().poll(cx).map(|()| None)
    }
}
