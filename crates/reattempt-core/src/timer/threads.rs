//! The operating system's clock, and threads that sleep.

#[cfg(not(target_os = "unknown"))]
use std::time::Duration;

use crate::platform::Instant;

#[cfg(not(target_os = "unknown"))]
use super::BlockingTimer;
use super::{Clock, Timestamp};

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
        cfg!(not(all(feature = "tokio", not(target_os = "unknown"))))
    }
}

// In a browser no thread can sleep.
#[cfg(not(target_os = "unknown"))]
impl BlockingTimer for ThreadTimer {
    #[inline]
    fn sleep(&self, duration: Duration) {
        if !crate::process::virtual_sleep(duration) {
            std::thread::sleep(duration);
        }
    }
}
