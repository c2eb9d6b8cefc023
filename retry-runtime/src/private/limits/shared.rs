//! Breakers and throttles as gates, and who may lend one to a call.

use core::ops::Deref;
use core::time::Duration;

use super::{Gate, Refuse, Settle};
use crate::breaker::{Breaker, Pass};
use crate::call::GaveUp;
use crate::operation::Operation;
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

impl Refuse for &Breaker {
    fn refuses(self, clock: &impl Clock) -> Result<(), GaveUp> {
        if self.refuses_by(&Counted(clock)) {
            Err(GaveUp::BreakerOpen)
        } else {
            Ok(())
        }
    }
}

impl Settle for Breaking<'_> {
    fn settle(mut self, _: &Operation, clock: &impl Clock) {
        let pass = self.take();
        self.breaker.settle_success(pass, &Counted(clock));
    }
}

impl<'g> Gate for Breaking<'g> {
    const WAITS: bool = false;

    type Asked = &'g Breaker;

    type Rest = Self;

    #[inline(always)]
    fn enter(&mut self, clock: &impl Clock) -> Result<Duration, GaveUp> {
        let pass = self.breaker.admit(&Counted(clock));
        self.pass = pass.map_err(|_| GaveUp::BreakerOpen)?;
        Ok(Duration::ZERO)
    }

    // The wait of a throttle is none of the attempt's time.
    #[inline(always)]
    fn begin(&mut self, clock: &impl Clock) {
        self.breaker.begin(&mut self.pass, &Counted(clock));
    }

    // One permit, one call.
    fn allows_copies(&self) -> bool {
        !self.pass.is_probe()
    }

    #[inline(always)]
    fn asked(&self) -> &'g Breaker {
        self.breaker
    }

    #[inline(always)]
    fn answered(&mut self) -> bool {
        let is_rare = self.breaker.succeeded(self.pass);
        if !is_rare {
            self.pass = Pass::NOTHING;
        }
        is_rare
    }

    #[inline(always)]
    fn rest(&mut self) -> Self {
        Self {
            breaker: self.breaker,
            pass: self.take(),
        }
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

#[derive(Debug)]
pub struct Taken<'g>(Option<throttle::Permit<'g>>);

impl Settle for Taken<'_> {
    fn settle(self, _: &Operation, clock: &impl Clock) {
        if let Some(permit) = self.0 {
            permit.succeeded_by(&Counted(clock));
        }
    }
}

impl<'g> Gate for Throttling<'g> {
    const WAITS: bool = true;

    // It is asked when the attempt begins, with the numbers of then.
    type Asked = ();

    type Rest = Taken<'g>;

    #[inline(always)]
    fn enter(&mut self, clock: &impl Clock) -> Result<Duration, GaveUp> {
        let permit = self.throttle.permit_by(&Counted(clock));
        let permit = permit.map_err(|_| GaveUp::Throttle)?;
        let wait = permit.wait();
        self.permit = Some(permit);
        Ok(wait)
    }

    fn still(&mut self, clock: &impl Clock) -> Duration {
        self.permit
            .as_mut()
            .map_or(Duration::ZERO, |permit| permit.wait_by(&Counted(clock)))
    }

    #[inline(always)]
    fn begin(&mut self, _: &impl Clock) {
        if let Some(permit) = &mut self.permit {
            permit.spend();
        }
    }

    #[inline(always)]
    fn asked(&self) {}

    #[inline(always)]
    fn answered(&mut self) -> bool {
        true
    }

    #[inline(always)]
    fn rest(&mut self) -> Taken<'g> {
        Taken(self.permit.take())
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

// What an expression lends that is no reference: a pointer of some kind. A breaker by itself would be made anew for
// each call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` would be made for each call, and know of none of the others",
    label = "expected a reference or an `Arc`",
    note = "write `static SHARED: ... = ...;` and name it with `&SHARED`; a `const` is a new one wherever it is named",
    note = "rule type: https://docs.rs/reattempt/latest/reattempt/errors/#type"
)]
pub trait Lend {
    type Lent: ?Sized;

    fn lent(&self) -> &Self::Lent;
}

#[diagnostic::do_not_recommend]
impl<P: Deref + ?Sized> Lend for P {
    type Lent = P::Target;

    #[inline(always)]
    fn lent(&self) -> &P::Target {
        self
    }
}

#[inline(always)]
pub fn lent<P: Lend>(pointer: &P) -> &P::Lent {
    pointer.lent()
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
