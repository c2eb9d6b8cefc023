//! What happens in calls, for those who watch: the record of a test. Without such
//! a feature there is nothing of it.

use core::time::Duration;

use crate::attempt::Cause;
use crate::call::GaveUp;
use crate::verdict::Verdict;

/// Something that happened to a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    /// Tells calls apart that run at the same time; used again when a call is over.
    pub(crate) call: usize,
    /// The name of the operation.
    pub(crate) operation: &'static str,
    /// The attempt that has just ended, from 1.
    pub(crate) attempt: u32,
    /// What it came to, and what follows.
    pub(crate) what: What,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    /// Another attempt follows after a delay.
    Retry(Came, Duration),
    /// The call ends without success.
    GaveUp(Came, GaveUp),
    /// The call ends with success.
    Succeeded,
}

/// What a failed attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Came {
    Failed(Verdict),
    NotFinal,
    TimedOut,
    /// Cut off by the deadline, or not started because of it.
    CutOff,
}

impl Came {
    pub(crate) const fn to<E: ?Sized>(cause: &Cause<'_, E>, verdict: Verdict) -> Self {
        match cause {
            Cause::Error(_) => Self::Failed(verdict),
            Cause::NotFinal => Self::NotFinal,
            Cause::TimedOut => Self::TimedOut,
        }
    }
}

/// Tells everybody who watches.
pub(crate) fn tell(event: Event) {
    crate::testing::note(event);
}
