//! Retries inside retries, without threads: every call stands alone.

use core::marker::PhantomData;

use super::Call;

impl Call {
    #[expect(clippy::unused_self, reason = "there is nothing to take over")]
    pub(crate) const fn take_marks(&mut self, _: u32) {}
}

/// An attempt of a call, which no other sees.
#[must_use = "as with threads"]
#[derive(Debug)]
pub(crate) struct AttemptMarks<'c>(PhantomData<&'c mut Call>);

impl<'c> AttemptMarks<'c> {
    pub(crate) const fn new(_: &'c mut Call, _: bool) -> Self {
        Self(PhantomData)
    }
}
