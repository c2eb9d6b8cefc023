//! A budget that pays: it is debited before the wait, and what was not spent when the call ends goes back.

use super::purse::Debit;
use super::{Pay, Settle};
use crate::budget::{Budget, Class, Paid, Reservation};
use crate::events::Came;
use crate::operation::Operation;
use crate::timer::Clock;
use crate::verdict::Verdict;

// Where the budget is found.
pub trait Source<'b>: Copy {
    fn budget(self, operation: &Operation) -> Option<&'b Budget>;
}

// In the policy, so that a future need not keep it.
#[derive(Debug, Clone, Copy)]
pub struct OfPolicy;

impl Source<'static> for OfPolicy {
    #[inline(always)]
    fn budget(self, operation: &Operation) -> Option<&'static Budget> {
        operation.policy().budget
    }
}

// Lent to the call.
impl<'b> Source<'b> for &'b Budget {
    #[inline(always)]
    fn budget(self, _: &Operation) -> Option<&'b Budget> {
        Some(self)
    }
}

// Lent, or else in the policy.
impl<'b> Source<'b> for Option<&'b Budget> {
    #[inline(always)]
    fn budget(self, operation: &Operation) -> Option<&'b Budget> {
        self.or(operation.policy().budget)
    }
}

#[derive(Debug)]
pub struct Purse<'b, S> {
    source: S,
    reserved: Option<Reservation<'b>>,
    // For the last retry.
    paid: Paid,
    // By the last failure.
    allowed: bool,
}

impl<S> Purse<'_, S> {
    #[inline(always)]
    pub(crate) const fn of(source: S) -> Self {
        Self {
            source,
            reserved: None,
            paid: Paid::NOTHING,
            allowed: true,
        }
    }
}

#[inline(always)]
pub const fn paying(budget: &Budget) -> Purse<'_, &Budget> {
    Purse::of(budget)
}

impl<'b, S: Source<'b>> Pay for Purse<'b, S> {
    #[inline(always)]
    fn begun(self, operation: &Operation, clock: &impl Clock) -> Self {
        let Self {
            source, reserved, ..
        } = self;
        drop(reserved); // nothing yet
        if let Some(budget) = source.budget(operation) {
            budget.begin(clock);
        }
        Self::of(source)
    }

    #[inline(always)]
    fn failed(&mut self, operation: &Operation, verdict: Verdict) {
        if let Some(budget) = self.source.budget(operation) {
            self.allowed = budget.note(verdict);
        }
    }

    type Asked = Self;

    #[inline(always)]
    fn asked(&mut self) -> Self {
        core::mem::replace(self, Self::of(self.source))
    }

    #[inline(always)]
    fn take_back(&mut self, held: Self) {
        *self = held;
    }

    #[inline(always)]
    fn spend(&mut self) {
        if let Some(reserved) = self.reserved.take() {
            self.paid = reserved.spend();
        }
    }

    fn pays(&mut self, operation: &Operation, clock: &impl Clock) -> bool {
        let Some(budget) = self.source.budget(operation) else {
            return true;
        };
        budget.pays_for_copy_by(clock)
    }

    #[inline(always)]
    fn succeeded(&mut self, operation: &Operation) -> bool {
        match self.source.budget(operation) {
            Some(budget) => budget.succeeded(),
            None => false,
        }
    }

    type Rest = Paying<S>;

    #[inline(always)]
    fn rest(&mut self) -> Paying<S> {
        Paying {
            source: self.source,
            paid: self.paid,
        }
    }
}

impl<'b, S: Source<'b>> Debit for Purse<'b, S> {
    fn afford(mut self, operation: &Operation, came: Came, clock: &impl Clock) -> Option<Self> {
        let Some(budget) = self.source.budget(operation) else {
            return Some(self);
        };
        if !self.allowed {
            return None;
        }
        self.reserved = Some(budget.reserve(class_of(came), clock)?);
        Some(self)
    }
}

// What a success knows of the retry before it.
#[derive(Debug)]
pub struct Paying<S> {
    source: S,
    paid: Paid,
}

impl<'b, S: Source<'b>> Settle for Paying<S> {
    fn settle(self, operation: &Operation, clock: &impl Clock) {
        if let Some(budget) = self.source.budget(operation) {
            budget.settle(self.paid, clock);
        }
    }
}

const fn class_of(came: Came) -> Class {
    match came {
        Came::TimedOut | Came::CutOff => Class::TimedOut,
        Came::Failed(verdict) => Class::of(verdict),
        Came::NotFinal | Came::Last => Class::Failed,
    }
}

// The same in parts, for a future that holds a reservation only between two attempts.
#[cfg(feature = "tower")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Split(Paid);

#[cfg(feature = "tower")]
impl Split {
    #[inline(always)]
    pub(crate) fn begin(operation: &Operation, clock: &impl Clock) -> Self {
        if let Some(budget) = operation.policy().budget {
            begin(budget, clock);
        }
        Self(Paid::NOTHING)
    }

    // For the step after a failure; what it debits is then taken out of it.
    pub(crate) const fn limits() -> super::Guards<(), (), Purse<'static, OfPolicy>> {
        super::Guards::new((), (), Purse::of(OfPolicy))
    }

    pub(crate) fn spend(&mut self, reserved: Option<Reservation<'static>>) {
        if let Some(reserved) = reserved {
            self.0 = reserved.spend();
        }
    }

    #[inline(always)]
    pub(crate) fn succeeded(self, operation: &Operation, clock: &impl Clock) {
        if let Some(budget) = operation.policy().budget {
            settle(budget, self.0, clock);
        }
    }
}

// Out of line: a call without a budget has no register to spare for them.
#[cfg(feature = "tower")]
#[inline(never)]
fn begin(budget: &Budget, clock: &impl Clock) {
    budget.begin(clock);
}

#[cfg(feature = "tower")]
#[inline(never)]
fn settle(budget: &Budget, paid: Paid, clock: &impl Clock) {
    if budget.succeeded() {
        budget.settle(paid, clock);
    }
}

#[cfg(feature = "tower")]
impl super::Guards<(), (), Purse<'static, OfPolicy>> {
    pub(crate) fn into_reserved(self) -> Option<Reservation<'static>> {
        self.into_purse().reserved
    }
}
