//! A clock that goes on with the polls of one neighbour, on whatever thread.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use reattempt::timer::{Clock, Timer};

use crate::names::{BlockingTimer, Timestamp};

#[derive(Debug, Clone, Default)]
pub(crate) struct Own(Arc<AtomicU64>);

impl Own {
    pub(crate) fn advance(&self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.0.fetch_add(nanos, Ordering::Relaxed);
    }
}

impl Clock for Own {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::from_nanos(self.0.load(Ordering::Relaxed)))
    }
}

impl BlockingTimer for Own {
    fn sleep(&self, time: Duration) {
        self.advance(time);
    }
}

impl Timer for Own {
    type Sleep = Nap;

    fn sleep(&self, time: Duration) -> Nap {
        Nap(self.clone(), self.now().after(time))
    }
}

#[derive(Debug)]
pub(crate) struct Nap(Own, Timestamp);

impl Future for Nap {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.0.now() < self.1 {
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}
