//! The operating system's clock, and threads that sleep.

use std::time::{Duration, Instant};

use super::{BlockingTimer, Clock, Timestamp};

/// Sleeps by blocking the thread: the timer of sync functions.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadTimer;

impl Clock for ThreadTimer {
    #[inline]
    fn now(&self) -> Timestamp {
        crate::process::virtual_now().unwrap_or_else(|| Instant::now().into())
    }

    #[inline]
    fn shared(&self) -> Timestamp {
        crate::process::now()
    }

    #[inline]
    fn carries_deadlines(&self) -> bool {
        cfg!(not(feature = "tokio"))
    }
}

impl BlockingTimer for ThreadTimer {
    #[inline]
    fn sleep(&self, duration: Duration) {
        if !crate::process::virtual_sleep(duration) {
            std::thread::sleep(duration);
        }
    }
}
