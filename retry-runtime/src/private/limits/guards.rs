//! The limits of one call together, and the order in which they are asked.

use core::time::Duration;

use super::gate::{Gate, verdict_of};
use super::{Limits, Pay, Question};
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

#[cfg(feature = "tower")]
impl<P> Guards<(), (), P> {
    pub(super) fn into_purse(self) -> P {
        self.purse
    }
}

impl<B: Gate, T: Gate, P: Pay> Limits for Guards<B, T, P> {
    #[inline(always)]
    fn enter(&mut self, clock: &impl Clock) -> Result<Duration, GaveUp> {
        self.breaker.enter(clock)?;
        self.throttle.enter(clock)
    }

    #[inline(always)]
    fn begin(&mut self) {
        self.breaker.begin();
        self.throttle.begin();
        self.purse.spend();
    }

    #[inline(always)]
    fn failed(&mut self, operation: &Operation, came: Came, clock: &impl Clock) {
        if let Some(verdict) = verdict_of(came) {
            self.breaker.failed(verdict, clock);
            self.throttle.failed(verdict, clock);
            self.purse.failed(operation, verdict);
        } else {
            self.breaker.answered(clock);
            self.throttle.answered(clock);
        }
    }

    type Question<'q>
        = Asked<'q, Self>
    where
        Self: 'q;

    #[inline(always)]
    fn question(&mut self, came: Came) -> Asked<'_, Self> {
        Asked { guards: self, came }
    }

    fn pays(&mut self, operation: &Operation, clock: &impl Clock) -> bool {
        self.purse.pays(operation, clock)
    }

    #[inline(always)]
    fn answered(&mut self, operation: &Operation, clock: &impl Clock) {
        self.breaker.answered(clock);
        self.throttle.answered(clock);
        self.purse.succeeded(operation, clock);
    }
}

#[derive(Debug)]
pub struct Asked<'q, G> {
    guards: &'q mut G,
    came: Came,
}

impl<B: Gate, T: Gate, P: Pay> Question for Asked<'_, Guards<B, T, P>> {
    #[inline(always)]
    fn afford(self, operation: &Operation, clock: &impl Clock) -> Result<(), GaveUp> {
        let Self { guards, came } = self;
        guards.breaker.refuses(clock)?;
        guards.throttle.refuses(clock)?;
        // A value that is not final is no failure, so asking again is no retry.
        if matches!(came, Came::NotFinal) || guards.purse.afford(operation, came, clock) {
            Ok(())
        } else {
            Err(GaveUp::Budget)
        }
    }
}

// The limits of a call that has those of its policy only.
#[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
pub(crate) fn policy_limits(operation: &Operation, clock: &impl Clock) -> impl Limits {
    guards((), (), super::Purse::of(super::OfPolicy), operation, clock)
}
