//! The gates themselves: a breaker, a bulkhead, a throttle and a budget, each as one call holds it.

use core::ops::Deref;
use core::time::Duration;

use super::Gate;
use super::result::AttemptResult;
use crate::breaker::{Breaker, Pass};
use crate::budget::{Account, Budget, FailureClass};
use crate::bulkhead::{self, Bulkhead};
use crate::call::GiveUpReason;
use crate::operation::Operation;
use crate::throttle::{self, Throttle};
use crate::timer::Clock;
use reattempt_policy::rules::Consequence;

/// A breaker, and the permit of the attempt that runs. It is held until its result is settled: a clock that panics gives it
/// back.
#[derive(Debug)]
pub struct BreakerGate<'g> {
    breaker: &'g Breaker,
    pass: Pass,
}

impl<'g> BreakerGate<'g> {
    /// Returns the gate of a call that begins.
    #[inline(always)]
    pub const fn new(breaker: &'g Breaker) -> Self {
        Self {
            breaker,
            pass: Pass::NOTHING,
        }
    }
}

impl Drop for BreakerGate<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // Only the pass of a probe keeps other calls out.
        if self.pass.is_probe() {
            self.breaker.give_back(self.pass);
        }
    }
}

impl Gate for BreakerGate<'_> {
    #[inline(always)]
    fn enter(&mut self, clock: &dyn Clock) -> Result<Duration, GiveUpReason> {
        let pass = self.breaker.admit(&clock);
        self.pass = pass.map_err(|_| GiveUpReason::BreakerOpen)?;
        Ok(Duration::ZERO)
    }

    /// Starts the attempt's time: the wait of a throttle is not part of it.
    #[inline(always)]
    fn begin(&mut self, clock: &dyn Clock) {
        self.breaker.begin(&mut self.pass, &clock);
    }

    /// Reports rule X10, too: only the running program may know both the breaker and the policy.
    fn record(&mut self, result: AttemptResult, operation: &Operation<'_>, clock: &dyn Clock) {
        // A value that is not final is an answer: the service works.
        let Some(verdict) = result.verdict() else {
            return self.settle(clock);
        };
        self.breaker.settle_error(self.pass, verdict, &clock);
        self.pass = Pass::NOTHING;
        if let Some(violation) = self
            .breaker
            .violation_under(operation.policy().values.timeout)
        {
            operation.report_invalid(&violation, Consequence::AsWritten);
        }
    }

    fn abandon(&mut self, clock: &dyn Clock) {
        self.breaker.settle_cut_off(self.pass, &clock);
        self.pass = Pass::NOTHING;
    }

    fn step_aside(&mut self) -> bool {
        let is_probe = self.pass.is_probe();
        if is_probe {
            self.breaker.give_back(self.pass);
            self.pass = self.pass.without_permit();
        }
        is_probe
    }

    fn step_back(&mut self, was_probe: bool, clock: &dyn Clock) {
        if was_probe && let Ok(pass) = self.breaker.admit(&clock) {
            self.pass = pass.since(self.pass);
        }
    }

    fn permit_retry(&mut self, _: AttemptResult, clock: &dyn Clock) -> Result<(), GiveUpReason> {
        if self.breaker.refuses_with_clock(&clock) {
            return Err(GiveUpReason::BreakerOpen);
        }
        Ok(())
    }

    fn retry_after(&mut self, clock: &dyn Clock) -> Option<Duration> {
        self.breaker.refusal_with_clock(&clock)?.retry_after()
    }

    /// One permit, one call.
    fn permit_copy(&mut self, _: &dyn Clock) -> bool {
        !self.pass.is_probe()
    }

    #[inline(always)]
    fn is_held(&self) -> bool {
        true
    }

    #[inline(always)]
    fn settle(&mut self, clock: &dyn Clock) {
        if self.breaker.succeeded(self.pass) {
            self.breaker.settle_success(self.pass, &clock);
        }
        self.pass = Pass::NOTHING;
    }
}

