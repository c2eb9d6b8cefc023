//! The timer of an async call without one of its own: that of the runtime it is polled in.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;

use super::{Clock, DefaultTimer, Elsewhere, Timer, Timestamp};

#[cfg(all(feature = "tokio", not(target_os = "unknown")))]
use super::Tokio as Watch;
#[cfg(not(all(feature = "tokio", not(target_os = "unknown"))))]
use Elsewhere as Watch;

impl Clock for DefaultTimer {
    #[inline]
    fn now(&self) -> Timestamp {
        Watch.now()
    }

    #[inline]
    fn slack(&self) -> Duration {
        #[cfg(all(feature = "tokio", not(target_os = "unknown")))]
        if super::on_tokio::is_running() {
            return super::Tokio.slack();
        }
        Elsewhere.slack()
    }

    #[inline]
    fn shared(&self) -> Timestamp {
        crate::process::now()
    }

    #[inline]
    fn carries_deadlines(&self) -> bool {
        Watch.carries_deadlines()
    }
}

impl Timer for DefaultTimer {
    type Sleep = DefaultSleep;

    #[inline]
    fn sleep(&self, duration: Duration) -> DefaultSleep {
        #[cfg(all(feature = "tokio", not(target_os = "unknown")))]
        let kind = super::on_tokio::sleep(duration);
        #[cfg(not(all(feature = "tokio", not(target_os = "unknown"))))]
        let kind = Elsewhere.sleep(duration);
        DefaultSleep { kind }
    }
}

pin_project! {
    /// The future of a wait of [`DefaultTimer`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct DefaultSleep {
        #[pin]
        kind: Kind,
    }
}

#[cfg(not(all(feature = "tokio", not(target_os = "unknown"))))]
type Kind = <Elsewhere as Timer>::Sleep;
#[cfg(all(feature = "tokio", not(target_os = "unknown")))]
use super::on_tokio::Kind;

impl Future for DefaultSleep {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().kind.poll(cx)
    }
}

#[cfg(test)]
mod tests {
    #[cfg(all(feature = "tokio", not(target_os = "unknown")))]
    #[test]
    fn a_sleep_is_as_large_as_that_of_tokio() {
        type Sleep = super::DefaultSleep;
        let tokio = size_of::<tokio::time::Sleep>();
        assert_eq!(size_of::<Sleep>(), tokio);
        assert_eq!(size_of::<Option<Sleep>>(), tokio);
    }
}
