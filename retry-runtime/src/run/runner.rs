//! What surrounds a policy that is run: who judges and observes, how it waits, and what bounds it besides.

use super::{ByStrategy, Shown, Tell};
#[cfg(feature = "std")]
use crate::breaker::Breaker;
#[cfg(feature = "std")]
use crate::budget::Budget;
#[cfg(feature = "std")]
use crate::engine::{BreakerGate, BudgetGate, ThrottleGate};
use crate::engine::{Gate, Gates};
use crate::operation::Site;
use crate::policy::Policy;
#[cfg(feature = "std")]
use crate::throttle::Throttle;
use crate::timer::{Clock, DefaultTimer};

/// A policy with what surrounds it; made by [`Policy::on`] and [`Policy::runner`].
///
/// With a breaker or a throttle a call may be turned away before its first attempt, when there is no error of
/// its own: such a runner has `try_run` and `try_run_async`, whose error can say so.
#[derive(Debug, Clone, Copy)]
#[must_use = "a runner does nothing until `run` or `run_async` is called"]
pub struct Runner<'p, J, O, T, G = (), S = ()> {
    pub(super) plan: Plan<'p>,
    pub(super) judge: J,
    pub(super) observer: O,
    pub(super) timer: T,
    pub(super) gates: G,
    pub(super) strategy: S,
}

/// What a call is made from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan<'p> {
    pub(super) policy: &'p Policy,
    pub(super) site: Site,
    #[cfg(feature = "std")]
    budget: Option<&'p Budget>,
}

impl Plan<'_> {
    #[cfg_attr(
        not(feature = "std"),
        expect(clippy::unused_self, reason = "there are no budgets")
    )]
    pub(super) fn gates(&self, gates: &impl MayGate, timer: &impl Clock) -> impl Gate {
        let (breaker, throttle) = gates.gates();
        #[cfg(feature = "std")]
        let budget =
            (self.budget.or(self.policy.budget)).map(|budget| BudgetGate::new(budget, timer));
        #[cfg(not(feature = "std"))]
        let (budget, _) = ((), timer);
        Gates::new(breaker, throttle, budget)
    }
}

impl<'p, J> Runner<'p, J, (), DefaultTimer> {
    #[track_caller]
    pub(super) const fn new(policy: &'p Policy, judge: J) -> Self {
        Runner {
            plan: Plan {
                policy,
                site: Site::of_caller(),
                #[cfg(feature = "std")]
                budget: None,
            },
            judge,
            observer: (),
            timer: DefaultTimer,
            gates: (),
            strategy: (),
        }
    }
}

impl<'p, J, O, T, G, S> Runner<'p, J, O, T, G, S> {
    /// The name of the operation in telemetry.
    pub const fn name(mut self, name: &'static str) -> Self {
        self.plan.site = Site::of_name(name);
        self
    }

    /// Told of each retry before its delay: `|retry: &Retry<'_, E>| ...`.
    pub fn on_retry<F>(self, observer: F) -> Runner<'p, J, Tell<F>, T, G, S> {
        Runner {
            plan: self.plan,
            judge: self.judge,
            observer: Tell(observer),
            timer: self.timer,
            gates: self.gates,
            strategy: self.strategy,
        }
    }

    /// Has the errors show themselves in telemetry, by their `Display`: for those of [`Policy::on`], of which
    /// else only the type is known. An error with [`Classify`](crate::Classify) says by
    /// [`message`](crate::Classify::message) what it shows.
    pub fn shown(self) -> Runner<'p, Shown<J>, O, T, G, S> {
        Runner {
            plan: self.plan,
            judge: Shown(self.judge),
            observer: self.observer,
            timer: self.timer,
            gates: self.gates,
            strategy: self.strategy,
        }
    }

    /// Waits with `timer` instead of the one that the features choose.
    pub fn timer<U>(self, timer: U) -> Runner<'p, J, O, U, G, S> {
        Runner {
            plan: self.plan,
            judge: self.judge,
            observer: self.observer,
            timer,
            gates: self.gates,
            strategy: self.strategy,
        }
    }

    /// Asks `strategy` about each failure that may be retried: it says whether there is another attempt, and after
    /// which delay.
    ///
    /// The delays of the policy are not read then, and its `max` only where it is given. A closure goes through
    /// [`strategy::from_fn`](crate::strategy::from_fn), with the type of its parameter written out.
    pub fn strategy<D>(self, strategy: D) -> Runner<'p, J, O, T, G, ByStrategy<D>> {
        Runner {
            plan: self.plan,
            judge: self.judge,
            observer: self.observer,
            timer: self.timer,
            gates: self.gates,
            strategy: ByStrategy(strategy),
        }
    }
}

