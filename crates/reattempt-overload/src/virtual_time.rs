//! The clock of a test: that of its thread stands still unless it is moved.

use std::cell::Cell;
use std::time::Duration;

use reattempt_core::Timestamp;
use reattempt_core::process::{self, TimeSource};

thread_local! {
    static NOW: Cell<Option<Timestamp>> = const { Cell::new(None) };
}

pub(crate) struct VirtualTime;

/// Stops the clock of this thread.
pub(crate) fn virtual_time() -> VirtualTime {
    process::set_time_source(TimeSource {
        now: || NOW.get(),
        sleep: |_| false,
    });
    NOW.set(Some(process::now()));
    VirtualTime
}

impl VirtualTime {
    #[expect(clippy::unused_self, reason = "time is virtual while there is one")]
    pub(crate) fn advance(&self, duration: Duration) {
        NOW.set(NOW.get().map(|now| now.after(duration)));
    }
}

impl Drop for VirtualTime {
    fn drop(&mut self) {
        NOW.set(None);
    }
}
