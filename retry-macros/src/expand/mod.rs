//! [`Model`](crate::model::Model) -> tokens. Every token of ours is hygienic
//! (`mixed_site`); where the compiler should point at the user's code it is
//! located there.

mod asynchronous;
mod block;
mod docs;
mod function;
mod future;
mod parts;
mod sync;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;

use crate::faults::Faults;
use crate::item;

pub(crate) use block::block;

/// `#[retry(...)]`: on any fault the function is still there, so that its
/// callers do not fail too.
pub(crate) fn attribute(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match attribute_or_faults(arguments, &item) {
        Ok(expanded) => expanded,
        Err(faults) => {
            let errors = faults.into_compile_errors();
            ours!(#item #errors)
        }
    }
}

fn attribute_or_faults(arguments: TokenStream, item: &TokenStream) -> Result<TokenStream, Faults> {
    if !item::is_function_like(item) {
        return Err(syn::Error::new(
            proc_macro2::Span::call_site(),
            "`#[retry]` stands on a function or a method; for a part of one there is `retry_block!`",
        )
        .into());
    }
    function::expand(arguments, syn::parse2(item.clone())?)
}
