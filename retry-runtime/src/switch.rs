//! The kill switch: one byte, which every call reads after a failure.

use core::sync::atomic::{AtomicU8, Ordering};

/// By a call of `config::stop_retries`.
pub const BY_CALL: u8 = 1;
/// By `enabled = false` in the configuration.
pub const BY_FILE: u8 = 2;

/// Who has switched retries off: nobody, as a rule.
static OFF: AtomicU8 = AtomicU8::new(0);

/// Returns whether anything is retried.
#[inline(always)]
pub fn are_retries_on() -> bool {
    OFF.load(Ordering::Relaxed) == 0
}

/// Switches retries off or on by one of the constants. Returns whether they are on now, where that has changed.
pub fn switch(by: u8, on: bool) -> Option<bool> {
    if on {
        (OFF.fetch_and(!by, Ordering::Relaxed) == by).then_some(true)
    } else {
        (OFF.fetch_or(by, Ordering::Relaxed) == 0).then_some(false)
    }
}
