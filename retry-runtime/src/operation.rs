//! An operation: a policy and the name it has in telemetry and configuration.

use crate::policy::Policy;

/// What is retried: its name and its policy.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    name: &'static str,
    policy: Policy,
}

impl Operation {
    /// An operation of this name.
    pub const fn new(name: &'static str, policy: Policy) -> Self {
        Self { name, policy }
    }

    /// The name: `module::function` unless the key `name` says otherwise.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The policy.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }
}
