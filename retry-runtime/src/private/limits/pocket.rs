//! A budget that pays: it is debited before the wait, and what was not spent when the call ends goes back.

use super::Pay;
use super::shared::Counted;
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
}

impl<S> Purse<'_, S> {
    #[inline(always)]
    pub(crate) const fn of(source: S) -> Self {
        Self {
            source,
            reserved: None,
            paid: Paid::NOTHING,
        }
    }
}

#[inline(always)]
pub const fn paying(budget: &Budget) -> Purse<'_, &Budget> {
    Purse::of(budget)
}

impl<'b, S: Source<'b>> Pay for Purse<'b, S> {
    #[inline(always)]
    fn begin(&mut self, operation: &Operation, clock: &impl Clock) {
        if let Some(budget) = self.source.budget(operation) {
            let _paid = budget.begin_by(&Counted(clock));
        }
    }

    #[inline(always)]
    fn failed(&self, operation: &Operation, verdict: Verdict) {
        if let Some(budget) = self.source.budget(operation) {
            budget.note(verdict);
        }
    }

    #[inline(always)]
    fn afford(&mut self, operation: &Operation, came: Came, clock: &impl Clock) -> bool {
        let Some(budget) = self.source.budget(operation) else {
            return true;
        };
        self.reserved = budget.reserve(class_of(came), &Counted(clock));
        self.reserved.is_some()
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
        let reserved = budget.reserve(Class::Failed, &Counted(clock));
        reserved.map(Reservation::spend).is_some()
    }

    #[inline(always)]
    fn succeeded(&mut self, operation: &Operation, clock: &impl Clock) {
        if let Some(budget) = self.source.budget(operation) {
            budget.settle_success(self.paid, &Counted(clock));
        }
    }
}

const fn class_of(came: Came) -> Class {
    match came {
        Came::TimedOut | Came::CutOff => Class::TimedOut,
        Came::Failed(Verdict::Throttled(_)) => Class::Throttled,
        Came::Failed(_) | Came::NotFinal | Came::Last => Class::Failed,
    }
}
