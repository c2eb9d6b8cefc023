//! Which faults are about a policy that was read: of any other, what is left of it is not what was written.

use reattempt_syntax::model::Model;
use retry_runtime::rules::Rule;

/// Whether a rule of the runtime says this of the policy.
pub(super) fn is_of_policy(message: &str, model: &Model) -> bool {
    let mut violations = Rule::ALL.iter().filter_map(|rule| rule.check(&model.known));
    violations.any(|violation| violation.message() == message)
}
