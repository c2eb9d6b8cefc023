//! The operation of a client: its name and its policy.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

#[cfg(feature = "tower")]
use reattempt_policy::Text;
use retry_runtime::budget::RefundBudget as DefaultBudget;
use retry_runtime::driver::{Operation, Site};
#[cfg(feature = "tower")]
use retry_runtime::rules::RuleId;
use retry_runtime::rules::{Key, Violation};
use retry_runtime::{Budget, Policy};

/// The operation of a client, which owns its policy.
#[derive(Debug, Clone)]
pub(crate) struct ClientOperation {
    site: Site,
    is_named: bool,
    policy: Policy,
    /// What its calls share where the policy names no budget.
    default_budget: Arc<DefaultBudget>,
}

impl ClientOperation {
    pub(crate) fn new(policy: Policy) -> Self {
        Self {
            site: instance(),
            is_named: false,
            policy,
            default_budget: Arc::default(),
        }
    }

    /// Returns the same, unless `policy` breaks an unsafe rule.
    #[expect(
        clippy::result_large_err,
        reason = "the message has its numbers in it; a client is made once"
    )]
    pub(crate) fn try_new(policy: Policy) -> Result<Self, Violation> {
        let policy = policy.build()?;
        Ok(Self::new(policy))
    }

    /// Returns it, unless its policy has a `timeout`, where nobody can make the error of the
    /// client.
    #[cfg(feature = "tower")]
    #[expect(
        clippy::result_large_err,
        reason = "the message has its numbers in it; a client is made once"
    )]
    pub(crate) fn without_timeout(self) -> Result<Self, Violation> {
        const TEXT: &str = "`timeout` of the policy can end a request, and the error of the client cannot report that; give the client a time-out, or put a layer of `tower::timeout` inside";
        match self.policy.values().timeout {
            Some(_) => Err(Text::new().push(TEXT).breaks(RuleId::S5)),
            None => Ok(self),
        }
    }

    /// Returns it for one more client: without a name, each is an operation of its own.
    pub(crate) fn for_instance(self) -> Self {
        if self.is_named {
            return self;
        }
        Self {
            site: instance(),
            default_budget: Arc::default(),
            ..self
        }
    }

    pub(crate) fn with_name(self, name: &'static str) -> Self {
        Self {
            site: Site::of_name(name),
            is_named: true,
            ..self
        }
    }

    pub(crate) fn with_budget(self, budget: &'static Budget) -> Self {
        Self {
            policy: self.policy.budget(budget),
            ..self
        }
    }

    pub(crate) const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns its site.
    pub(crate) const fn site(&self) -> &Site {
        &self.site
    }

    /// Returns it for a decision.
    #[inline(always)]
    pub(crate) fn operation(&self) -> Operation<'_> {
        Operation::new(&self.site, &self.policy).sharing(&self.default_budget)
    }

    /// Returns whether the policy holds as it is for a request that says whether it may be executed
    /// twice. What the policy says of that goes first.
    #[inline(always)]
    pub(crate) const fn suits(&self, is_idempotent: bool) -> bool {
        is_idempotent || self.policy.has(Key::Idempotent)
    }

    /// Returns the operation for such a request.
    pub(crate) fn for_request(self, is_idempotent: bool) -> Self {
        if self.suits(is_idempotent) {
            return self;
        }
        Self {
            policy: self.policy.idempotent(false),
            ..self
        }
    }

    /// Returns the operation under a policy that comes with a request; it pays from this one's
    /// budget unless it has its own.
    #[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
    pub(crate) fn under(self, policy: Policy) -> Self {
        let operation = Self { policy, ..self };
        match self.policy.shared_budget() {
            Some(budget) if policy.shared_budget().is_none() => operation.with_budget(budget),
            _ => operation,
        }
    }
}

/// Returns the site of one more client without a name.
fn instance() -> Site {
    static INSTANCES: AtomicU64 = AtomicU64::new(0);
    Site::of_instance(INSTANCES.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    static OURS: Budget = Budget::per_success(0.1);
    #[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
    static THEIRS: Budget = Budget::per_success(0.2);

    /// Without a name it is one for each client, and so is what its calls share.
    #[test]
    fn a_client_without_a_name_is_an_operation_of_its_own() {
        let unnamed = ClientOperation::new(Policy::new());
        let named = unnamed.clone().with_name("pay");
        for (operation, is_shared) in [(unnamed, false), (named, true)] {
            let [one, other] = [operation.clone(), operation].map(ClientOperation::for_instance);
            let is_same = Arc::ptr_eq(&one.default_budget, &other.default_budget);
            assert_eq!(is_same, is_shared);
            let [one, other] = [&one, &other].map(|it| format!("{:?}", it.site()));
            assert_eq!(one == other, is_shared, "{one} {other}");
        }
    }

    /// What the policy says goes first.
    #[test]
    fn a_request_that_may_not_run_twice_changes_the_policy() {
        let silent = Policy::new();
        for (policy, is_idempotent, suits, expected) in [
            (silent, true, true, true),
            (silent, false, false, false),
            (silent.idempotent(true), false, true, true),
            (silent.idempotent(false), true, true, false),
        ] {
            let operation = ClientOperation::new(policy).with_budget(&OURS);
            assert_eq!(operation.suits(is_idempotent), suits);
            let operation = operation.for_request(is_idempotent);
            assert_eq!(operation.policy().is_idempotent(), expected);
            let budget = operation.policy().shared_budget();
            assert!(budget.is_some_and(|it| core::ptr::eq(it, &raw const OURS)));
        }
        assert!(ClientOperation::try_new(silent.max(0)).is_err());
    }

    #[cfg(feature = "tower")]
    #[test]
    fn a_timeout_is_refused_where_nobody_can_report_it() {
        let refused = |policy| {
            let refusal = ClientOperation::new(policy).without_timeout().err();
            refusal.map(|refusal| refusal.rule())
        };
        let second = core::time::Duration::from_secs(1);
        assert_eq!(refused(Policy::new().deadline(second)), None);
        assert_eq!(refused(Policy::new().timeout(second)), Some(RuleId::S5));
    }

    /// The budget of the client holds unless the policy of a request has one.
    #[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
    #[test]
    fn a_policy_of_a_request_keeps_the_budget_of_the_client() {
        const POLICY: Policy = Policy::new();
        for (client, request, expected) in [
            (POLICY, POLICY, None),
            (POLICY, POLICY.budget(&THEIRS), Some(&THEIRS)),
            (POLICY.budget(&OURS), POLICY, Some(&OURS)),
            (POLICY.budget(&OURS), POLICY.budget(&THEIRS), Some(&THEIRS)),
        ] {
            let operation = ClientOperation::new(client).under(request.max(7));
            let budget = operation.policy().shared_budget();
            assert_eq!(
                budget.map(core::ptr::from_ref),
                expected.map(core::ptr::from_ref)
            );
            assert_eq!(operation.policy().attempts(), Some(7));
        }
    }
}
