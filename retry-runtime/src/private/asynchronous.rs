//! What the loop of an async function needs besides the step. The sleep lies in
//! a box that lives only while it lasts: the future of a call need not be large
//! enough for it.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use crate::timer::Timer;

// The delay before the next attempt; of no length, it is over at once.
#[derive(Debug)]
pub struct Pause<S>(Option<Pin<Box<S>>>);

#[inline]
pub fn pause<T: Timer>(delay: Duration, timer: &T) -> Pause<T::Sleep> {
    Pause((!delay.is_zero()).then(|| Box::pin(timer.sleep(delay))))
}

impl<S: Future<Output = ()>> Future for Pause<S> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            Some(sleep) => sleep.as_mut().poll(cx),
            None => Poll::Ready(()),
        }
    }
}
