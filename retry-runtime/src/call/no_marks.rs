//! Retries inside retries, without threads: every call stands alone.

use super::Call;

/// What is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationId(pub(crate) u64);

pub(crate) const fn mark(_: OperationId) {}

pub(crate) const fn is_marked(_: OperationId) -> bool {
    false
}

pub(crate) const fn begin() -> u32 {
    0
}

pub(super) const fn began() -> u32 {
    0
}

impl Call {
    #[expect(clippy::unused_self, reason = "there is nothing to take over")]
    pub(crate) fn take_marks(&mut self, _: impl FnOnce() -> u32) {}
}

/// The marks of a call: none.
#[must_use = "as with threads"]
#[derive(Debug)]
pub(crate) struct VisibleMarks<'c>(core::marker::PhantomData<&'c mut Call>);

impl<'c> VisibleMarks<'c> {
    pub(crate) const fn new(_: &'c mut Call, _: bool) -> Self {
        Self(core::marker::PhantomData)
    }
}
