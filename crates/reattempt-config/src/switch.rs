//! The kill switch: whether anything is retried at all.

use retry_runtime::slots::{self, BY_CALL, BY_FILE};

/// Switches all retries of the process off, until [`resume_retries`].
///
/// After a failure no retry is admitted: the call ends with its error, and its reason is
/// [`GiveUpReason::Disabled`](retry_runtime::GiveUpReason::Disabled). Calls that wait for their next attempt when this is called
/// end with their error at the end of the wait; an async call whose error cannot be sent between
/// threads, or that is run by `Policy::run_async`, has not kept it and makes
/// that one attempt.
///
/// It holds for all calls: constant policies, blocks, [`Runner`](retry_runtime::Runner), layers and middleware.
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
    if let Some(on) = slots::switch(BY_CALL, false) {
        report(on);
    }
}

/// Takes [`stop_retries`] back; what the configuration says stays.
pub fn resume_retries() {
    if let Some(on) = slots::switch(BY_CALL, true) {
        report(on);
    }
}

/// Returns whether anything is retried: not after [`stop_retries`], nor while the configuration
/// says `enabled = false`.
pub fn are_retries_on() -> bool {
    slots::are_retries_on()
}

/// What the configuration says: whether retries are on now, where that has changed.
pub(super) fn set_by_file(is_enabled: bool) -> Option<bool> {
    slots::switch(BY_FILE, is_enabled)
}

/// Reports it to observers, where no lock is held.
pub(super) fn report(on: bool) {
    #[cfg(feature = "observe")]
    reattempt_observe::report(&reattempt_observe::Event::RetriesSwitched { on });
    #[cfg(not(feature = "observe"))]
    let _ = on;
}
