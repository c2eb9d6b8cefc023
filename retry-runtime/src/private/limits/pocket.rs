//! A budget that pays: it is debited before the wait, and what was not spent when the call ends goes back.

#[cfg(feature = "tower")]
use core::time::Duration;

#[cfg(feature = "tower")]
use super::gate::verdict_of;
use super::purse::Debit;
#[cfg(feature = "tower")]
use super::{Limits, Question};
use super::{Pay, Settle};
use crate::budget::{Budget, Class, Paid, Reservation};
#[cfg(feature = "tower")]
use crate::call::GaveUp;
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
    pub(crate) const NOTHING: Self = Self(Paid::NOTHING);

    // A call begins. Out of line: one without a budget has no register to spare for it.
    #[inline(never)]
    pub(crate) fn begin(operation: &Operation, clock: &impl Clock) {
        if let Some(budget) = operation.policy().budget {
            budget.begin(clock);
        }
    }

    // The retry begins.
    #[inline(always)]
    pub(crate) fn spend(reserved: Option<Reservation<'static>>) -> Self {
        Self(reserved.map_or(Paid::NOTHING, Reservation::spend))
    }

    #[inline(always)]
    pub(crate) fn succeeded(self, operation: &Operation, clock: &impl Clock) {
        if let Some(budget) = operation.policy().budget
            && budget.succeeded()
        {
            budget.settle(self.0, clock);
        }
    }
}

// The limits of such a call: what its policy says pays for retries.
#[cfg(feature = "tower")]
#[derive(Debug, Default)]
pub(crate) struct Debits {
    is_refused: bool,
    reserved: Option<Reservation<'static>>,
}

#[cfg(feature = "tower")]
impl Debits {
    pub(crate) fn into_reserved(self) -> Option<Reservation<'static>> {
        self.reserved
    }
}

#[cfg(feature = "tower")]
#[derive(Debug)]
pub(crate) struct Price {
    is_refused: bool,
    class: Class,
}

#[cfg(feature = "tower")]
impl Question for Price {
    type Held = Option<Reservation<'static>>;

    #[inline(always)]
    fn afford(self, operation: &Operation, clock: &impl Clock) -> Result<Self::Held, GaveUp> {
        let Some(budget) = operation.policy().budget else {
            return Ok(None);
        };
        if self.is_refused {
            return Err(GaveUp::Budget);
        }
        let reserved = budget.reserve(self.class, clock);
        reserved.map(Some).ok_or(GaveUp::Budget)
    }
}

#[cfg(feature = "tower")]
impl Limits for Debits {
    type Question = Price;

    type Rest = ();

    fn enter(&mut self, _: &impl Clock) -> Result<Duration, GaveUp> {
        Ok(Duration::ZERO)
    }

    fn still(&mut self, _: &impl Clock) -> Duration {
        Duration::ZERO
    }

    fn begin(&mut self, _: &impl Clock) {}

    #[inline(always)]
    fn failed(&mut self, operation: &Operation, came: Came, _: &impl Clock) {
        if let (Some(budget), Some(verdict)) = (operation.policy().budget, verdict_of(came)) {
            self.is_refused = !budget.note(verdict);
        }
    }

    #[inline(always)]
    fn question(&mut self, came: Came) -> Price {
        Price {
            is_refused: self.is_refused,
            class: class_of(came),
        }
    }

    #[inline(always)]
    fn take_back(&mut self, held: Option<Reservation<'static>>) {
        self.reserved = held;
    }

    // No copies are made of what a service does.
    fn pays(&mut self, _: &Operation, _: &impl Clock) -> bool {
        true
    }

    fn answered(&mut self, _: &Operation) -> bool {
        false
    }

    fn rest(&mut self) {}
}
