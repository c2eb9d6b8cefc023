//! tokio's clock and timer; both stand still while tokio's time is paused.

use std::time::Duration;
#[cfg(any(debug_assertions, feature = "test-util"))]
use std::time::Instant;

use super::{Clock, Timer, Timestamp};

/// Whether this thread is in its last moments, when its variables are dropped: tokio's paused clock cannot be read
/// any more then. Ours is dropped before that.
#[cfg(any(debug_assertions, feature = "test-util", feature = "observe"))]
pub(crate) fn is_over() -> bool {
    struct Alive;

    impl Drop for Alive {
        fn drop(&mut self) {}
    }

    thread_local!(static ALIVE: Alive = {
        let _made_before = tokio::time::Instant::now();
        Alive
    });
    ALIVE.try_with(|_| ()).is_err()
}

/// Sleeps on tokio's timer: the timer of async functions.
///
/// # Panics
///
/// [`sleep`](Timer::sleep) panics outside a tokio runtime, or in one without
/// `enable_time`, as tokio's own does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tokio;

impl Clock for Tokio {
    fn now(&self) -> Timestamp {
        // A paused clock is for tests: what is built for use need not ask.
        #[cfg(any(debug_assertions, feature = "test-util"))]
        if is_over() {
            return Instant::now().into();
        }
        tokio::time::Instant::now().into_std().into()
    }

    fn shared(&self) -> Timestamp {
        crate::ambient::now()
    }

    fn carries_deadlines(&self) -> bool {
        !crate::ambient::is_virtual()
    }

    // Its timer ends at whole milliseconds.
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
