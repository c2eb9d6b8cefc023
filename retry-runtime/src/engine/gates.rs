//! What bounds the attempts of all calls together: the breaker, the bulkhead, the throttle and the budget, asked in this order.
//! A call keeps them in one value. Dropped at any point, also by a panic, it gives back what it holds.

use core::time::Duration;

use super::result::AttemptResult;
use crate::call::GiveUpReason;
use crate::operation::Operation;
use crate::policy::Policy;
use crate::timer::Clock;

// A clock is an object here, so that a gate is compiled once, and not for each timer.
/// Something that is asked before each attempt, learns what the attempt came to, and may refuse the next one.
pub trait Gate {
    /// Asks for an attempt. Returns how long it has to wait first.
    ///
    /// # Errors
    ///
    /// Why there is no attempt.
    fn enter(&mut self, _clock: &dyn Clock) -> Result<Duration, GiveUpReason> {
        Ok(Duration::ZERO)
    }

    /// Returns how long an attempt that waits still has to wait before it may ask again; zero when it may begin.
    ///
    /// # Errors
    ///
    /// Why there is no attempt: it has waited too long.
    fn wait_left(&mut self, _clock: &dyn Clock) -> Result<Duration, GiveUpReason> {
        Ok(Duration::ZERO)
    }

    /// Returns how long it will be until an attempt that waits may begin, as [`Self::wait_left`] has just found.
    fn forecast(&self) -> Duration {
        Duration::ZERO
    }

    /// Begins the attempt: what was reserved for it is spent.
    fn begin(&mut self, _clock: &dyn Clock) {}

    /// Records an attempt of this operation that has not ended the call with success.
    fn record(&mut self, _result: AttemptResult, _operation: &Operation<'_>, _clock: &dyn Clock) {}

    /// Records that an inherited deadline cut the attempt off: it shows how long the service has not answered.
    fn abandon(&mut self, _clock: &dyn Clock) {}

    /// Gives back what a lookup after a failed attempt may need: its slot, and the permit of a probe. Returns
    /// whether there was one.
    fn step_aside(&mut self) -> bool {
        false
    }

    /// Takes the permit of a probe again, if it is free, and the breaker has not changed: its
    /// failure is still to be recorded.
    fn step_back(&mut self, _was_probe: bool, _clock: &dyn Clock) {}

    /// Asks whether a retry may follow. The machine asks this last, since only a retry that happens is paid for.
    ///
    /// # Errors
    ///
    /// Why there is none.
    fn permit_retry(
        &mut self,
        _result: AttemptResult,
        _clock: &dyn Clock,
    ) -> Result<(), GiveUpReason> {
        Ok(())
    }

    /// Returns after how long a call that was refused may come again, where a gate knows.
    fn retry_after(&mut self, _clock: &dyn Clock) -> Option<Duration> {
        None
    }

    /// Returns whether a hedge may start one more copy of the attempt.
    fn permit_copy(&mut self, _clock: &dyn Clock) -> bool {
        true
    }

    /// Gives back the slot that [`Self::permit_copy`] took: a budget does not pay for the copy.
    fn return_copy(&mut self) {}

    /// Returns whether it lets everything through and counts nothing.
    #[inline(always)]
    fn is_none(&self) -> bool {
        false
    }

    /// Returns whether it is a budget, or has one.
    fn is_budgeted(&self) -> bool {
        false
    }

    /// Returns whether a success has anything to settle.
    fn is_held(&self) -> bool {
        false
    }

    /// Settles what the attempt holds: it has succeeded.
    fn settle(&mut self, _clock: &dyn Clock) {}
}

/// A call that nothing bounds.
impl Gate for () {
    #[inline(always)]
    fn is_none(&self) -> bool {
        true
    }
}

/// A gate that the running program may have or not.
impl<G: Gate> Gate for Option<G> {
    #[inline(always)]
    fn enter(&mut self, clock: &dyn Clock) -> Result<Duration, GiveUpReason> {
        self.as_mut()
            .map_or(Ok(Duration::ZERO), |gate| gate.enter(clock))
    }

