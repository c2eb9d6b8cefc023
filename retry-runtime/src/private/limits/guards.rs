//! The limits of one call together, and the order in which they are asked.

use core::time::Duration;

use super::gate::{Gate, Refuse, verdict_of};
use super::purse::Debit;
use super::{Limits, Pay, Question, Settle};
use crate::call::GaveUp;
use crate::events::Came;
use crate::operation::Operation;
use crate::timer::Clock;

#[derive(Debug)]
pub struct Guards<B, T, P> {
    breaker: B,
    throttle: T,
    purse: P,
}

// A call begins.
#[inline(always)]
pub fn guards<B: Gate, T: Gate, P: Pay>(
    breaker: B,
    throttle: T,
    purse: P,
    operation: &Operation,
    clock: &impl Clock,
) -> Guards<B, T, P> {
    let purse = purse.begun(operation, clock);
    Guards::new(breaker, throttle, purse)
}

impl<B, T, P> Guards<B, T, P> {
    #[inline(always)]
    pub(super) const fn new(breaker: B, throttle: T, purse: P) -> Self {
        Self {
            breaker,
            throttle,
            purse,
        }
    }
}

impl<B: Gate, T: Gate, P: Pay> Limits for Guards<B, T, P> {
    #[inline(always)]
    fn enter(&mut self, clock: &impl Clock) -> Result<Duration, GaveUp> {
        self.breaker.enter(clock)?;
        self.throttle.enter(clock)
    }

    fn still(&mut self, clock: &impl Clock) -> Duration {
        self.throttle.still(clock)
    }

    #[inline(always)]
    fn begin(&mut self, clock: &impl Clock) {
        if T::WAITS {
            self.breaker.begin(clock);
        }
        self.throttle.begin(clock);
        self.purse.spend();
    }

    #[inline(always)]
    fn failed(&mut self, operation: &Operation, came: Came, clock: &impl Clock) {
        if let Some(verdict) = verdict_of(came) {
            self.breaker.failed(verdict, clock);
            self.throttle.failed(verdict, clock);
            self.purse.failed(operation, verdict);
        } else if self.breaker.answered() | self.throttle.answered() {
            self.breaker.rest().settle(operation, clock);
            self.throttle.rest().settle(operation, clock);
        }
    }

    type Question = Asked<B::Asked, T::Asked, P::Asked>;

    #[inline(always)]
    fn question(&mut self, came: Came) -> Self::Question {
        Asked {
            breaker: self.breaker.asked(),
            throttle: self.throttle.asked(),
            purse: self.purse.asked(),
            came,
        }
    }

    #[inline(always)]
    fn take_back(&mut self, held: P::Asked) {
        self.purse.take_back(held);
    }

    fn pays(&mut self, operation: &Operation, clock: &impl Clock) -> bool {
        self.breaker.allows_copies() && self.purse.pays(operation, clock)
    }

    #[inline(always)]
    fn answered(&mut self, operation: &Operation) -> bool {
        self.breaker.answered() | self.throttle.answered() | self.purse.succeeded(operation)
    }

    type Rest = Unsettled<B::Rest, T::Rest, P::Rest>;

    #[inline(always)]
    fn rest(&mut self) -> Self::Rest {
        Unsettled {
            breaker: self.breaker.rest(),
            throttle: self.throttle.rest(),
            purse: self.purse.rest(),
        }
    }
}

#[derive(Debug)]
pub struct Asked<B, T, P> {
    breaker: B,
    throttle: T,
    purse: P,
    came: Came,
}

impl<B: Refuse, T: Refuse, P: Debit> Question for Asked<B, T, P> {
    type Held = P;

    fn afford(self, operation: &Operation, clock: &impl Clock) -> Result<P, GaveUp> {
        let Self {
            breaker,
            throttle,
            purse,
            came,
        } = self;
        breaker.refuses(clock)?;
        throttle.refuses(clock)?;
        // A value that is not final is no failure, so asking again is no retry.
        if matches!(came, Came::NotFinal) {
            return Ok(purse);
        }
        purse.afford(operation, came, clock).ok_or(GaveUp::Budget)
    }
}

#[derive(Debug)]
pub struct Unsettled<B, T, P> {
    breaker: B,
    throttle: T,
    purse: P,
}

impl<B: Settle, T: Settle, P: Settle> Settle for Unsettled<B, T, P> {
    fn settle(self, operation: &Operation, clock: &impl Clock) {
        self.breaker.settle(operation, clock);
        self.throttle.settle(operation, clock);
        self.purse.settle(operation, clock);
    }
}

// The limits of a call that has those of its policy only.
#[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
pub(crate) fn policy_limits(operation: &Operation, clock: &impl Clock) -> impl Limits {
    guards((), (), super::Purse::of(super::OfPolicy), operation, clock)
}
