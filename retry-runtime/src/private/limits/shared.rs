//! Breakers and throttles as gates, and who may lend one to a call.

use core::time::Duration;

use super::Gate;
use crate::breaker::{Breaker, Pass};
use crate::call::GaveUp;
use crate::throttle::{self, Throttle};
use crate::timer::{Clock, Moment};
use crate::verdict::Verdict;

#[derive(Debug)]
pub struct Breaking<'g> {
    breaker: &'g Breaker,
    pass: Pass,
}

impl Breaking<'_> {
    #[inline(always)]
    fn take(&mut self) -> Pass {
        core::mem::replace(&mut self.pass, Pass::NOTHING)
    }
}

impl Drop for Breaking<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.pass.is_probe() {
            self.breaker.give_back(self.pass);
        }
    }
}

impl Gate for Breaking<'_> {
    #[inline(always)]
    fn enter(&mut self, clock: &impl Clock) -> Result<Duration, GaveUp> {
        let pass = self.breaker.admit(&Counted(clock));
        self.pass = pass.map_err(|_| GaveUp::BreakerOpen)?;
        Ok(Duration::ZERO)
    }

    #[inline(always)]
    fn begin(&mut self) {}

    #[inline(always)]
    fn refuses(&self, clock: &impl Clock) -> Result<(), GaveUp> {
        if self.breaker.refuses_by(&Counted(clock)) {
            Err(GaveUp::BreakerOpen)
        } else {
            Ok(())
        }
    }

    #[inline(always)]
    fn answered(&mut self, clock: &impl Clock) {
        let pass = self.take();
        self.breaker.settle_success(pass, &Counted(clock));
    }

    #[inline(always)]
    fn failed(&mut self, verdict: Verdict, clock: &impl Clock) {
        let pass = self.take();
        if verdict.is_retryable() {
            self.breaker.settle_failure(pass, &Counted(clock));
        } else if pass.is_probe() {
            self.breaker.give_back(pass);
        }
    }
}

#[derive(Debug)]
pub struct Throttling<'g> {
    throttle: &'g Throttle,
    permit: Option<throttle::Permit<'g>>,
}

impl Gate for Throttling<'_> {
    #[inline(always)]
    fn enter(&mut self, clock: &impl Clock) -> Result<Duration, GaveUp> {
        let permit = self.throttle.permit_by(&Counted(clock));
        let permit = permit.map_err(|_| GaveUp::Throttle)?;
        let wait = permit.wait();
        self.permit = Some(permit);
        Ok(wait)
    }

    #[inline(always)]
    fn begin(&mut self) {
        if let Some(permit) = &mut self.permit {
            permit.spend();
        }
    }

    // It is asked when the attempt begins, with the numbers of then.
    #[inline(always)]
    fn refuses(&self, _: &impl Clock) -> Result<(), GaveUp> {
        Ok(())
    }

    #[inline(always)]
    fn answered(&mut self, clock: &impl Clock) {
        if let Some(permit) = self.permit.take() {
            permit.answered_by(&Counted(clock));
        }
    }

    #[inline(always)]
    fn failed(&mut self, verdict: Verdict, clock: &impl Clock) {
        if let Some(permit) = self.permit.take() {
            permit.failed_by(verdict, &Counted(clock));
        }
    }
}

#[inline(always)]
pub const fn breaking(breaker: &Breaker) -> Breaking<'_> {
    Breaking {
        breaker,
        pass: Pass::NOTHING,
    }
}

#[inline(always)]
pub const fn throttled(throttle: &Throttle) -> Throttling<'_> {
    Throttling {
        throttle,
        permit: None,
    }
}

// What calls share counts by a clock that all of them can read.
pub(super) struct Counted<'c, C>(pub(super) &'c C);

impl<C: Clock> Clock for Counted<'_, C> {
    #[inline(always)]
    fn now(&self) -> Moment {
        self.0.shared()
    }

    #[inline(always)]
    fn random(&self) -> u64 {
        self.0.random()
    }
}