    fn wait_left(&mut self, clock: &dyn Clock) -> Result<Duration, GiveUpReason> {
        self.as_mut()
            .map_or(Ok(Duration::ZERO), |gate| gate.wait_left(clock))
    }

    fn forecast(&self) -> Duration {
        self.as_ref().map_or(Duration::ZERO, Gate::forecast)
    }

    #[inline(always)]
    fn begin(&mut self, clock: &dyn Clock) {
        if let Some(gate) = self {
            gate.begin(clock);
        }
    }

    fn record(&mut self, result: AttemptResult, operation: &Operation<'_>, clock: &dyn Clock) {
        if let Some(gate) = self {
            gate.record(result, operation, clock);
        }
    }

    fn abandon(&mut self, clock: &dyn Clock) {
        if let Some(gate) = self {
            gate.abandon(clock);
        }
    }

    fn step_aside(&mut self) -> bool {
        self.as_mut().is_some_and(Gate::step_aside)
    }

    fn step_back(&mut self, was_probe: bool, clock: &dyn Clock) {
        if let Some(gate) = self {
            gate.step_back(was_probe, clock);
        }
    }

    fn permit_retry(
        &mut self,
        result: AttemptResult,
        clock: &dyn Clock,
    ) -> Result<(), GiveUpReason> {
        self.as_mut()
            .map_or(Ok(()), |gate| gate.permit_retry(result, clock))
    }

    fn retry_after(&mut self, clock: &dyn Clock) -> Option<Duration> {
        self.as_mut()?.retry_after(clock)
    }

    fn permit_copy(&mut self, clock: &dyn Clock) -> bool {
        self.as_mut().is_none_or(|gate| gate.permit_copy(clock))
    }

    fn return_copy(&mut self) {
        if let Some(gate) = self {
            gate.return_copy();
        }
    }

    #[inline(always)]
    fn is_none(&self) -> bool {
        Option::is_none(self)
    }

    fn is_budgeted(&self) -> bool {
        self.as_ref().is_some_and(Gate::is_budgeted)
    }

    #[inline(always)]
    fn is_held(&self) -> bool {
        self.as_ref().is_some_and(Gate::is_held)
    }

    #[inline(always)]
    fn settle(&mut self, clock: &dyn Clock) {
        if let Some(gate) = self {
            gate.settle(clock);
        }
    }
}

/// The gates of one call, in the order in which they are asked.
#[derive(Debug)]
pub struct Gates<B, K, T, P> {
    breaker: B,
    bulkhead: K,
    throttle: T,
    budget: P,
}

impl<B: Gate, K: Gate, T: Gate, P: Gate> Gates<B, K, T, P> {
    /// Returns the gates of a call that begins.
    #[inline(always)]
    pub const fn new(breaker: B, bulkhead: K, throttle: T, budget: P) -> Self {
        Self {
            breaker,
            bulkhead,
            throttle,
            budget,
        }
    }

    /// Gives back what the call still holds.
    #[inline(always)]
    pub fn release(self) {}
}

impl<B: Gate, K: Gate, T: Gate, P: Gate> Gate for Gates<B, K, T, P> {
    #[inline(always)]
    fn enter(&mut self, clock: &dyn Clock) -> Result<Duration, GiveUpReason> {
        // The breaker first: what it turns away takes no slot and no token that the service could
        // have served. The budget is not asked, because first attempts are not paid for.
        self.breaker.enter(clock)?;
        // What waits for a throttle has its slot: it cannot lose it when its turn comes.
        self.bulkhead.enter(clock)?;
        self.throttle.enter(clock)
    }

    fn wait_left(&mut self, clock: &dyn Clock) -> Result<Duration, GiveUpReason> {
        self.throttle.wait_left(clock)
    }

    fn forecast(&self) -> Duration {
        self.throttle.forecast()
    }

    #[inline(always)]
    fn begin(&mut self, clock: &dyn Clock) {
        self.breaker.begin(clock);
        self.bulkhead.begin(clock);
        self.throttle.begin(clock);
        self.budget.begin(clock);
    }

