//! What happens in calls, for those who watch: the record of a test. Without such
//! a feature there is nothing of it, not even arguments.

use core::time::Duration;

use crate::attempt::Cause;
use crate::call::GaveUp;
use crate::operation::Operation;
use crate::verdict::Verdict;

/// What a failed attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Came {
    Failed(Verdict),
    NotFinal,
    TimedOut,
    /// Cut off by the deadline.
    CutOff,
    /// Not followed by another, which the deadline left no time for.
    Last,
}

impl Came {
    #[inline(always)]
    pub(crate) const fn to<E: ?Sized>(cause: &Cause<'_, E>, verdict: Verdict) -> Self {
        match cause {
            Cause::Error(_) => Self::Failed(verdict),
            Cause::NotFinal => Self::NotFinal,
            Cause::TimedOut => Self::TimedOut,
        }
    }
}

/// An attempt that did not end its call with success, on its way to those who watch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch {
    #[cfg(feature = "test-util")]
    call: usize,
    #[cfg(feature = "test-util")]
    attempt: u32,
    #[cfg(feature = "test-util")]
    came: Came,
}

#[cfg(feature = "test-util")]
pub(crate) use watched::{Event, What};

#[cfg(feature = "test-util")]
mod watched {
    use super::{Came, Duration, GaveUp, Operation, Watch};

    /// Something that happened to a call.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Event {
        /// Tells calls apart that run at the same time; used again when a call is over.
        pub(crate) call: usize,
        /// The name of the operation; empty for a success, which is told apart by its call.
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
        /// The call ends with success, after at least one retry.
        Succeeded,
    }

    impl Watch {
        /// Attempt number `attempt` of the call that keeps its progress in `call`.
        pub(crate) fn new<P>(call: &P, attempt: u32, came: Came) -> Self {
            Self {
                call: core::ptr::from_ref(call).addr(),
                attempt,
                came,
            }
        }

        pub(crate) fn retries(self, operation: &Operation, delay: Duration) {
            self.tell(operation, What::Retry(self.came, delay));
        }

        pub(crate) fn gives_up(self, operation: &Operation, reason: GaveUp) {
            self.tell(operation, What::GaveUp(self.came, reason));
        }

        fn tell(self, operation: &Operation, what: What) {
            crate::testing::note(Event {
                call: self.call,
                operation: operation.name(),
                attempt: self.attempt,
                what,
            });
        }

        /// A success after a retry; one at once leaves no trace.
        pub(crate) fn succeeded<P>(call: &P, failures: u32) {
            if failures > 0 {
                crate::testing::note(Event {
                    call: core::ptr::from_ref(call).addr(),
                    operation: "",
                    attempt: failures.saturating_add(1),
                    what: What::Succeeded,
                });
            }
        }
    }
}

#[cfg(not(feature = "test-util"))]
#[expect(clippy::unused_self, reason = "nobody watches")]
impl Watch {
    #[inline(always)]
    pub(crate) const fn new<P>(_: &P, _: u32, _: Came) -> Self {
        Self {}
    }

    #[inline(always)]
    pub(crate) const fn retries(self, _: &Operation, _: Duration) {}

    #[inline(always)]
    pub(crate) const fn gives_up(self, _: &Operation, _: GaveUp) {}

    #[inline(always)]
    pub(crate) const fn succeeded<P>(_: &P, _: u32) {}
}
