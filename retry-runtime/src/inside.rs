//! An attempt of a call, or one poll of it, that is a retry or has a deadline: what it calls sees both.

use crate::around::{DeadlineScope, RetryScope, on_shared_clock};
use crate::call::{AttemptMarks, Call};
use crate::timer::{Clock, Timestamp};

/// An attempt that ends at a deadline, until this is dropped: its call takes over what is marked meanwhile.
#[must_use = "dropped at once it changes nothing"]
#[derive(Debug)]
#[expect(dead_code, reason = "each puts back what it has set, in this order")]
pub(crate) struct AttemptScope<'c> {
    marks: AttemptMarks<'c>,
    retry: Option<RetryScope>,
    deadline: DeadlineScope,
}

impl<'c> AttemptScope<'c> {
    /// Begins an attempt of `call` that ends at `until`.
    #[inline(never)]
    pub(crate) fn new(
        call: &'c mut Call,
        until: Timestamp,
        is_enforced: bool,
        clock: &impl Clock,
    ) -> Self {
        let deadline = DeadlineScope::new(on_shared_clock(clock, until), is_enforced);
        let retries = call.retries();
        let retry = (retries > 0).then(|| RetryScope::new(retries));
        let marks = AttemptMarks::new(call, retry.is_some());
        Self {
            marks,
            retry,
            deadline,
        }
    }
}

/// Runs a retry, or one poll of it, which what it calls can see.
#[inline(always)]
pub(crate) fn retry_inside<R>(call: &mut Call, body: impl FnOnce() -> R) -> R {
    let retries = call.retries();
    // What asks again for a value that is not final is no retry: the one around it stays in view.
    let retry = (retries > 0).then(|| RetryScope::new(retries));
    let _marks = AttemptMarks::new(call, retry.is_some());
    body()
}
