//! What a call has come to, where that counts.

use crate::ambient::{Retrying, Shrunk};
use crate::call::Call;
use crate::operation::Operation;
use crate::private::{Began, Split, Until, inside, recovered, succeeded};
use crate::timer::Timer;

/// How often it failed, and since when it runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Course {
    pub(super) call: Call,
    pub(super) call_began: Began,
    /// The attempt.
    pub(super) began: Began,
    pub(super) until: Until,
}

impl Course {
    // Out of line: where nothing counts, nothing of it lies in registers.
    #[cold]
    #[inline(never)]
    pub(super) fn begin(operation: &Operation, timer: &impl Timer) -> Self {
        Split::begin(operation, timer);
        let began = Began::start(operation.policy());
        Self {
            call_began: began,
            began,
            until: Until::start(operation.policy(), timer),
            ..Self::late()
        }
    }

    /// Of a call that failed before anything but its budget counted.
    #[inline(always)]
    pub(super) const fn late() -> Self {
        Self {
            call: Call::new(),
            call_began: Began::UNKNOWN,
            began: Began::UNKNOWN,
            until: Until::NEVER,
        }
    }

    /// Until this is dropped, what runs sees that it is part of an attempt. A first one without a deadline has nothing
    /// to see.
    #[inline(always)]
    #[must_use = "dropped at once it changes nothing"]
    pub(super) fn inside(&self, timer: &impl Timer) -> (Option<Retrying>, Option<Shrunk>) {
        if self.until.is_never() {
            let failures = self.call.failures();
            return ((failures > 0).then(|| Retrying::after(failures)), None);
        }
        self.inside_deadline(timer)
    }

    #[inline(never)]
    fn inside_deadline(&self, timer: &impl Timer) -> (Option<Retrying>, Option<Shrunk>) {
        let (retrying, shrunk) = inside(self.call.failures(), self.until, false, timer);
        (retrying, Some(shrunk))
    }

    /// An answer on its way out.
    #[inline(always)]
    pub(super) fn succeeded<A, E>(
        &self,
        answer: Result<A, E>,
        operation: &Operation,
        timer: &impl Timer,
    ) -> Result<A, E> {
        let began = self.began.known(self.call_began, self.until, timer);
        let answer = recovered(answer, &self.call, operation, began);
        succeeded(answer, &self.call)
    }
}
