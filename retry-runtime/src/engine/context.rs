//! What a call keeps in view from its start to its end.

use core::time::Duration;

use super::Gate;
use super::default_budget;
use crate::around::{self, Bounds, BoundsScope};
use crate::call::{GiveUpReason, ends_in_time};
use crate::operation::{Live, Operation, Site, UNNAMED};
use crate::policy::Policy;
use crate::timer::{ASYNC_TIMER, AsyncDefault, BLOCKING_TIMER, BlockingDefault};
use crate::timer::{BlockingTimer, Clock, Timestamp};
use reattempt_policy::rules::SHORTEST_TIMEOUT;

/// What is retried, until when, and by which timer.
#[derive(Debug)]
pub struct CallContext<'a, T: ?Sized> {
    pub(crate) operation: Operation<'a>,
    pub(crate) until: Until,
    pub(crate) timer: &'a T,
}

/// A context, or a closure that makes one: a function out of line takes it so, for a constant policy to fold there.
pub trait IntoContext<'a, T> {
    /// Returns the context.
    fn into_context(self) -> CallContext<'a, T>;
}

impl<'a, T> IntoContext<'a, T> for CallContext<'a, T> {
    #[inline(always)]
    fn into_context(self) -> Self {
        self
    }
}

impl<'a, T: 'a, F: FnOnce() -> CallContext<'a, T>> IntoContext<'a, T> for F {
    #[inline(always)]
    fn into_context(self) -> CallContext<'a, T> {
        self()
    }
}

/// What makes the context of each decision of a call, while which nothing else borrows the policy.
pub trait Contexts<T>: Copy {
    /// What holds the policy from one decision to the next.
    type Held;

    /// Returns the policy that holds now.
    fn hold(self) -> Self::Held;

    /// Looks whether another one holds by now.
    fn renew(self, held: &mut Self::Held);

    /// Returns the context under it.
    fn of(held: &Self::Held) -> CallContext<'_, T>;

    /// Returns whether the operation may have a budget of its own.
    fn may_share(self) -> bool;
}

impl<'c, T: 'c, F: FnOnce() -> CallContext<'c, T> + Copy> Contexts<T> for F {
    type Held = CallContext<'c, T>;

    #[inline(always)]
    fn hold(self) -> Self::Held {
        self()
    }

    // A closure borrows its policy, so nothing can have changed it.
    #[inline(always)]
    fn renew(self, _: &mut Self::Held) {}

    #[inline(always)]
    fn of(held: &Self::Held) -> CallContext<'_, T> {
        *held
    }

    #[inline(always)]
    fn may_share(self) -> bool {
        self().operation.policy().has_default_budget()
    }
}

/// A site whose policy has a name in the configuration, and a timer.
#[derive(Debug)]
pub struct NamedSite<'t, T>(pub &'static Site, pub &'t T);

impl<T> Clone for NamedSite<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for NamedSite<'_, T> {}

impl<T> Contexts<T> for NamedSite<'_, T> {
    type Held = (Self, Live);

    #[inline(always)]
    fn hold(self) -> Self::Held {
        (self, self.0.held())
    }

    #[inline(always)]
    fn renew(self, (_, live): &mut Self::Held) {
        self.0.look_again(live);
    }

    #[inline(always)]
    fn of((site, live): &Self::Held) -> CallContext<'_, T> {
        CallContext::live(site.0, live, Until::NEVER, site.1)
    }

    #[inline(always)]
    fn may_share(self) -> bool {
        true
    }
}

impl<T: ?Sized> Clone for CallContext<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for CallContext<'_, T> {}

impl<'a, T> CallContext<'a, T> {
    /// Returns the context of a call under `policy` that ends at `until`.
    #[inline(always)]
    pub const fn new(site: &'a Site, policy: &'a Policy, until: Until, timer: &'a T) -> Self {
        Self::of(Operation::new(site, policy), until, timer)
    }

    /// Returns the same under the policy that the configuration has for it.
    #[inline(always)]
    pub fn live(site: &'a Site, live: &'a Live, until: Until, timer: &'a T) -> Self {
        Self::of(Operation::live(site, live), until, timer)
    }

    /// Returns what an attempt needs of it: nothing borrows the policy while an attempt runs.
    #[inline(always)]
    pub const fn of_attempt(until: Until, timer: &'a T) -> Self {
        // Neither is read: an attempt needs its limit and its timer.
        const NOTHING: (Site, Policy) = (Site::of_name(UNNAMED), Policy::new());
        Self::new(&NOTHING.0, &NOTHING.1, until, timer)
    }

    /// Returns the context of a call of `operation` that ends at `until`.
    #[inline(always)]
    pub const fn of(operation: Operation<'a>, until: Until, timer: &'a T) -> Self {
        Self {
            operation,
            until,
            timer,
        }
    }
}