#[cfg(feature = "std")]
impl<'p, J, O, T, G, S> Runner<'p, J, O, T, G, S> {
    /// Pays for retries from `budget`, not from that of the policy.
    pub const fn budget(mut self, budget: &'p Budget) -> Self {
        self.plan.budget = Some(budget);
        self
    }

    /// Makes no attempt while `breaker` is open, and tells it what attempts come to.
    ///
    /// # Panics
    ///
    /// When its window of time is below twice the policy's `timeout` ([`Breaker::violation_under`]).
    #[track_caller]
    pub fn breaker(self, breaker: &'p Breaker) -> Runner<'p, J, O, T, Gated<'p>, S>
    where
        G: Into<Gated<'p>>,
    {
        if let Some(refusal) = breaker.violation_under(self.plan.policy.timeout) {
            refusal.refuse();
        }
        self.gated(|gates| gates.breaker = Some(breaker))
    }

    /// Makes no attempt that `throttle` does not let through, and tells it what attempts come to.
    pub fn throttle(self, throttle: &'p Throttle) -> Runner<'p, J, O, T, Gated<'p>, S>
    where
        G: Into<Gated<'p>>,
    {
        self.gated(|gates| gates.throttle = Some(throttle))
    }

    fn gated(self, set: impl FnOnce(&mut Gated<'p>)) -> Runner<'p, J, O, T, Gated<'p>, S>
    where
        G: Into<Gated<'p>>,
    {
        let mut gates = self.gates.into();
        set(&mut gates);
        Runner {
            plan: self.plan,
            judge: self.judge,
            observer: self.observer,
            timer: self.timer,
            gates,
            strategy: self.strategy,
        }
    }
}

/// The breaker and the throttle of a [`Runner`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Gated<'p> {
    #[cfg(feature = "std")]
    breaker: Option<&'p Breaker>,
    #[cfg(feature = "std")]
    throttle: Option<&'p Throttle>,
    #[cfg(not(feature = "std"))]
    nothing: core::marker::PhantomData<&'p ()>,
}

impl From<()> for Gated<'_> {
    fn from((): ()) -> Self {
        Self::default()
    }
}

/// What is asked before each attempt: nothing, or what a [`Gated`] holds.
// No lifetime of its own: whether a spawned future is `Send` is asked with all of them forgotten.
pub(super) trait MayGate {
    /// Whether any may be.
    const ASKS: bool;

    type Breaker: Gate;
    type Throttle: Gate;

    fn gates(&self) -> (Self::Breaker, Self::Throttle);
}

impl MayGate for () {
    const ASKS: bool = false;

    type Breaker = ();
    type Throttle = ();

    fn gates(&self) -> ((), ()) {
        ((), ())
    }
}

#[cfg(feature = "std")]
impl<'p> MayGate for Gated<'p> {
    const ASKS: bool = true;

    type Breaker = Option<BreakerGate<'p>>;
    type Throttle = Option<ThrottleGate<'p>>;

    fn gates(&self) -> (Self::Breaker, Self::Throttle) {
        (
            self.breaker.map(BreakerGate::new),
            self.throttle.map(ThrottleGate::new),
        )
    }
}
