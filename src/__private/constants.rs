//! What an expansion says in constants: a rule that one of them breaks is an error of the compiler.

use core::time::Duration;

use reattempt_policy::BackoffFn;
#[cfg(feature = "std")]
use reattempt_policy::rules::RuleId;
use reattempt_policy::rules::{Key, Violation};
use retry_runtime::Policy;

/// `policy = CONSTANT`. The methods of a [`Policy`] are inherent, because a constant calls no other ones; those of the trait
/// are found for any other type, and their bound says what is expected.
#[derive(Debug)]
pub struct PolicyOf<T>(pub T);

impl PolicyOf<Policy> {
    /// Returns the policy.
    pub const fn inherited(self) -> Policy {
        self.0.trusted()
    }

    /// Returns the same where keys with values of the running program stand beside it.
    pub const fn unchecked(self) -> Policy {
        self.0
    }
}

/// A constant of another type.
#[expect(clippy::unreachable, reason = "no type is the one that is asked for")]
pub trait WrongPolicy<T>: Sized {
    fn inherited(self) -> Policy
    where
        T: IsPolicy,
    {
        unreachable!()
    }

    fn unchecked(self) -> Policy
    where
        T: IsPolicy,
    {
        unreachable!()
    }
}

impl<T> WrongPolicy<T> for PolicyOf<T> {}

/// A policy.
#[diagnostic::on_unimplemented(
    message = "`policy` takes a `Policy`, and this constant is of type `{Self}`",
    label = "expected a `Policy`",
    note = "a policy of the configuration is named by a text in the attribute, `policy = \"storage\"`, and the numbers of one are keys, such as `max = 3`",
    note = "write `*POLICY` for what is behind a `LazyLock`",
    note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
)]
pub trait IsPolicy {}

/// Returns the policy that an expression of `policy = ...` holds: a [`Policy`], or what has one.
#[inline(always)]
pub fn policy<P: HoldsPolicy + ?Sized>(policy: &P) -> &Policy {
    policy.as_ref()
}

/// What `policy = ...` takes.
#[diagnostic::on_unimplemented(
    message = "`policy` takes a `Policy`, a reference to one, or an `AsRef<Policy>`, but is a `{Self}`",
    label = "no `Policy`",
    note = "write `.unwrap_or(POLICY)` behind an `Option`, or name the field that is the policy",
    note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
)]
pub trait HoldsPolicy: AsRef<Policy> {}

#[diagnostic::do_not_recommend]
impl<P: AsRef<Policy> + ?Sized> HoldsPolicy for P {}

/// Returns the first rule that a constant policy breaks, whatever the values of `unknown` are.
pub const fn broken(policy: &Policy, unknown: &[Key]) -> Option<Violation> {
    policy.values().known_violation(unknown)
}

/// At the key or at its value: where `key` is what the rule is about, the program does not compile.
#[track_caller]
pub const fn blame(broken: Option<&Violation>, key: Key, is_about_effects: bool) {
    if let Some(violation) = broken
        && let Some(blamed) = violation.key()
        && blamed as u32 == key as u32
        && violation.rule().is_about_effects() == is_about_effects
    {
        violation.refuse();
    }
}

/// Panics with the rule that a constant policy breaks.
#[track_caller]
pub const fn refuse(broken: Option<&Violation>) {
    if let Some(violation) = broken {
        violation.refuse();
    }
}

/// `backoff = expression`, promoted to a static by the constant it stands in.
pub const fn backoff<B: BackoffFn + Send + Sync>(
    backoff: &'static B,
) -> &'static (dyn BackoffFn + Send + Sync) {
    backoff
}

/// `backoff = |retry| ...`: says what the parameter is.
pub const fn backoff_by<B: Fn(u32) -> Duration + Send + Sync>(
    backoff: &'static B,
) -> &'static (dyn BackoffFn + Send + Sync) {
    backoff
}

/// `hedge = CONSTANT`: a `Hedge`, or the delay of one.
#[cfg(feature = "std")]
#[derive(Debug)]
pub struct HedgeOf<T>(pub T);

