//! tokio's clock and timer; both stand still while tokio's time is paused.

use std::time::Duration;

use crate::process;

use super::{Clock, Timer, Timestamp};

/// Sleeps on tokio's timer: the timer of async functions.
///
/// # Panics
///
/// [`sleep`](Timer::sleep) panics outside a tokio runtime, or in one without
/// `enable_time`, as tokio's own does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tokio;

impl Clock for Tokio {
    #[inline]
    fn now(&self) -> Timestamp {
        process::tokio_now()
    }

    #[inline]
    fn shared(&self) -> Timestamp {
        process::now()
    }

    #[inline]
    fn carries_deadlines(&self) -> bool {
        !process::is_virtual()
    }

    // Its timer ends at whole milliseconds.
    #[inline]
    fn slack(&self) -> Duration {
        Duration::from_nanos(999_999)
    }
}

impl Timer for Tokio {
    type Sleep = tokio::time::Sleep;

    #[inline]
    fn sleep(&self, duration: Duration) -> Self::Sleep {
        tokio::time::sleep(duration)
    }
}
