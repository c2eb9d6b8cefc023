//! What pays for retries, and whether anything has to: a constant policy without a budget keeps nothing for it.

use super::Settle;
use crate::events::Came;
use crate::operation::Operation;
use crate::timer::Clock;
use crate::verdict::Verdict;

pub trait Pay {
    // A call begins. Made anew behind it, where nothing can panic, it lies where it stays.
    #[must_use]
    fn begun(self, operation: &Operation, clock: &impl Clock) -> Self;

    fn failed(&mut self, operation: &Operation, verdict: Verdict);

    // Debits the price of a retry, if there is enough; asked with what is held, which comes back.
    type Asked: Debit;

    fn asked(&mut self) -> Self::Asked;

    fn take_back(&mut self, held: Self::Asked);

    // The retry begins: what was debited is spent.
    fn spend(&mut self);

    // The price of a copy, which begins at once.
    fn pays(&mut self, operation: &Operation, clock: &impl Clock) -> bool;

    // The call succeeded; whether there is more to do about it.
    fn succeeded(&mut self, operation: &Operation) -> bool;

    // That.
    type Rest: Settle;

    fn rest(&mut self) -> Self::Rest;
}

pub trait Debit: Sized {
    fn afford(self, operation: &Operation, came: Came, clock: &impl Clock) -> Option<Self>;
}

impl Debit for () {
    #[inline(always)]
    fn afford(self, _: &Operation, _: Came, _: &impl Clock) -> Option<()> {
        Some(())
    }
}

impl Pay for () {
    type Asked = ();

    type Rest = ();

    #[inline(always)]
    fn begun(self, _: &Operation, _: &impl Clock) {}

    #[inline(always)]
    fn failed(&mut self, _: &Operation, _: Verdict) {}

    #[inline(always)]
    fn asked(&mut self) {}

    #[inline(always)]
    fn take_back(&mut self, (): ()) {}

    #[inline(always)]
    fn spend(&mut self) {}

    #[inline(always)]
    fn pays(&mut self, _: &Operation, _: &impl Clock) -> bool {
        true
    }

    #[inline(always)]
    fn succeeded(&mut self, _: &Operation) -> bool {
        false
    }

    #[inline(always)]
    fn rest(&mut self) {}
}

// A budget that may not be there, which one test tells.
#[cfg(feature = "config")]
impl<P: Pay> Pay for Option<P> {
    type Asked = Option<P::Asked>;

    type Rest = Option<P::Rest>;

    #[inline(always)]
    fn begun(self, operation: &Operation, clock: &impl Clock) -> Self {
        self.map(|purse| purse.begun(operation, clock))
    }

    #[inline(always)]
    fn failed(&mut self, operation: &Operation, verdict: Verdict) {
        if let Some(purse) = self {
            purse.failed(operation, verdict);
        }
    }

    #[inline(always)]
    fn asked(&mut self) -> Self::Asked {
        self.as_mut().map(P::asked)
    }

    #[inline(always)]
    fn take_back(&mut self, held: Self::Asked) {
        if let (Some(purse), Some(held)) = (self, held) {
            purse.take_back(held);
        }
    }

    #[inline(always)]
    fn spend(&mut self) {
        if let Some(purse) = self {
            purse.spend();
        }
    }

    #[inline(always)]
    fn pays(&mut self, operation: &Operation, clock: &impl Clock) -> bool {
        self.as_mut()
            .is_none_or(|purse| purse.pays(operation, clock))
    }

    #[inline(always)]
    fn succeeded(&mut self, operation: &Operation) -> bool {
        self.as_mut()
            .is_some_and(|purse| purse.succeeded(operation))
    }

    #[inline(always)]
    fn rest(&mut self) -> Self::Rest {
        self.as_mut().map(P::rest)
    }
}

#[cfg(feature = "config")]
impl<D: Debit> Debit for Option<D> {
    #[inline(always)]
    fn afford(self, operation: &Operation, came: Came, clock: &impl Clock) -> Option<Self> {
        match self {
            Some(purse) => purse.afford(operation, came, clock).map(Some),
            None => Some(None),
        }
    }
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
