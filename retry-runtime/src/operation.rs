//! An operation: a policy and the name it has in telemetry and configuration.

#[cfg(any(
    feature = "tower",
    feature = "reqwest-middleware04",
    feature = "reqwest-middleware05"
))]
use crate::budget::Budget;
use crate::policy::Policy;
#[cfg(any(
    feature = "tower",
    feature = "reqwest-middleware04",
    feature = "reqwest-middleware05"
))]
use crate::rules::{Entry, Key};

/// What is retried: its name and its policy.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    name: &'static str,
    policy: Policy,
    /// The name of the policy in the configuration.
    named: Option<&'static str>,
    /// What switches its retries on and off, if it has a switch of its own.
    #[cfg(feature = "config")]
    switch: Option<&'static core::sync::atomic::AtomicBool>,
}

impl Operation {
    /// An operation of this name.
    pub const fn new(name: &'static str, policy: Policy) -> Self {
        Self {
            name,
            policy,
            named: None,
            #[cfg(feature = "config")]
            switch: None,
        }
    }

    /// The name: `module::function` unless the key `name` says otherwise.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The same under a policy that has a name in the configuration.
    #[must_use = "an operation is not changed in place"]
    pub const fn under_named(mut self, name: &'static str) -> Self {
        self.named = Some(name);
        self
    }

    /// The kind of its policy in telemetry: the name in the configuration, or the shape of its delays.
    pub const fn policy_name(&self) -> &'static str {
        match self.named {
            Some(name) => name,
            None if self.policy.decided => "strategy",
            None => self.policy.shape.word(),
        }
    }

    /// The policy.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }
}

#[cfg(feature = "config")]
impl Operation {
    /// The same with a switch of its own.
    pub(crate) const fn switched_by(mut self, on: &'static core::sync::atomic::AtomicBool) -> Self {
        self.switch = Some(on);
        self
    }

    /// Whether that is off.
    pub(crate) fn is_switched_off(&self) -> bool {
        let on = self.switch;
        on.is_some_and(|on| !on.load(core::sync::atomic::Ordering::Relaxed))
    }
}

impl Operation {
    /// Whether retries are switched off, all or those of this operation.
    #[cfg(feature = "config")]
    #[inline(always)]
    pub(crate) fn is_stopped(&self) -> bool {
        crate::config::is_stopped(self)
    }

    /// Without a switch they are not.
    #[cfg(not(feature = "config"))]
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "there is no switch")]
    pub(crate) const fn is_stopped(&self) -> bool {
        false
    }
}

/// The name of an operation that has none.
pub(crate) const UNNAMED: &str = "unnamed";

/// Operations around the calls of a client.
#[cfg(any(
    feature = "tower",
    feature = "reqwest-middleware04",
    feature = "reqwest-middleware05"
))]
impl Operation {
    /// Panics when `policy` breaks a rule, or cannot be obeyed where errors are those of the client.
    #[track_caller]
    pub(crate) fn around(policy: Policy) -> Self {
        if let Some(violation) = policy.violation() {
            violation.refuse();
        }
        if policy.timeout.is_some() {
            Entry::S5.refuse(
                "`timeout` of the policy cuts an attempt off, and the error of the client cannot say so; give the client a time-out, or put a layer of `tower::timeout` inside",
            );
        }
        Self::new(UNNAMED, policy)
    }

    /// The same under another name.
    pub(crate) const fn named(self, name: &'static str) -> Self {
        Self::new(name, self.policy)
    }

    /// The same with another budget.
    pub(crate) const fn budgeted(self, budget: &'static Budget) -> Self {
        Self::new(self.name, self.policy.budget(budget))
    }

    /// The same for a request that tells whether it may be executed twice; what the policy says of that
    /// goes first.
    pub(crate) fn for_request(self, is_idempotent: bool) -> Self {
        if self.suits(is_idempotent) {
            return self;
        }
        Self::new(self.name, self.policy.idempotent(false))
    }

    /// Whether it is the same for such a request.
    pub(crate) const fn suits(&self, is_idempotent: bool) -> bool {
        is_idempotent || self.policy.has(Key::Idempotent)
    }
}

#[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
impl Operation {
    /// The same under a policy that comes with a request; it pays from this one's budget unless it has its own.
    pub(crate) fn under(self, policy: Policy) -> Self {
        let operation = Self::new(self.name, policy);
        match self.policy.budget {
            Some(budget) if policy.budget.is_none() => operation.budgeted(budget),
            _ => operation,
        }
    }
}
