//! The slot for the record of a test, which `testing` of the facade fills when a test first asks
//! for one.

use core::time::Duration;
#[cfg(feature = "std")]
use std::sync::OnceLock;

use super::result::{AttemptResult, Ending};
use crate::call::GiveUpReason;
#[cfg(feature = "std")]
use reattempt_core::watch;

#[cfg(feature = "std")]
static RECORDER: OnceLock<fn(CallEvent)> = OnceLock::new();

/// Something that happened to a call after a failure.
#[derive(Debug, Clone, Copy)]
pub struct CallEvent {
    /// Identifies the call among those that run at the same time. Another call may have the same
    /// number later.
    pub call: usize,
    /// The name of the operation; empty for a success.
    pub operation: &'static str,
    /// The number of the attempt before it; 0 for the first of a call.
    pub before: u32,
    /// The attempt that has just ended, from 1.
    pub attempt: u32,
    /// The result of the attempt, and what follows.
    pub step: CallStep,
}

/// What follows an attempt.
#[derive(Debug, Clone, Copy)]
pub enum CallStep {
    /// Another attempt follows after a delay.
    Retry(AttemptResult, Duration),
    /// The call ends without success.
    GaveUp(Ending, GiveUpReason),
    /// The call ends with success, after at least one retry.
    Succeeded,
    /// The copy with this number, from 1, was started beside the attempt that runs.
    CopyStarted(u32),
    /// The attempt has an answer after copies were started: that of the attempt itself (0) or of the
    /// copy with this number. The flag says whether it is a success.
    CopyWon(u32, bool),
}

/// Sets the function that records each event, on the thread where it happens. The first one stays.
#[cfg(feature = "std")]
pub fn set_recorder(recorder: fn(CallEvent)) {
    if RECORDER.set(recorder).is_ok() {
        // After the slot is filled, so that a thread that sees the bit finds a recorder.
        watch::set(watch::RECORDER);
    }
}

/// Records the event that `event` returns, where a recorder is set: without `std` there is none.
pub(super) fn record(event: impl FnOnce() -> CallEvent) {
    #[cfg(not(feature = "std"))]
    let _ = event;
    #[cfg(feature = "std")]
    if let Some(recorder) = RECORDER.get() {
        recorder(event());
    }
}
