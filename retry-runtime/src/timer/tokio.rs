//! tokio's clock and timer; both stand still while tokio's time is paused.

use std::time::Duration;

use super::{Clock, Moment, Timer};

/// Sleeps on tokio's timer: the timer of async functions.
///
/// # Panics
///
/// [`sleep`](Timer::sleep) panics outside a tokio runtime, or in one without
/// `enable_time`, as tokio's own does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tokio;

impl Clock for Tokio {
    fn now(&self) -> Moment {
        tokio::time::Instant::now().into_std().into()
    }

    fn shared(&self) -> Moment {
        crate::ambient::now()
    }

    // Its timer ends at whole milliseconds.
    fn slack(&self) -> Duration {
        Duration::from_nanos(999_999)
    }

    // It is the clock by which deadlines travel, but for virtual time.
    #[cfg(not(feature = "test-util"))]
    fn travelling(&self, moment: Moment) -> Moment {
        moment
    }
}

impl Timer for Tokio {
    type Sleep = tokio::time::Sleep;

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        tokio::time::sleep(duration)
    }
}