    fn record(&mut self, result: AttemptResult, operation: &Operation<'_>, clock: &dyn Clock) {
        self.breaker.record(result, operation, clock);
        self.bulkhead.record(result, operation, clock);
        self.throttle.record(result, operation, clock);
        self.budget.record(result, operation, clock);
    }

    fn abandon(&mut self, clock: &dyn Clock) {
        // Only a breaker counts how long the service has not answered. The others give back what
        // they hold when the call drops them.
        self.breaker.abandon(clock);
    }

    fn step_aside(&mut self) -> bool {
        self.bulkhead.step_aside();
        self.breaker.step_aside()
    }

    fn step_back(&mut self, was_probe: bool, clock: &dyn Clock) {
        self.breaker.step_back(was_probe, clock);
    }

    fn permit_retry(
        &mut self,
        result: AttemptResult,
        clock: &dyn Clock,
    ) -> Result<(), GiveUpReason> {
        // The budget last, since only a retry that nothing else forbids is paid for.
        self.breaker.permit_retry(result, clock)?;
        self.bulkhead.permit_retry(result, clock)?;
        self.throttle.permit_retry(result, clock)?;
        self.budget.permit_retry(result, clock)
    }

    fn retry_after(&mut self, clock: &dyn Clock) -> Option<Duration> {
        self.breaker.retry_after(clock)
    }

    fn permit_copy(&mut self, clock: &dyn Clock) -> bool {
        if !self.breaker.permit_copy(clock) || !self.bulkhead.permit_copy(clock) {
            return false;
        }
        let is_paid = self.budget.permit_copy(clock);
        if !is_paid {
            self.bulkhead.return_copy();
        }
        is_paid
    }

    fn return_copy(&mut self) {
        self.bulkhead.return_copy();
    }

    #[inline(always)]
    fn is_none(&self) -> bool {
        self.breaker.is_none()
            && self.bulkhead.is_none()
            && self.throttle.is_none()
            && self.budget.is_none()
    }

    fn is_budgeted(&self) -> bool {
        self.budget.is_budgeted()
    }

    #[inline(always)]
    fn is_held(&self) -> bool {
        self.breaker.is_held()
            || self.bulkhead.is_held()
            || self.throttle.is_held()
            || self.budget.is_held()
    }

    #[inline(always)]
    fn settle(&mut self, clock: &dyn Clock) {
        self.breaker.settle(clock);
        self.bulkhead.settle(clock);
        self.throttle.settle(clock);
        self.budget.settle(clock);
    }
}

/// Whether a constant policy has a budget, as a type: without one a call keeps nothing for it.
#[derive(Debug)]
pub struct IsBudgeted<const YES: bool>;

/// The gate of the budget that a policy brings along.
pub trait BudgetByPolicy {
    /// The gate.
    type Gate: Gate;

    /// The gate of a call without a budget.
    const NONE: Self::Gate;

    /// Returns the gate of a call that begins.
    fn gate(policy: &Policy, clock: &dyn Clock) -> Self::Gate;
}

impl BudgetByPolicy for IsBudgeted<false> {
    type Gate = ();

    const NONE: () = ();

    #[inline(always)]
    fn gate(_: &Policy, _: &dyn Clock) {}
}

/// A policy that may have a budget, or has one for certain.
impl BudgetByPolicy for IsBudgeted<true> {
    // `'static`, because a policy is `Copy` and refers to a budget that outlives it.
    #[cfg(feature = "std")]
    type Gate = Option<super::BudgetGate<'static>>;
    #[cfg(not(feature = "std"))]
    type Gate = ();

    #[cfg(feature = "std")]
    const NONE: Self::Gate = None;
    #[cfg(not(feature = "std"))]
    const NONE: () = ();

    #[inline(always)]
    fn gate(policy: &Policy, clock: &dyn Clock) -> Self::Gate {
        #[cfg(feature = "std")]
        return (policy.budget).map(|budget| super::BudgetGate::new(budget, clock));
        #[cfg(not(feature = "std"))]
        let _ = (policy, clock);
    }
}

#[cfg(test)]
mod tests {
    use core::cell::RefCell;

