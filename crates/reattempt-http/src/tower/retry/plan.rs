//! What all calls of a service share.

use retry_runtime::Cause;
use retry_runtime::driver::{CallContext, Describe, Described, ErrorText, Until};

use super::classifier::JudgeAnswer;
use crate::operation::ClientOperation;

/// How the calls of a service are retried.
pub(super) struct Plan<J, C, O, T, L> {
    pub(super) operation: ClientOperation,
    pub(super) judge: J,
    pub(super) cloner: C,
    pub(super) hook: O,
    pub(super) timer: T,
    pub(super) ends: L,
}

impl<J, C, O, T, L> Plan<J, C, O, T, L> {
    /// Returns the context of a call that ends at `until`.
    #[inline(always)]
    pub(super) fn context(&self, until: Until) -> CallContext<'_, T> {
        CallContext::of(self.operation.operation(), until, &self.timer)
    }

    /// Returns a failed answer, as the judge describes it.
    pub(super) fn failure<'a, Req, Res, E>(
        &'a self,
        answer: &'a Result<Res, E>,
    ) -> Described<'a, Result<Res, E>, impl Describe<Result<Res, E>>>
    where
        J: JudgeAnswer<Req, Res, E>,
    {
        Described::new(
            Cause::Error(answer),
            |answer| ErrorText::of_answer(answer, || self.judge.message(answer)),
            |answer, code| self.judge.has_code(answer, code),
        )
    }
}
