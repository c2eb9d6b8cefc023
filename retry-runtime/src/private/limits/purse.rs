//! What pays for retries, and whether anything has to: a constant policy without a budget keeps nothing for it.

use crate::events::Came;
use crate::operation::Operation;
use crate::timer::Clock;
use crate::verdict::Verdict;

pub trait Pay {
    // A call begins. Made anew behind it, where nothing can panic, it lies where it stays.
    #[must_use]
    fn begun(self, operation: &Operation, clock: &impl Clock) -> Self;

    fn failed(&mut self, operation: &Operation, verdict: Verdict);

    // Debits the price of a retry, if there is enough.
    fn afford(&mut self, operation: &Operation, came: Came, clock: &impl Clock) -> bool;

    // The retry begins: what was debited is spent.
    fn spend(&mut self);

    // The price of a copy, which begins at once.
    fn pays(&mut self, operation: &Operation, clock: &impl Clock) -> bool;

    fn succeeded(&mut self, operation: &Operation, clock: &impl Clock);
}

impl Pay for () {
    #[inline(always)]
    fn begun(self, _: &Operation, _: &impl Clock) {}

    #[inline(always)]
    fn failed(&mut self, _: &Operation, _: Verdict) {}

    #[inline(always)]
    fn afford(&mut self, _: &Operation, _: Came, _: &impl Clock) -> bool {
        true
    }

    #[inline(always)]
    fn spend(&mut self) {}

    #[inline(always)]
    fn pays(&mut self, _: &Operation, _: &impl Clock) -> bool {
        true
    }

    #[inline(always)]
    fn succeeded(&mut self, _: &Operation, _: &impl Clock) {}
}

// Whether a policy has a budget, as a type.
#[derive(Debug)]
pub struct IsBudgeted<const YES: bool>;

pub trait ByPolicy {
    type Purse: Pay;

    const PURSE: Self::Purse;
}

impl ByPolicy for IsBudgeted<false> {
    type Purse = ();

    const PURSE: () = ();
}

#[cfg(feature = "std")]
impl ByPolicy for IsBudgeted<true> {
    type Purse = super::Purse<'static, super::OfPolicy>;

    const PURSE: Self::Purse = super::Purse::of(super::OfPolicy);
}

// There are none.
#[cfg(not(feature = "std"))]
impl ByPolicy for IsBudgeted<true> {
    type Purse = ();

    const PURSE: () = ();
}
