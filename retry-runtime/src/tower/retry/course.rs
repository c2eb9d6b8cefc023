//! What a call has come to, where that counts.

use crate::call::Call;
use crate::operation::Operation;
use crate::private::{Began, Split, Until, inside, recovered, succeeded};
use crate::timer::Timer;

/// How often it failed, since when it runs, and what pays for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Course {
    pub(super) call: Call,
    pub(super) call_began: Began,
    /// The attempt.
    pub(super) began: Began,
    pub(super) until: Until,
    pub(super) payment: Split,
}

impl Course {
    // Out of line: where nothing counts, nothing of it lies in registers.
    #[cold]
    #[inline(never)]
    pub(super) fn begin(operation: &Operation, timer: &impl Timer) -> Self {
        let began = Began::start(operation.policy());
        Self {
            call: Call::new(),
            call_began: began,
            began,
            until: Until::start(operation.policy(), timer),
            payment: Split::begin(operation, timer),
        }
    }

    /// Runs what is part of an attempt where it sees that it is. A first attempt without a deadline has nothing to see.
    #[inline(always)]
    pub(super) fn told<A>(&self, timer: &impl Timer, part: impl FnOnce() -> A) -> A {
        if self.call.failures() == 0 && self.until.is_never() {
            return part();
        }
        self.telling(timer, part)
    }

    #[cold]
    #[inline(never)]
    fn telling<A>(&self, timer: &impl Timer, part: impl FnOnce() -> A) -> A {
        let _inside = inside(self.call.failures(), self.until, false, timer);
        part()
    }

    /// An answer on its way out.
    #[inline(always)]
    pub(super) fn succeeded<A, E>(
        &mut self,
        answer: Result<A, E>,
        operation: &Operation,
        timer: &impl Timer,
    ) -> Result<A, E> {
        self.payment.succeeded(operation, timer);
        let began = self.began.known(self.call_began, self.until, timer);
        let answer = recovered(answer, &self.call, operation, began);
        succeeded(answer, &self.call)
    }
}