    use super::*;
    use crate::operation::Site;
    use crate::timer::ProcessClock;

    /// Writes down by its name what it is asked, and answers so.
    #[derive(Clone, Copy)]
    struct Told<'t>(&'t str, bool, &'t RefCell<Vec<String>>);

    impl Told<'_> {
        fn told(&self, what: &str) -> bool {
            self.2.borrow_mut().push(format!("{}.{what}", self.0));
            self.1
        }

        fn answer<T>(&self, what: &str, yes: T) -> Result<T, GiveUpReason> {
            let is_yes = self.told(what);
            is_yes.then_some(yes).ok_or(GiveUpReason::BreakerOpen)
        }
    }

    const TURN: Duration = Duration::from_secs(7);

    impl Gate for Told<'_> {
        fn enter(&mut self, _: &dyn Clock) -> Result<Duration, GiveUpReason> {
            self.answer("enter", TURN)
        }

        fn wait_left(&mut self, _: &dyn Clock) -> Result<Duration, GiveUpReason> {
            self.answer("wait_left", TURN)
        }

        fn forecast(&self) -> Duration {
            self.told("forecast");
            TURN
        }

        fn begin(&mut self, _: &dyn Clock) {
            self.told("begin");
        }

        fn record(&mut self, _: AttemptResult, _: &Operation<'_>, _: &dyn Clock) {
            self.told("record");
        }

        fn abandon(&mut self, _: &dyn Clock) {
            self.told("abandon");
        }

        fn step_aside(&mut self) -> bool {
            self.told("step_aside")
        }

        fn step_back(&mut self, was_probe: bool, _: &dyn Clock) {
            self.told(if was_probe { "step_back" } else { "step_on" });
        }

        fn permit_retry(&mut self, _: AttemptResult, _: &dyn Clock) -> Result<(), GiveUpReason> {
            self.answer("permit_retry", ())
        }

        fn retry_after(&mut self, _: &dyn Clock) -> Option<Duration> {
            self.told("retry_after").then_some(TURN)
        }

        fn permit_copy(&mut self, _: &dyn Clock) -> bool {
            self.told("permit_copy")
        }

        fn return_copy(&mut self) {
            self.told("return_copy");
        }

        fn is_none(&self) -> bool {
            !self.told("is_none") && self.0 != "gate"
        }

        fn is_budgeted(&self) -> bool {
            self.told("is_budgeted")
        }

        fn is_held(&self) -> bool {
            self.told("is_held")
        }

