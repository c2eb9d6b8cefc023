//! The line that tells the readers of a function's documentation what its
//! policy means.

use proc_macro2::TokenStream;

use super::policy::literal_policy;
use crate::model::Model;

pub(super) fn lines(model: &Model) -> TokenStream {
    let text = match literal_policy(model) {
        Some(policy) => format!(" **Retried:** {}", policy.explain()),
        None => " **Retried**, by a policy that is defined elsewhere.".to_owned(),
    };
    ours! {
        #[doc = ""]
        #[doc = #text]
    }
}