impl<'a> CallContext<'a, BlockingDefault> {
    /// Returns the context of a sync call without a deadline of its own and without a timer of its own.
    #[inline(always)]
    pub const fn blocking(site: &'a Site, policy: &'a Policy) -> Self {
        Self::new(site, policy, Until::NEVER, &BLOCKING_TIMER)
    }
}

impl<'a> CallContext<'a, AsyncDefault> {
    /// Returns the same of an async call.
    #[inline(always)]
    pub const fn asynchronous(site: &'a Site, policy: &'a Policy) -> Self {
        Self::new(site, policy, Until::NEVER, &ASYNC_TIMER)
    }
}

impl<'a, T: Clock> CallContext<'a, T> {
    /// Returns the context of a call of `operation` that begins now.
    #[inline(always)]
    pub fn start(operation: Operation<'a>, timer: &'a T) -> Self {
        Self::of(operation, Until::start(operation.policy(), timer), timer)
    }

    /// Returns the limit of an attempt that begins now.
    #[inline(always)]
    pub fn attempt_limit(self) -> Until {
        self.until.of_attempt(self.operation.policy(), self.timer)
    }
}

impl<'a, T: Clock> CallContext<'a, T> {
    /// Returns it without the type of its timer, for what is compiled once.
    #[inline(always)]
    pub(super) const fn erased(self) -> CallContext<'a, dyn Clock + 'a> {
        CallContext {
            operation: self.operation,
            until: self.until,
            timer: self.timer,
        }
    }
}

impl<'a, T: BlockingTimer> CallContext<'a, T> {
    /// Returns the same for what also waits.
    #[inline(always)]
    pub(super) const fn erased_blocking(self) -> CallContext<'a, dyn BlockingTimer + 'a> {
        CallContext {
            operation: self.operation,
            until: self.until,
            timer: self.timer,
        }
    }
}

impl<'a> CallContext<'a, dyn BlockingTimer + 'a> {
    /// Returns the same for what only asks for the time.
    pub(super) const fn clocked(self) -> CallContext<'a, dyn Clock + 'a> {
        CallContext {
            operation: self.operation,
            until: self.until,
            timer: self.timer,
        }
    }
}

impl<T: Clock> CallContext<'_, T> {
    /// Returns whether a hedge may start one more copy of the attempt. A policy that the macro does not know may forbid
    /// what a copy does, retries may be switched off, and the budget may not pay for it.
    #[cold]
    pub fn permits_copy(&self, gates: &mut impl Gate) -> bool {
        let _priority = self.asking();
        let may_copy = self.operation.policy().is_idempotent() && !self.is_disabled();
        if !may_copy || !gates.permit_copy(self.timer) {
            return false;
        }
        // After the gates, because it spends a token, which no answer gives back.
        let is_paid = gates.is_budgeted() || default_budget::permits_copy(*self);
        if !is_paid {
            gates.return_copy();
        }
        is_paid
    }
}

impl<T: Clock + ?Sized> CallContext<'_, T> {
    /// Returns the time left until the deadline, the call's own or an inherited one; `None` without one.
    #[inline(always)]
    pub fn remaining(&self) -> Option<Duration> {
        self.until.remaining(self.timer)
    }

    /// Returns whether anything may end the call between two attempts: neither asks for the time.
    #[inline(always)]
    pub(crate) fn may_be_over(&self) -> bool {
        !self.until.is_never() || !around::is_quiet() || self.is_disabled()
    }

    /// Returns whether the deadline has passed.
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        self.until.is_over(self.timer)
    }

    /// Makes the gates see the priority of the call while they are asked.
    #[inline(always)]
    pub(super) fn asking(&self) -> Option<BoundsScope> {
        self.is_low().then(|| BoundsScope::new(Bounds::LOW, false))
    }

    /// Returns the same without the call's own priority, where the gates see it already.
    pub(super) const fn at_normal_priority(mut self) -> Self {
        self.until = Until(self.until.0.at_normal_priority());
        self
    }

    /// Returns whether the call's own priority is low.
    #[inline(always)]
    pub(super) fn is_low(&self) -> bool {
        self.until.0.is_low()
    }

    /// Returns whether retries are switched off.
    #[inline(always)]
    pub fn is_disabled(&self) -> bool {
        self.operation.is_disabled()
    }

    /// Tests whether `wait` ends before the deadline.
    ///
    /// # Errors
    ///
    /// [`GiveUpReason::Deadline`] where it does not.
    pub(crate) fn ends_in_time(&self, wait: Duration) -> Result<(), GiveUpReason> {
        let fits = |left| ends_in_time(wait, left, || self.timer.slack());
        if self.remaining().is_none_or(fits) {
            Ok(())
        } else {
            Err(GiveUpReason::Deadline)
        }
    }
}