        fn settle(&mut self, _: &dyn Clock) {
            self.told("settle");
        }
    }

    /// What it answers to all questions, in their order.
    fn answers(gate: &mut impl Gate) -> Vec<String> {
        let (site, policy, clock) = (Site::of_name("gates"), Policy::new(), &ProcessClock);
        let operation = Operation::new(&site, &policy);
        let all = vec![
            format!("{:?}", gate.enter(clock)),
            format!("{:?}", gate.wait_left(clock)),
            format!("{:?}", gate.forecast()),
            format!("{:?}", gate.begin(clock)),
            format!(
                "{:?}",
                gate.record(AttemptResult::NotFinal, &operation, clock)
            ),
            format!("{:?}", gate.abandon(clock)),
            format!("{:?}", gate.step_aside()),
            format!("{:?}", gate.step_back(true, clock)),
            format!("{:?}", gate.permit_retry(AttemptResult::NotFinal, clock)),
            format!("{:?}", gate.retry_after(clock)),
            format!("{:?}", gate.permit_copy(clock)),
            format!("{:?}", gate.return_copy()),
            format!("{:?}", gate.is_none()),
            format!("{:?}", gate.is_budgeted()),
            format!("{:?}", gate.is_held()),
            format!("{:?}", gate.settle(clock)),
        ];
        all
    }

    /// A gate that may be there is the gate, or none at all.
    #[test]
    fn a_gate_that_is_there_answers_for_itself() {
        let (own, handed) = (RefCell::default(), RefCell::default());
        for yes in [true, false] {
            let expected = answers(&mut Told("gate", yes, &own));
            assert_eq!(answers(&mut Some(Told("gate", yes, &handed))), expected);
            // Whether there is one it knows itself.
            let told = own.take().into_iter().filter(|it| it != "gate.is_none");
            assert_eq!(handed.take(), told.collect::<Vec<_>>());
        }
        assert_eq!(answers(&mut None::<Told<'_>>), answers(&mut ()));
    }

    /// What four gates answer together: where each says yes, where each says no, and where one alone says no, or yes. The first
    /// two rows tell who was asked, too.
    #[test]
    fn four_gates_are_asked_in_order() {
        let told = RefCell::default();
        let names = ["breaker", "bulkhead", "throttle", "budget"];
        let mut all = Vec::new();
        for (odd, usual) in [("", true), ("", false)]
            .into_iter()
            .chain(names.map(|name| (name, true)))
            .chain(names.map(|name| (name, false)))
        {
            let [breaker, bulkhead, throttle, budget] =
                names.map(|name| Told(name, (name == odd) != usual, &told));
            let mut gates = Gates::new(breaker, bulkhead, throttle, budget);
            all.push(answers(&mut gates).join(" "));
            let told = told.take().join(" ");
            if odd.is_empty() {
                all.push(told);
            }
        }
        assert_eq!(all, ASKED);
    }

    const ASKED: [&str; 12] = [
        "Ok(7s) Ok(7s) 7s () () () true () Ok(()) Some(7s) true () false true true ()",
        "breaker.enter bulkhead.enter throttle.enter throttle.wait_left throttle.forecast \
        breaker.begin bulkhead.begin throttle.begin budget.begin \
        breaker.record bulkhead.record throttle.record budget.record breaker.abandon \
        bulkhead.step_aside breaker.step_aside breaker.step_back \
        breaker.permit_retry bulkhead.permit_retry throttle.permit_retry budget.permit_retry \
        breaker.retry_after breaker.permit_copy bulkhead.permit_copy budget.permit_copy bulkhead.return_copy \
        breaker.is_none budget.is_budgeted breaker.is_held \
        breaker.settle bulkhead.settle throttle.settle budget.settle",
        "Err(BreakerOpen) Err(BreakerOpen) 7s () () () false () Err(BreakerOpen) None false () true false false ()",
        "breaker.enter throttle.wait_left throttle.forecast \
        breaker.begin bulkhead.begin throttle.begin budget.begin \
        breaker.record bulkhead.record throttle.record budget.record breaker.abandon \
        bulkhead.step_aside breaker.step_aside breaker.step_back \
        breaker.permit_retry breaker.retry_after breaker.permit_copy bulkhead.return_copy \
        breaker.is_none bulkhead.is_none throttle.is_none budget.is_none budget.is_budgeted \
        breaker.is_held bulkhead.is_held throttle.is_held budget.is_held \
        breaker.settle bulkhead.settle throttle.settle budget.settle",
        "Err(BreakerOpen) Ok(7s) 7s () () () false () Err(BreakerOpen) None false () false true true ()",
        "Err(BreakerOpen) Ok(7s) 7s () () () true () Err(BreakerOpen) Some(7s) false () false true true ()",
        "Err(BreakerOpen) Err(BreakerOpen) 7s () () () true () Err(BreakerOpen) Some(7s) true () false true true ()",
        "Ok(7s) Ok(7s) 7s () () () true () Err(BreakerOpen) Some(7s) false () false false true ()",
        "Err(BreakerOpen) Err(BreakerOpen) 7s () () () true () Err(BreakerOpen) Some(7s) false () false false true ()",
        "Err(BreakerOpen) Err(BreakerOpen) 7s () () () false () Err(BreakerOpen) None false () false false true ()",
        "Err(BreakerOpen) Ok(7s) 7s () () () false () Err(BreakerOpen) None false () false false true ()",
        "Err(BreakerOpen) Err(BreakerOpen) 7s () () () false () Err(BreakerOpen) None false () false true true ()",
    ];
}
