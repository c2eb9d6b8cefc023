//! [`Model`](reattempt_syntax::model::Model) -> tokens. Every token of ours is hygienic
//! (`mixed_site`); where the compiler should point at the user's code it is
//! located there.

mod asynchronous;
mod block;
mod docs;
mod function;
mod future;
mod history;
mod hooks;
mod limits;
mod methods;
mod moves;
mod observe;
mod outcome;
mod parts;
mod policy;
mod site;
mod strategy;
mod sync;
#[cfg(test)]
mod tests;

use proc_macro2::{TokenStream, TokenTree};

use reattempt_policy::rules::RuleId;
use reattempt_syntax::diagnostics::{Diagnostic, Diagnostics};
use reattempt_syntax::item::{self, Kind};
use reattempt_syntax::methods::is_never;
use reattempt_syntax::slips;

pub(crate) use block::block;

/// `#[retry(...)]`: on any fault the function is still there, so that its
/// callers do not fail too.
pub(crate) fn attribute(arguments: &TokenStream, item: TokenStream) -> TokenStream {
    match attribute_or_faults(arguments.clone(), &item) {
        Ok(expanded) => expanded,
        Err(faults) => {
            let errors = faults.into_compile_errors();
            // Of two things in place of an expression the compiler ignores the second, and says so.
            if syn::parse2::<syn::Expr>(item.clone()).is_ok() {
                return errors;
            }
            let item = function::standing(arguments, item);
            ours!(#item #errors)
        }
    }
}

fn attribute_or_faults(
    arguments: TokenStream,
    item: &TokenStream,
) -> Result<TokenStream, Diagnostics> {
    match item::kind(item) {
        Kind::Function | Kind::Impl if is_never(&arguments) => Ok(item.clone()),
        Kind::Function => function::expand(arguments, syn::parse2(item.clone())?, None),
        Kind::Impl => methods::expand(&arguments, item.clone()),
        Kind::Other(span) => {
            Err(Diagnostic::new(span, RuleId::S3, slips::misplaced(&arguments, item)).into())
        }
    }
}

/// The written keys, half-typed ones included.
fn words(arguments: &TokenStream) -> Vec<TokenTree> {
    let mut starts = true;
    let words = arguments.clone().into_iter().filter(|token| {
        // `crate` is a keyword, so `Keys` cannot have a method of that name.
        let is_key = starts && matches!(token, TokenTree::Ident(word) if word != "crate");
        starts = matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',');
        is_key
    });
    words.collect()
}

/// The written keys, where an editor finds what they mean and what they may become: the compiler sees nothing of it.
fn keys(krate: &TokenStream, words: &[TokenTree]) -> Option<TokenStream> {
    (!words.is_empty()).then(|| ours!(#krate::__private::keys!(#(#words)*);))
}
