//! What is retried: a place in the program with a name, and the policy that holds there.

use core::panic::Location;

use crate::policy::Policy;
#[cfg(feature = "std")]
use reattempt_core::inbound;
use reattempt_core::marks;
#[cfg(feature = "std")]
use reattempt_core::name::short;
use reattempt_core::name::{Name, OperationId, hash};
#[cfg(feature = "std")]
use reattempt_overload::budget::RefundBudget;
#[cfg(feature = "std")]
use reattempt_policy::rules::{Consequence, Violation};

#[cfg(feature = "config")]
pub use crate::named::Live;
#[cfg(feature = "config")]
use crate::named::NamedPolicy;

/// A place in the program where something is retried: its name, and its slot in the configuration.
///
/// Every expansion has one as a `static`, which all instances of a generic function share.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    name: Name,
    identity: Identity,
    #[cfg(feature = "config")]
    named: Option<&'static NamedPolicy>,
    /// The budget that its calls share where the policy names none.
    #[cfg(feature = "std")]
    budget: Option<&'static RefundBudget>,
    /// It is compiled for a test, where no retry is refused for want of that budget.
    #[cfg(feature = "std")]
    is_test: bool,
}

/// What makes two calls those of one operation.
#[derive(Debug, Clone, Copy)]
enum Identity {
    /// The site itself: it is a `static`.
    Site,
    Name,
    Caller(&'static Location<'static>),
    Instance(u64),
}

impl Site {
    /// Returns the site of an expansion, which is a `static`.
    #[inline(always)]
    pub const fn new(name: Name) -> Self {
        Self::identified(name, Identity::Site)
    }

    /// Returns the site of all that is called by this name.
    pub const fn of_name(name: &'static str) -> Self {
        Self::identified(Name::Given(name), Identity::Name)
    }

    /// Returns the site of what is called where this is.
    #[track_caller]
    pub(crate) const fn of_caller() -> Self {
        Self::identified(Name::Given(UNNAMED), Identity::Caller(Location::caller()))
    }

    /// Returns the site of a client without a name: each has a number of its own.
    pub const fn of_instance(number: u64) -> Self {
        Self::identified(Name::Given(UNNAMED), Identity::Instance(number))
    }

    const fn identified(name: Name, identity: Identity) -> Self {
        Self {
            name,
            identity,
            #[cfg(feature = "config")]
            named: None,
            #[cfg(feature = "std")]
            budget: None,
            #[cfg(feature = "std")]
            is_test: false,
        }
    }

    /// Returns this site with a budget for the calls whose policy names none. `is_test` says that it is compiled for a test.
    #[cfg(feature = "std")]
    #[must_use]
    pub const fn sharing(mut self, budget: &'static RefundBudget, is_test: bool) -> Self {
        self.budget = Some(budget);
        self.is_test = is_test;
        self
    }

    /// Without `std` there is no budget.
    #[cfg(not(feature = "std"))]
    #[must_use]
    pub const fn sharing(self, _: &'static DefaultBudget, _is_test: bool) -> Self {
        self
    }

    /// Takes the answer of a call that succeeds at once: where calls before have paid for retries, it brings something.
    #[inline(always)]
    pub fn answered<R>(&self, answer: R) -> R {
        #[cfg(feature = "std")]
        if let Some(budget) = self.budget
            && !budget.is_full()
        {
            return brings(budget, answer);
        }
        answer
    }

    /// Returns a site whose policy has a name in the configuration.
    #[cfg(feature = "config")]
    pub const fn named(policy: &'static NamedPolicy) -> Self {
        Self {
            name: policy.name(),
            identity: Identity::Site,
            named: Some(policy),
            #[cfg(feature = "std")]
            budget: None,
            #[cfg(feature = "std")]
            is_test: false,
        }
    }

