//! The kill switch: two bits of the word that every call reads after a failure.

use reattempt_core::watch;

/// By a call of `config::stop_retries`.
pub const BY_CALL: u32 = watch::OFF_BY_CALL;
/// By `enabled = false` in the configuration.
pub const BY_FILE: u32 = watch::OFF_BY_FILE;

/// Returns whether anything is retried.
#[inline(always)]
pub fn are_retries_on() -> bool {
    !watch::has_any(watch::OFF)
}

/// Switches retries off or on by one of the constants. Returns whether they are on now, where that has changed.
pub fn switch(by: u32, on: bool) -> Option<bool> {
    if on {
        (watch::clear(by) & watch::OFF == by).then_some(true)
    } else {
        (watch::set(by) & watch::OFF == 0).then_some(false)
    }
}
