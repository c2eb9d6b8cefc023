//! What bounds the attempts of a call besides its policy, in the order of the documentation: the breaker, the
//! throttle, the budget. A loop keeps them in one value; dropped at any point, also by a panic, it gives back
//! what it holds.

mod gate;
mod guards;
#[cfg(feature = "std")]
mod pocket;
mod purse;
#[cfg(feature = "std")]
mod shared;
#[cfg(all(test, feature = "std"))]
mod tests;

pub use gate::Gate;
#[cfg(feature = "std")]
use gate::Refuse;
#[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
pub(crate) use guards::policy_limits;
pub use guards::{Guards, guards};
#[cfg(feature = "tower")]
pub(crate) use pocket::{Debits, Split};
#[cfg(feature = "std")]
pub use pocket::{OfPolicy, Purse, paying};
pub use purse::{ByPolicy, IsBudgeted, Pay};
#[cfg(feature = "std")]
pub use shared::{Breaking, Lend, Throttling, breaking, lent, throttled};

use core::time::Duration;

use super::progress::{remaining, watch_last};
use super::{Progress, Until, is_over};
use crate::call::GaveUp;
use crate::events::Came;
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::timer::Clock;

// What the steps of a loop ask; a call without limits asks `()`.
pub trait Limits {
    // Before an attempt: how long it has to wait, or why there is none.
    fn enter(&mut self, clock: &impl Clock) -> Result<Duration, GaveUp>;

    // How long it has to wait now, and then ask again; nothing, when it may begin.
    fn still(&mut self, clock: &impl Clock) -> Duration;

    // The attempt begins.
    fn begin(&mut self, clock: &impl Clock);

    // What an attempt came to that has not ended the call with success.
    fn failed(&mut self, operation: &Operation, came: Came, clock: &impl Clock);

    // Whether another may follow, to be asked last and out of line. The question takes along what is held, and the
    // answer brings it back: what need not lie in memory costs a success nothing.
    type Question: Question;

    fn question(&mut self, came: Came) -> Self::Question;

    fn take_back(&mut self, held: <Self::Question as Question>::Held);

    // Whether a copy of a slow attempt is paid for.
    fn pays(&mut self, operation: &Operation, clock: &impl Clock) -> bool;

    // The call has its answer. Whether there is more to do about it.
    fn answered(&mut self, operation: &Operation) -> bool;

    // That, with what is held.
    type Rest: Settle;

    fn rest(&mut self) -> Self::Rest;
}

pub trait Settle {
    fn settle(self, operation: &Operation, clock: &impl Clock);
}

impl Settle for () {
    #[inline(always)]
    fn settle(self, _: &Operation, _: &impl Clock) {}
}

pub trait Question {
    type Held;

    fn afford(self, operation: &Operation, clock: &impl Clock) -> Result<Self::Held, GaveUp>;
}

impl Question for () {
    type Held = ();

    #[inline(always)]
    fn afford(self, _: &Operation, _: &impl Clock) -> Result<(), GaveUp> {
        Ok(())
    }
}

// The same in line.
#[inline(always)]
pub(super) fn afford(
    limits: &mut impl Limits,
    operation: &Operation,
    came: Came,
    clock: &impl Clock,
) -> Result<(), GaveUp> {
    let held = limits.question(came).afford(operation, clock)?;
    limits.take_back(held);
    Ok(())
}

impl Limits for () {
    type Question = ();

    type Rest = ();

    #[inline(always)]
    fn enter(&mut self, _: &impl Clock) -> Result<Duration, GaveUp> {
        Ok(Duration::ZERO)
    }

    #[inline(always)]
    fn still(&mut self, _: &impl Clock) -> Duration {
        Duration::ZERO
    }

    #[inline(always)]
    fn begin(&mut self, _: &impl Clock) {}

    #[inline(always)]
    fn failed(&mut self, _: &Operation, _: Came, _: &impl Clock) {}

    #[inline(always)]
    fn question(&mut self, _: Came) {}

    #[inline(always)]
    fn take_back(&mut self, (): ()) {}

    #[inline(always)]
    fn pays(&mut self, _: &Operation, _: &impl Clock) -> bool {
        true
    }

    #[inline(always)]
    fn answered(&mut self, _: &Operation) -> bool {
        false
    }

    #[inline(always)]
    fn rest(&mut self) {}
}

// Before each attempt: how long it has to wait, or the end of the call, which then may have no error of its own.
#[inline(always)]
pub fn enter(
    limits: &mut impl Limits,
    progress: &impl Progress,
    operation: &Operation,
    until: Until,
    clock: &impl Clock,
) -> Result<Duration, Interrupted> {
    let entered = match limits.enter(clock) {
        Ok(wait) if wait.is_zero() => return Ok(wait),
        Ok(wait) => in_time(wait, until, clock),
        Err(reason) => Err(reason),
    };
    entered.map_err(|reason| {
        watch_last(progress).gives_up(operation, reason);
        Interrupted::new(reason, progress.failures())
    })
}

// The next step of a wait, which goes by what the others do: until it is time, or too late.
pub(super) fn step(
    limits: &mut impl Limits,
    progress: &impl Progress,
    operation: &Operation,
    until: Until,
    clock: &impl Clock,
) -> Result<Option<Duration>, Interrupted> {
    // The turn may come when retries have been switched off.
    #[cfg(feature = "config")]
    if progress.failures() > 0
        && let Some(end) = crate::private::stopped(progress, operation)
    {
        return Err(end);
    }
    let wait = limits.still(clock);
    // Its turn may have come when the deadline was over already: timers come late.
    if wait.is_zero() && !is_over(until, clock) {
        return Ok(None);
    }
    match in_time(wait, until, clock) {
        Ok(wait) => Ok(Some(wait)),
        Err(reason) => {
            watch_last(progress).gives_up(operation, reason);
            Err(Interrupted::new(reason, progress.failures()))
        }
    }
}

// After the wait.
#[inline(always)]
pub fn begun(limits: &mut impl Limits, clock: &impl Clock) {
    limits.begin(clock);
}

#[cold]
fn in_time(wait: Duration, until: Until, clock: &impl Clock) -> Result<Duration, GaveUp> {
    match remaining(until, clock) {
        Some(left) if left <= wait.saturating_add(clock.slack()) => Err(GaveUp::Deadline),
        _ => Ok(wait),
    }
}

// A success on its way out of the loop.
#[inline(always)]
pub fn answered<R>(
    answer: R,
    limits: &mut impl Limits,
    operation: &Operation,
    clock: &impl Clock,
) -> R {
    if limits.answered(operation) {
        settle(limits.rest(), operation, clock);
    }
    answer
}

#[cold]
#[inline(never)]
fn settle(rest: impl Settle, operation: &Operation, clock: &impl Clock) {
    rest.settle(operation, clock);
}

// The call is over, and what it did not spend goes back.
#[inline(always)]
pub fn released<L: Limits>(_: L) {}

// Asked before a copy of a slow attempt.
// A policy that the macro does not know may forbid what a copy does, and an operation be switched off.
pub fn pays(limits: &mut impl Limits, operation: &Operation, clock: &impl Clock) -> bool {
    let may_pay = operation.policy().is_idempotent() && !operation.is_stopped();
    may_pay && limits.pays(operation, clock)
}