/// A bulkhead, and the slots of the attempt that runs and of its copies.
#[derive(Debug)]
pub struct BulkheadGate<'g> {
    bulkhead: &'g Bulkhead,
    permit: Option<bulkhead::Permit<'g>>,
}

impl<'g> BulkheadGate<'g> {
    /// Returns the gate of a call that begins.
    #[inline(always)]
    pub const fn new(bulkhead: &'g Bulkhead) -> Self {
        Self {
            bulkhead,
            permit: None,
        }
    }
}

impl Gate for BulkheadGate<'_> {
    #[inline(always)]
    fn enter(&mut self, clock: &dyn Clock) -> Result<Duration, GiveUpReason> {
        let permit = self.bulkhead.permit_with_clock(&clock);
        self.permit = Some(permit.map_err(|_| GiveUpReason::BulkheadFull)?);
        Ok(Duration::ZERO)
    }

    #[inline(always)]
    fn begin(&mut self, clock: &dyn Clock) {
        if let Some(permit) = &mut self.permit {
            permit.begins(&clock);
        }
    }

    /// Frees the slot: no call holds one through a delay.
    fn record(&mut self, result: AttemptResult, _: &Operation<'_>, clock: &dyn Clock) {
        let Some(permit) = self.permit.take() else {
            return;
        };
        match result {
            AttemptResult::Failed(verdict) => permit.failed_with_clock(verdict, &clock),
            AttemptResult::NotFinal => permit.succeeded_with_clock(&clock),
            AttemptResult::TimedOut | AttemptResult::CutOff => permit.timed_out_with_clock(&clock),
        }
    }

    fn step_aside(&mut self) -> bool {
        self.permit = None;
        false
    }

    /// A copy runs beside the attempt, and takes a slot of its own until the attempt has ended.
    fn permit_copy(&mut self, _: &dyn Clock) -> bool {
        self.permit.as_mut().is_some_and(bulkhead::Permit::take)
    }

    fn return_copy(&mut self) {
        if let Some(permit) = &mut self.permit {
            permit.free_one();
        }
    }

    #[inline(always)]
    fn is_held(&self) -> bool {
        self.permit.is_some()
    }

    #[inline(always)]
    fn settle(&mut self, clock: &dyn Clock) {
        if let Some(permit) = self.permit.take() {
            permit.succeeded_with_clock(&clock);
        }
    }
}

/// A throttle, and the permit of the attempt that waits or runs.
#[derive(Debug)]
pub struct ThrottleGate<'g> {
    throttle: &'g Throttle,
    permit: Option<throttle::Permit<'g>>,
}

impl<'g> ThrottleGate<'g> {
    /// Returns the gate of a call that begins.
    #[inline(always)]
    pub const fn new(throttle: &'g Throttle) -> Self {
        Self {
            throttle,
            permit: None,
        }
    }
}

impl Gate for ThrottleGate<'_> {
    #[inline(always)]
    fn enter(&mut self, clock: &dyn Clock) -> Result<Duration, GiveUpReason> {
        let permit = self.throttle.permit_with_clock(&clock);
        let permit = permit.map_err(|_| GiveUpReason::Throttle)?;
        let wait = permit.wait();
        self.permit = Some(permit);
        Ok(wait)
    }

    fn wait_left(&mut self, clock: &dyn Clock) -> Result<Duration, GiveUpReason> {
        let Some(permit) = &mut self.permit else {
            return Ok(Duration::ZERO);
        };
        permit
            .wait_with_clock(&clock)
            .map_err(|_| GiveUpReason::Throttle)
    }

    fn forecast(&self) -> Duration {
        let permit = self.permit.as_ref();
        permit.map_or(Duration::ZERO, throttle::Permit::wait)
    }

    #[inline(always)]
    fn begin(&mut self, _: &dyn Clock) {
        if let Some(permit) = &mut self.permit {
            permit.spend();
        }
    }

    fn record(&mut self, result: AttemptResult, _: &Operation<'_>, clock: &dyn Clock) {
        let Some(verdict) = result.verdict() else {
            return self.settle(clock);
        };
        if let Some(permit) = self.permit.take() {
            permit.failed_with_clock(verdict, &clock);
        }
    }

    #[inline(always)]
    fn is_held(&self) -> bool {
        self.permit.is_some()
    }

    #[inline(always)]
    fn settle(&mut self, clock: &dyn Clock) {
        if let Some(permit) = self.permit.take() {
            permit.succeeded_with_clock(&clock);
        }
    }
}

