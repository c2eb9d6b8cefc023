//! The operating system's clock and the timer of async-io, which smol uses.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use pin_project_lite::pin_project;

use super::{Clock, Timer, Timestamp};

/// Sleeps on the timer of async-io, which runs under any executor: the timer of
/// async functions where the feature `tokio` is off.
#[derive(Debug, Clone, Copy, Default)]
pub struct Smol;

impl Clock for Smol {
    fn now(&self) -> Timestamp {
        Instant::now().into()
    }

    #[inline]
    fn shared(&self) -> Timestamp {
        crate::process::now()
    }

    #[inline]
    fn carries_deadlines(&self) -> bool {
        cfg!(not(feature = "tokio")) && !crate::process::is_virtual()
    }
}

impl Timer for Smol {
    type Sleep = SmolSleep;

    fn sleep(&self, duration: Duration) -> SmolSleep {
        SmolSleep {
            timer: async_io::Timer::after(duration),
        }
    }
}

pin_project! {
    /// The future of a wait of [`Smol`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct SmolSleep {
        #[pin]
        timer: async_io::Timer,
    }
}

impl Future for SmolSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().timer.poll(cx).map(|_| ())
    }
}
