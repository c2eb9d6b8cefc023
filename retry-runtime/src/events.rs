//! What happens in calls, for those who watch: observers, and the record of a test. Without such
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
    /// Tells calls apart.
    #[cfg(feature = "test-util")]
    call: usize,
    #[cfg(feature = "test-util")]
    came: Came,
    #[cfg(any(feature = "test-util", feature = "observe"))]
    attempt: u32,
    #[cfg(feature = "observe")]
    end: End,
}

#[cfg_attr(
    not(any(feature = "test-util", feature = "observe")),
    expect(
        clippy::unused_self,
        clippy::missing_const_for_fn,
        reason = "nobody watches"
    )
)]
impl Watch {
    /// Attempt number `attempt` of the call that keeps its progress in `call`.
    #[inline(always)]
    pub(crate) fn new<P>(call: &P, attempt: u32, came: Came) -> Self {
        #[cfg(not(any(feature = "test-util", feature = "observe")))]
        let _ = (attempt, came);
        #[cfg(not(feature = "test-util"))]
        let _ = call;
        Self {
            #[cfg(feature = "test-util")]
            call: core::ptr::from_ref(call).addr(),
            #[cfg(feature = "test-util")]
            came,
            #[cfg(any(feature = "test-util", feature = "observe"))]
            attempt,
            #[cfg(feature = "observe")]
            end: End::of(came),
        }
    }

    #[inline(always)]
    pub(crate) fn retries(self, operation: &Operation, delay: Duration) {
        #[cfg(not(any(feature = "test-util", feature = "observe")))]
        let _ = (operation, delay);
        #[cfg(feature = "test-util")]
        self.record(operation, What::Retry(self.came, delay));
        #[cfg(feature = "observe")]
        crate::observe::retries(operation, self.attempt, delay);
    }

    #[inline(always)]
    pub(crate) fn gives_up(self, operation: &Operation, reason: GaveUp) {
        #[cfg(not(any(feature = "test-util", feature = "observe")))]
        let _ = (operation, reason);
        #[cfg(feature = "test-util")]
        self.record(operation, What::GaveUp(self.came, reason));
        #[cfg(feature = "observe")]
        crate::observe::gives_up(operation, self.attempt, self.end, reason);
    }

    /// The retry that was told of does not start: there is no time for it, or retries were switched off meanwhile.
    pub(crate) fn ends_instead(self, operation: &Operation, reason: GaveUp) {
        #[cfg(any(feature = "test-util", feature = "observe"))]
        let last = Self {
            #[cfg(feature = "test-util")]
            came: Came::Last,
            #[cfg(feature = "observe")]
            end: End::Last,
            ..self
        };
        #[cfg(not(any(feature = "test-util", feature = "observe")))]
        let last = self;
        last.gives_up(operation, reason);
    }

    /// A success after a retry; one at once leaves no trace.
    #[inline(always)]
    pub(crate) fn succeeded<P>(call: &P, failures: u32) {
        #[cfg(feature = "test-util")]
        if failures > 0 {
            crate::testing::note(Event {
                call: core::ptr::from_ref(call).addr(),
                operation: "",
                attempt: failures.saturating_add(1),
                what: What::Succeeded,
            });
        }
        #[cfg(not(feature = "test-util"))]
        let _ = (call, failures);
    }

    #[cfg(feature = "test-util")]
    fn record(self, operation: &Operation, what: What) {
        crate::testing::note(Event {
            call: self.call,
            operation: operation.name(),
            attempt: self.attempt,
            what,
        });
    }
}

/// How the last attempt of a call ended, as far as observers do not know it from the loop.
#[cfg(feature = "observe")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The loop has noted what its error says of itself.
    Noted,
    CutOff,
    Last,
}

#[cfg(feature = "observe")]
impl End {
    #[inline(always)]
    const fn of(came: Came) -> Self {
        match came {
            Came::Failed(_) | Came::NotFinal | Came::TimedOut => Self::Noted,
            Came::CutOff => Self::CutOff,
            Came::Last => Self::Last,
        }
    }
}

#[cfg(feature = "test-util")]
pub(crate) use recorded::{Event, What};

/// What the record of a test is told.
#[cfg(feature = "test-util")]
mod recorded {
    use super::{Came, Duration, GaveUp};

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
}