/// A budget, and what the call has reserved or paid for its last retry.
#[derive(Debug)]
pub struct BudgetGate<'b>(Account<'b>);

impl<'b> BudgetGate<'b> {
    /// Returns the gate of a call that begins; the budget counts the call.
    #[inline(always)]
    pub fn new(budget: &'b Budget, clock: &dyn Clock) -> Self {
        Self(budget.account_with_clock(&clock))
    }
}

impl Gate for BudgetGate<'_> {
    fn is_budgeted(&self) -> bool {
        true
    }

    #[inline(always)]
    fn begin(&mut self, _: &dyn Clock) {
        self.0.spend();
    }

    fn record(&mut self, result: AttemptResult, _: &Operation<'_>, _: &dyn Clock) {
        if let Some(verdict) = result.verdict() {
            self.0.failed(verdict);
        }
    }

    fn permit_retry(
        &mut self,
        result: AttemptResult,
        clock: &dyn Clock,
    ) -> Result<(), GiveUpReason> {
        let class = match result {
            // Asking again for a value that is not final is not a retry.
            AttemptResult::NotFinal => return Ok(()),
            AttemptResult::Failed(verdict) => FailureClass::of(verdict),
            AttemptResult::TimedOut | AttemptResult::CutOff => FailureClass::TimedOut,
        };
        if self.0.withdraw_with_clock(class, &clock) {
            return Ok(());
        }
        Err(GiveUpReason::Budget)
    }

    fn permit_copy(&mut self, clock: &dyn Clock) -> bool {
        self.0.try_withdraw_hedge_with_clock(&clock)
    }

    #[inline(always)]
    fn is_held(&self) -> bool {
        true
    }

    #[inline(always)]
    fn settle(&mut self, clock: &dyn Clock) {
        self.0.settle(&clock);
    }
}

/// An expression that is not a reference but shares something: a pointer of some kind. A breaker by itself would be
/// made anew for each call.
#[diagnostic::on_unimplemented(
    message = "each call would make a new `{Self}`, which never sees the other calls",
    label = "expected a reference or an `Arc`",
    note = "write `static SHARED: ... = ...;` and name it with `&SHARED`; each use of a `const` makes a new value",
    note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
)]
pub trait AsShared {
    /// What is shared.
    type Shared: ?Sized;

    /// Returns a reference to it.
    fn as_shared(&self) -> &Self::Shared;
}

#[diagnostic::do_not_recommend]
impl<P: Deref + ?Sized> AsShared for P {
    type Shared = P::Target;

    #[inline(always)]
    fn as_shared(&self) -> &P::Target {
        self
    }
}

/// Returns what the expression of `breaker`, `bulkhead`, `throttle` or `budget` shares.
#[inline(always)]
pub fn shared<P: AsShared>(pointer: &P) -> &P::Shared {
    pointer.as_shared()
}

/// Returns the same reference, of a name in capitals. The compiler shows these lines where the name is that of a constant.
#[inline(always)]
pub const fn of_static<T>(shared: T) -> T
where
    T: 'static, // each use of a `const` makes a new value, and the calls have to share one: write `static` in place of `const`
{
    shared
}