#[cfg(feature = "std")]
impl HedgeOf<crate::hedge::Hedge> {
    /// Returns the hedge.
    pub const fn hedge(self) -> crate::hedge::Hedge {
        self.0
    }
}

#[cfg(feature = "std")]
impl HedgeOf<Duration> {
    /// Returns the hedge.
    #[track_caller]
    pub const fn hedge(self) -> crate::hedge::Hedge {
        crate::hedge::Hedge::after(self.0)
    }
}

/// `budget = CONSTANT`: a reference to a budget, or the share of one of the operation's own.
#[cfg(feature = "std")]
#[derive(Debug)]
pub struct BudgetOf<T>(pub T);

#[cfg(feature = "std")]
impl BudgetOf<f64> {
    /// Panics if the budget breaks a rule.
    #[track_caller]
    pub const fn check(self) {
        let _ = retry_runtime::Budget::per_success(self.0);
    }

    /// `check` says what is wrong with a share.
    pub const fn own(self) -> retry_runtime::Budget {
        let is_share = reattempt_policy::rules::budget_share(self.0).is_none();
        retry_runtime::Budget::per_success(if is_share { self.0 } else { 1.0 })
    }

    /// Returns the budget of the constant, or `own` for a ratio.
    pub const fn or(self, own: &'static retry_runtime::Budget) -> &'static retry_runtime::Budget {
        own
    }
}

#[cfg(feature = "std")]
impl BudgetOf<&'static retry_runtime::Budget> {
    /// Panics if the budget breaks a rule.
    pub const fn check(self) {}

    /// Makes a budget that no call uses: `or` returns that of the constant.
    pub const fn own(self) -> retry_runtime::Budget {
        retry_runtime::Budget::tokens(10)
    }

    /// Returns the budget of the constant, or `own` for a ratio.
    pub const fn or(self, _: &'static retry_runtime::Budget) -> &'static retry_runtime::Budget {
        self.0
    }
}

// A constant budget is one of the operation's own. A `static` cannot be moved: the compiler says so, and to borrow it.
#[cfg(feature = "std")]
impl BudgetOf<retry_runtime::Budget> {
    /// Panics if the budget breaks a rule.
    #[track_caller]
    pub const fn check(self) {
        refuse_budget(&self.0);
    }

    /// Returns the budget of the operation's own.
    pub const fn own(self) -> retry_runtime::Budget {
        self.0
    }

    /// Returns the budget of the constant, or `own` for a ratio.
    pub const fn or(self, own: &'static retry_runtime::Budget) -> &'static retry_runtime::Budget {
        own
    }
}

/// R11: a budget of the operation's own, which has to pay for a retry.
#[cfg(feature = "std")]
#[track_caller]
pub const fn paying(budget: retry_runtime::Budget) -> retry_runtime::Budget {
    refuse_budget(&budget);
    budget
}

/// R11: the budget of a policy.
#[cfg(feature = "std")]
#[track_caller]
pub const fn refuse_shared_budget(policy: &Policy) {
    if let Some(budget) = policy.shared_budget() {
        refuse_budget(budget);
    }
}

#[cfg(feature = "std")]
#[track_caller]
const fn refuse_budget(budget: &retry_runtime::Budget) {
    if let Some(refusal) = budget.violation() {
        refusal.refuse();
    }
}

/// X12: a hedge beside the policy of its operation.
#[cfg(feature = "std")]
#[track_caller]
pub const fn refuse_hedge(hedge: &crate::hedge::Hedge, policy: &Policy) {
    if !policy.is_idempotent() {
        RuleId::X12.refuse(
            "`hedge` runs an operation twice at the same time, and the policy's `idempotent = false` forbids that; drop one of them",
        );
    }
    if let Some(refusal) = hedge.violation(policy) {
        refusal.refuse();
    }
}

/// X10: a breaker that a constant names, beside the policy of the operation.
#[cfg(feature = "std")]
#[track_caller]
pub const fn refuse_window(breaker: &retry_runtime::Breaker, policy: &Policy) {
    if let Some(refusal) = breaker.violation_under(policy.values().timeout) {
        refusal.refuse();
    }
}
