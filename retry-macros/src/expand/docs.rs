//! The line in a function's documentation that says what its policy means.

use proc_macro2::TokenStream;

use super::policy::literal_policy;
use reattempt_syntax::model::Model;

/// Whether the calls of a literal policy have a budget because it names none.
fn shares_budget(model: &Model) -> bool {
    model.known.has_default_budget() && model.strategy.is_none()
}

pub(super) fn lines(model: &Model) -> TokenStream {
    if !model.doc {
        return TokenStream::new();
    }
    let text = match (literal_policy(model), &model.named) {
        (Some(policy), Some(named)) => format!(
            " **Retried** by the policy `{}` of the configuration; where that says nothing: {}",
            named.value(),
            policy.explain()
        ),
        (None, Some(named)) => format!(
            " **Retried** by the policy `{}` of the configuration.",
            named.value()
        ),
        // Said here, because no key of the attribute shows it.
        (Some(policy), None) if shares_budget(model) => {
            format!(
                " **Retried:** {} Its calls share a budget.",
                policy.explain()
            )
        }
        (Some(policy), None) => format!(" **Retried:** {}", policy.explain()),
        (None, None) => " **Retried**, by a policy that is defined elsewhere.".to_owned(),
    };
    ours! {
        #[doc = ""]
        #[doc = #text]
    }
}
