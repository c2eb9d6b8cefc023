//! The budget that an operation has where its policy names none: calls that retry in vain end together, before they
//! overload what they call.

#[cfg(feature = "observe")]
pub(super) use shared::balance;
#[cfg(feature = "std")]
pub(super) use shared::{give_back, pay, pay_plainly, permits_copy, succeeded};

/// Without `std` no operation has one.
#[cfg(not(feature = "std"))]
mod none {
    use crate::call::GiveUpReason;
    use crate::engine::CallContext;

    #[inline(always)]
    pub(in crate::engine) const fn pay_plainly<T: ?Sized>(_: CallContext<'_, T>, _: u32) -> bool {
        true
    }

    #[expect(clippy::unnecessary_wraps, reason = "as with `std`")]
    pub(in crate::engine) const fn pay<T: ?Sized>(
        _: CallContext<'_, T>,
        _: bool,
    ) -> Result<bool, GiveUpReason> {
        Ok(true)
    }

    pub(in crate::engine) const fn permits_copy<T: ?Sized>(_: CallContext<'_, T>) -> bool {
        true
    }

    #[inline(always)]
    pub(in crate::engine) const fn succeeded<T: ?Sized>(_: CallContext<'_, T>, _: u32) {}

    pub(in crate::engine) const fn give_back<T: ?Sized>(_: CallContext<'_, T>) {}
}
#[cfg(not(feature = "std"))]
pub(super) use none::{give_back, pay, pay_plainly, permits_copy, succeeded};

#[cfg(feature = "std")]
mod shared {
    use reattempt_core::watch;
    use reattempt_overload::budget::{Payment, RefundBudget};

    use crate::call::GiveUpReason;
    use crate::engine::CallContext;
    use crate::operation::Operation;
    use crate::timer::Clock;

    /// Pays for a retry of a call that has failed so often before. `false` where that is not all.
    #[inline(always)]
    pub(in crate::engine) fn pay_plainly<T: Clock>(
        context: CallContext<'_, T>,
        failures: u32,
    ) -> bool {
        match context.operation.default_budget() {
            None => true,
            Some(budget) => {
                let capacity = capacity(context.operation);
                take(budget, capacity, failures == 0, context.timer)
            }
        }
    }

    /// Out of line, and compiled once.
    #[inline(never)]
    fn take(budget: &RefundBudget, capacity: u32, is_first: bool, clock: &dyn Clock) -> bool {
        // First without the clock, which only the first retry of a call, and a budget that is full
        // or empty, needs.
        !is_first && budget.pays_again(capacity) || budget.pays(capacity, is_first, clock.shared())
    }

    /// Pays for a retry. Returns whether it was paid: one in the first second of a fault is free, and so are all in tests.
    ///
    /// # Errors
    ///
    /// That no token is left.
    pub(in crate::engine) fn pay<T: Clock + ?Sized>(
        context: CallContext<'_, T>,
        is_first: bool,
    ) -> Result<bool, GiveUpReason> {
        let Some(budget) = context.operation.default_budget() else {
            return Ok(true);
        };
        let now = context.timer.shared();
        match budget.pay(open(context.operation), is_first, now) {
            Payment::Paid => Ok(true),
            Payment::Free => Ok(false),
            // Asked only after a refusal, so that a paid retry does not look for a test.
            Payment::Refused if is_off(context.operation) => Ok(false),
            Payment::Refused => {
                #[cfg(feature = "tracing")]
                if budget.may_report(now) {
                    reattempt_observe::default_budget_is_empty(context.operation.name());
                }
                Err(GiveUpReason::Budget)
            }
        }
    }

    /// Returns whether it pays for a copy of a hedge. A copy leaves half of the tokens to retries, and no answer gives its
    /// token back: a service that is slow as a whole gets at most 0.3 copies for each answer.
    pub(in crate::engine) fn permits_copy<T: Clock>(context: CallContext<'_, T>) -> bool {
        let Some(budget) = context.operation.default_budget() else {
            return true;
        };
        let payment = budget.pay(open(context.operation) / 2, false, context.timer.shared());
        payment != Payment::Refused || is_off(context.operation)
    }

    /// Counts a call that succeeds after so many retries that were paid.
    #[inline(always)]
    pub(in crate::engine) fn succeeded<T: ?Sized>(context: CallContext<'_, T>, paid: u32) {
        if let Some(budget) = context.operation.default_budget() {
            budget.succeeded(paid);
        }
    }

    /// Gives back what was paid for a retry that is not made.
    pub(in crate::engine) fn give_back<T: ?Sized>(context: CallContext<'_, T>) {
        if let Some(budget) = context.operation.default_budget() {
            budget.give_back();
        }
    }

    /// Returns the tokens that are left.
    #[cfg(feature = "observe")]
    pub(in crate::engine) fn balance(operation: Operation<'_>) -> Option<f64> {
        let budget = operation.default_budget()?;
        Some(budget.balance(capacity(operation)))
    }

    #[inline(always)]
    const fn capacity(operation: Operation<'_>) -> u32 {
        match operation.policy().attempts() {
            Some(max) => RefundBudget::capacity(max),
            None => u32::MAX,
        }
    }

    /// Returns the tokens that the priority here leaves open.
    fn open(operation: Operation<'_>) -> u32 {
        let all = capacity(operation);
        all.saturating_sub(reattempt_overload::closed(all))
    }

    /// Returns whether nothing is refused: the process has said so, or a test runs here that has not asked for it.
    #[cold]
    fn is_off(operation: Operation<'_>) -> bool {
        let is_test = operation.is_test() || reattempt_core::process::is_test();
        watch::has_any(watch::NO_DEFAULT_BUDGET)
            || is_test && !reattempt_core::process::limits_retries()
    }
}
