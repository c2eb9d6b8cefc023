//! The kill switch: whether anything is retried at all.

use std::sync::atomic::{AtomicU8, Ordering};

/// By [`stop_retries`].
const BY_CALL: u8 = 1;
/// By `enabled = false` in the configuration.
const BY_FILE: u8 = 2;

/// Who has switched retries off: nobody, as a rule.
static OFF: AtomicU8 = AtomicU8::new(0);

/// Switches all retries of the process off, until [`resume_retries`].
///
/// After a failure no retry is admitted: the call ends with its error, and its reason is
/// [`GiveUpReason::Disabled`](crate::GiveUpReason::Disabled). Calls that wait for their next attempt when this is called
/// end with their error at the end of the wait; an async call whose error cannot be sent between
/// threads, or that is run by `Policy::run_async`, has not kept it and makes
/// that one attempt.
///
/// It holds for all calls: constant policies, blocks, [`Runner`](crate::Runner), layers and middleware.
///
/// # Examples
///
/// ```
/// use reattempt::{Policy, config};
/// use std::io::{Error, ErrorKind};
///
/// config::stop_retries();
/// let mut calls = 0;
/// let answer: Result<(), Error> = Policy::new().run(|| {
///     calls += 1;
///     Err(ErrorKind::TimedOut.into())
/// });
/// assert!(answer.is_err());
/// assert_eq!(calls, 1);
/// config::resume_retries();
/// ```
pub fn stop_retries() {
    if OFF.fetch_or(BY_CALL, Ordering::Relaxed) == 0 {
        tell(false);
    }
}

/// Takes [`stop_retries`] back; what the configuration says stays.
pub fn resume_retries() {
    if OFF.fetch_and(!BY_CALL, Ordering::Relaxed) == BY_CALL {
        tell(true);
    }
}

/// Whether anything is retried: not after [`stop_retries`], nor while the configuration says
/// `enabled = false`.
pub fn are_retries_on() -> bool {
    OFF.load(Ordering::Relaxed) == 0
}

/// What the configuration says: whether retries are on now, where that has changed.
pub(super) fn set_by_file(is_enabled: bool) -> Option<bool> {
    if is_enabled {
        (OFF.fetch_and(!BY_FILE, Ordering::Relaxed) == BY_FILE).then_some(true)
    } else {
        (OFF.fetch_or(BY_FILE, Ordering::Relaxed) == 0).then_some(false)
    }
}

/// Told to observers, where no lock is held.
pub(super) fn tell(on: bool) {
    #[cfg(feature = "observe")]
    reattempt_observe::report(&reattempt_observe::Event::RetriesSwitched { on });
    #[cfg(not(feature = "observe"))]
    let _ = on;
}