/// The call's own deadline, and whether its priority is low: eight bytes, for the futures that keep it.
#[derive(Debug, Clone, Copy)]
pub struct Until(Bounds);

impl Until {
    /// No deadline.
    pub const NEVER: Self = Self(Bounds::NONE);

    /// Returns the deadline of a call under `policy` that begins now.
    #[inline(always)]
    pub fn start(policy: &Policy, clock: &(impl Clock + ?Sized)) -> Self {
        let none = if policy.values.is_low() {
            Bounds::LOW
        } else {
            Bounds::NONE
        };
        let Some(deadline) = policy.values.deadline else {
            return Self(none);
        };
        let now = clock.now();
        let end = now.after(deadline);
        // One of 0 means nothing, and forbids retries only.
        if !policy.is_trusted() && end == now {
            Self(none)
        } else {
            Self(none.within(end))
        }
    }

    /// Returns the limit of an attempt that begins now, which may have a `timeout` of its own.
    #[inline(always)]
    #[must_use]
    pub fn of_attempt(self, policy: &Policy, clock: &(impl Clock + ?Sized)) -> Self {
        policy.values.timeout.map_or(self, |timeout| {
            self.within(timeout, policy.is_trusted(), clock)
        })
    }

    /// Returns the same where `timeout` says how long the attempt may take, by its number from 1.
    #[inline(always)]
    #[must_use]
    pub fn of_attempt_by(
        self,
        timeout: impl FnOnce(u32) -> Duration,
        failures: u32,
        clock: &(impl Clock + ?Sized),
    ) -> Self {
        self.within(timeout(failures.saturating_add(1)), false, clock)
    }

    #[inline(always)]
    fn within(self, timeout: Duration, is_trusted: bool, clock: &(impl Clock + ?Sized)) -> Self {
        let now = clock.now();
        let end = now.after(timeout);
        // A shorter one means nothing, and forbids retries only.
        if !is_trusted && end < now.after(SHORTEST_TIMEOUT) {
            self
        } else {
            Self(self.0.within(end))
        }
    }

    /// Returns what attempts see of it.
    // Without a deadline among it an attempt goes on, also under an inherited one: a value decides that and not a type,
    // because an `impl From<GaveUp>` anywhere would change what calls do.
    #[inline(always)]
    pub const fn bounds(self) -> Bounds {
        self.0
    }

    /// Returns whether a call has neither a deadline nor a low priority.
    #[inline(always)]
    pub(crate) const fn is_never(self) -> bool {
        self.0.is_none()
    }

    /// Returns the time left until this deadline alone.
    #[inline(always)]
    pub(crate) fn own_remaining(self, clock: &(impl Clock + ?Sized)) -> Option<Duration> {
        (self.0.until()).map(|until| until.since(clock.now()))
    }

    /// Returns the time left until this deadline or an inherited one, whichever comes first.
    #[inline(always)]
    pub(crate) fn remaining(self, clock: &(impl Clock + ?Sized)) -> Option<Duration> {
        shorter(self.own_remaining(clock), around::remaining())
    }

    /// Returns whether one of them has passed.
    #[inline(always)]
    pub(crate) fn is_over(self, clock: &(impl Clock + ?Sized)) -> bool {
        self.remaining(clock).is_some_and(|left| left.is_zero())
    }
}

/// When an attempt began. `TAKEN` is 1 where the policy may have `reset_after`; with 0 it takes no place in a future.
#[derive(Debug, Clone, Copy)]
pub struct AttemptStart<const TAKEN: usize>([Timestamp; TAKEN]);

impl<const TAKEN: usize> AttemptStart<TAKEN> {
    /// A start that is not read.
    pub const NONE: Self = Self([Timestamp::ENDLESS; TAKEN]);

    /// Returns the start of an attempt that begins now. Only for a policy with `reset_after` it reads the clock.
    #[inline(always)]
    pub fn now(policy: &Policy, clock: &(impl Clock + ?Sized)) -> Self {
        // With `TAKEN` of 0 this is never called.
        let now = || match policy.values.reset_after {
            Some(_) => clock.now(),
            None => Timestamp::ENDLESS,
        };
        Self(core::array::from_fn(|_| now()))
    }

    /// Returns it, if it was taken.
    #[inline(always)]
    pub(super) fn timestamp(self) -> Option<Timestamp> {
        let start = self.0.first().copied();
        start.filter(|start| !start.is_endless())
    }
}

/// Returns the shorter of two times.
#[inline(always)]
pub(crate) fn shorter(own: Option<Duration>, inherited: Option<Duration>) -> Option<Duration> {
    match (own, inherited) {
        (Some(own), Some(inherited)) => Some(own.min(inherited)),
        (own, inherited) => own.or(inherited),
    }
}
