//! Time in milliseconds, by an interrupt of the core.

use core::future::Future;
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicU32, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use reattempt::timer::{BlockingTimer, Clock, Timer, Timestamp};

use crate::board;

static MILLIS: AtomicU32 = AtomicU32::new(0);

/// The interrupt of each millisecond.
pub extern "C" fn tick() {
    MILLIS.fetch_add(1, Ordering::Relaxed);
}

#[derive(Debug, Clone, Copy)]
pub struct Ticks;

impl Clock for Ticks {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::from_millis(MILLIS.load(Ordering::Relaxed).into()))
    }
}

impl BlockingTimer for Ticks {
    fn sleep(&self, duration: Duration) {
        let start = self.now();
        while self.now().since(start) < duration {
            board::wait_for_interrupt();
        }
    }
}

impl Timer for Ticks {
    type Sleep = Sleep;

    fn sleep(&self, duration: Duration) -> Sleep {
        Sleep {
            start: self.now(),
            duration,
        }
    }
}

pub struct Sleep {
    start: Timestamp,
    duration: Duration,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if Ticks.now().since(self.start) < self.duration {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }
}

/// Polls a future after each interrupt.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            return output;
        }
        board::wait_for_interrupt();
    }
}
