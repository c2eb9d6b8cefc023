//! What `told` is where nobody watches: nothing.

use core::fmt;

use super::{Progress, Until};
use crate::attempt::Cause;
use crate::operation::Operation;
use crate::policy::Policy;
use crate::timer::Clock;

#[derive(Debug, Clone, Copy)]
pub struct Began;

impl Began {
    pub const UNKNOWN: Self = Self;

    #[inline(always)]
    pub const fn start(_: &Policy) -> Self {
        Self
    }

    #[inline(always)]
    pub const fn again() -> Self {
        Self
    }

    #[inline(always)]
    #[cfg(feature = "tower")]
    pub(crate) fn known(self, _: Self, _: Until, _: impl Clock) -> Self {
        self
    }

    #[inline(always)]
    #[must_use]
    pub(crate) fn attempt(self, _: impl Progress, _: Until, _: impl Clock) -> Self {
        self
    }
}

#[inline(always)]
pub fn note<E: ?Sized, W>(
    _: &impl Progress,
    _: &Operation,
    _: Began,
    _: Cause<'_, E>,
    _: impl FnOnce(&E) -> Option<W>,
) {
}

#[cfg(any(
    feature = "tower",
    feature = "reqwest-middleware04",
    feature = "reqwest-middleware05"
))]
#[inline(always)]
pub(crate) fn note_answer<R, E, W>(
    _: &impl Progress,
    _: &Operation,
    _: Began,
    _: &Result<R, E>,
    _: impl FnOnce(&Result<R, E>) -> Option<W>,
) {
}

#[inline(always)]
pub fn recovered<R>(answer: R, _: &impl Progress, _: &Operation, _: Began) -> R {
    answer
}

pub(crate) fn words(_: Option<&dyn fmt::Display>) -> Option<()> {
    None
}