    /// Returns the name of the operation.
    #[cfg(feature = "observe")]
    pub(crate) fn name(&self) -> &'static str {
        self.name.as_str()
    }

    /// Returns what tells the operation from others.
    pub fn id(&self) -> OperationId {
        OperationId::new(match self.identity {
            Identity::Site => core::ptr::from_ref(self).addr() as u64,
            Identity::Name => hash(self.name.as_str().as_bytes(), 0),
            Identity::Caller(caller) => of_caller(caller),
            Identity::Instance(number) => !number,
        })
    }

    /// Marks the operation in the calls around it: it has used up its retries.
    pub fn mark(&self) {
        marks::mark(self.id());
        #[cfg(feature = "std")]
        if inbound::has_served() {
            marks::mark(self.shared_id());
        }
    }

    /// Returns whether the operation is marked where this runs.
    pub(crate) fn is_marked(&self) -> bool {
        #[cfg(feature = "std")]
        if inbound::has_served() && marks::is_received(self.shared_id()) {
            return true;
        }
        marks::is_marked(self.id())
    }

    /// Returns the same as `id`, by a name that all instances of this program have in common.
    #[cfg(feature = "std")]
    fn shared_id(&self) -> OperationId {
        let name = match self.identity {
            Identity::Site | Identity::Name => hash(self.name.as_str().as_bytes(), 0),
            Identity::Caller(caller) => of_caller(caller),
            // The number says nothing to another instance.
            Identity::Instance(number) => inbound::own_name(number),
        };
        OperationId::shared(short(name))
    }

    /// Begins a call under the policy that has a name.
    #[inline(always)]
    pub fn call(&self) -> Live {
        #[cfg(feature = "config")]
        return self.named.map_or(Live::NONE, NamedPolicy::call);
        #[cfg(not(feature = "config"))]
        Live
    }

    /// Begins a call that needs its policy from the start.
    #[inline(always)]
    pub fn held(&self) -> Live {
        #[cfg(feature = "config")]
        return self.named.map_or(Live::NONE, NamedPolicy::held);
        #[cfg(not(feature = "config"))]
        Live
    }

    /// Returns the policy that holds now, before a decision.
    #[inline(always)]
    #[must_use]
    pub fn renew(&self, mut live: Live) -> Live {
        self.look_again(&mut live);
        live
    }

    /// Looks whether another policy holds by now.
    #[inline(always)]
    #[cfg_attr(
        not(feature = "config"),
        expect(clippy::unused_self, reason = "none has a name")
    )]
    pub(crate) fn look_again(&self, live: &mut Live) {
        #[cfg(feature = "config")]
        if let Some(named) = self.named {
            named.renew(live);
        }
        #[cfg(not(feature = "config"))]
        let _ = live;
    }
}

/// Counts a call that has succeeded at once. An answer that lies in registers goes through a function out of line, so
/// that it takes none from the others.
#[cfg(feature = "std")]
#[inline(always)]
fn brings<R>(budget: &RefundBudget, answer: R) -> R {
    #[cold]
    #[inline(never)]
    fn through<R>(budget: &RefundBudget, answer: R) -> R {
        budget.succeeded(0);
        answer
    }

    if size_of::<R>() <= size_of::<[usize; 2]>() {
        return through(budget, answer);
    }
    budget.succeeded(0);
    answer
}

fn of_caller(caller: &Location<'_>) -> u64 {
    let place = u64::from(caller.line()) << 32 | u64::from(caller.column());
    hash(caller.file().as_bytes(), place)
}

/// The policy of a running call, where there is no configuration.
#[cfg(not(feature = "config"))]
#[derive(Debug)]
pub struct Live;

#[cfg(not(feature = "config"))]
impl Live {
    /// Returns `true`: nothing counts from the start.
    pub const fn is_idle(&self) -> bool {
        true
    }

    /// Returns the default.
    pub const fn policy(&self) -> &Policy {
        const { &Policy::new() }
    }
}

/// What is retried: its name and its policy, for the moment of a decision.
#[derive(Debug, Clone, Copy)]
pub struct Operation<'a> {
    site: &'a Site,
    policy: &'a Policy,
    #[cfg(feature = "std")]
    budget: Option<&'a RefundBudget>,
    /// The name of the policy in the configuration.
    #[cfg(feature = "config")]
    label: Option<&'static str>,
}

impl<'a> Operation<'a> {
    /// Returns the operation of this site under `policy`.
    #[inline(always)]
    pub const fn new(site: &'a Site, policy: &'a Policy) -> Self {
        Self {
            site,
            policy,
            #[cfg(feature = "std")]
            budget: site.budget,
            #[cfg(feature = "config")]
            label: None,
        }
    }

    /// Returns the operation of this site under the policy that the configuration has for it.
    #[inline(always)]
    pub fn live(site: &'a Site, live: &'a Live) -> Self {
        Self {
            site,
            policy: live.policy(),
            #[cfg(feature = "std")]
            budget: site.budget,
            #[cfg(feature = "config")]
            label: live.label(),
        }
    }

    /// Returns it with a budget for the case that its policy names none.
    #[cfg(feature = "std")]
    #[inline(always)]
    #[must_use]
    pub const fn sharing(mut self, budget: &'a RefundBudget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Takes the answer of a call that succeeds at once, as [`Site::answered`].
    #[inline(always)]
    pub fn answered<R>(&self, answer: R) -> R {
        #[cfg(feature = "std")]
        if let Some(budget) = self.default_budget()
            && !budget.is_full()
        {
            return brings(budget, answer);
        }
        answer
    }

    /// Returns what tells it from others.
    #[cfg(feature = "std")]
    #[inline]
    fn id(&self) -> OperationId {
        self.site.id()
    }

    /// Marks it in the calls around it.
    pub(crate) fn mark(&self) {
        self.site.mark();
    }

    /// Returns whether it is marked where this runs.
    pub(crate) fn is_marked(&self) -> bool {
        self.site.is_marked()
    }

    /// Returns the name: `module::function` or `module::Type::method` unless the key `name` says otherwise.
    pub fn name(&self) -> &'static str {
        self.site.name.as_str()
    }

    /// Reports, once, that the policy of this operation breaks a rule.
    #[cfg(feature = "std")]
    #[cold]
    #[inline(never)]
    pub(crate) fn report_invalid(&self, violation: &Violation, consequence: Consequence) {
        reattempt_observe::invalid_policy(
            self.id().number(),
            || self.name(),
            violation,
            consequence,
        );
    }

    /// Returns the same, unread.
    pub(crate) const fn lazy_name(&self) -> Name {
        self.site.name
    }

    /// Returns the kind of its policy in telemetry: the name in the configuration, or the backoff.
    pub const fn policy_name(&self) -> &'static str {
        #[cfg(feature = "config")]
        if let Some(label) = self.label {
            return label;
        }
        if self.policy.values.decided {
            return "strategy";
        }
        self.policy.values.backoff.as_str()
    }

    /// Returns the budget that its calls share because the policy names none.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(crate) const fn default_budget(&self) -> Option<&'a RefundBudget> {
        if self.policy.has_default_budget() {
            self.budget
        } else {
            None
        }
    }

    /// Returns whether it is compiled for a test.
    #[cfg(feature = "std")]
    pub(crate) const fn is_test(&self) -> bool {
        self.site.is_test
    }

    /// Returns the policy.
    #[inline(always)]
    pub const fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// Returns whether retries are switched off, all or those of this operation.
    #[cfg(feature = "config")]
    #[inline(always)]
    pub(crate) fn is_disabled(&self) -> bool {
        !crate::switch::are_retries_on() || self.site.named.is_some_and(NamedPolicy::is_disabled)
    }

    /// Returns `false`: without the feature `config` there is no switch.
    #[cfg(not(feature = "config"))]
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "there is no switch")]
    pub(crate) const fn is_disabled(&self) -> bool {
        false
    }
}

/// Without `std` an operation has no budget by default.
#[cfg(not(feature = "std"))]
#[derive(Debug, Default)]
pub struct DefaultBudget;

#[cfg(not(feature = "std"))]
impl DefaultBudget {
    /// Returns nothing.
    pub const fn new() -> Self {
        Self
    }
}

/// The name of an operation that has none.
pub(crate) const UNNAMED: &str = "unnamed";
