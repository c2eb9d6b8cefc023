//! `#[step]` and `#[workflow]` of durable tasks. The retries of a step are an ordinary `#[retry(...)]` on the function inside,
//! so its keys are parsed, checked and expanded where they always are.
//!
//! The stages: tokens -> `args` and `function` -> `values` -> `step` or `workflow`.

mod args;
mod attributes;
mod function;
mod limit;
mod step;
#[cfg(test)]
mod tests;
mod types;
mod undo;
mod values;
mod workflow;

use proc_macro2::TokenStream;
use syn::FnArg;
use syn::spanned::Spanned as _;

use retry_runtime::rules::Entry;
use retry_syntax::faults::Faults;
use retry_syntax::item::Function;

#[cfg(test)]
pub(crate) use args::{OF_STEP, OF_WORKFLOW};
pub(crate) use step::expand as step;
pub(crate) use workflow::expand as workflow;

/// What a function becomes, also where its keys are wrong, so that its callers do not fail too; nothing, where it is no function
/// for a task.
type Expanded = Option<TokenStream>;

/// One of the two attributes.
pub(crate) fn attribute(
    arguments: TokenStream,
    item: TokenStream,
    expand: fn(TokenStream, Function, &mut Faults) -> Expanded,
) -> TokenStream {
    let mut faults = Faults::default();
    let expanded = if let Ok(function) = syn::parse2(item.clone()) {
        expand(arguments, function, &mut faults)
    } else {
        faults.push(
            item.clone().into_iter().next().span(),
            Entry::D6,
            "a durable task is made of functions; put this attribute on an `async fn`",
        );
        None
    };
    let item = expanded.unwrap_or_else(|| without_with(item));
    let errors = faults.into_compile_errors();
    ours!(#item #errors)
}

/// The function without the attributes that only we know.
fn without_with(item: TokenStream) -> TokenStream {
    let Ok(mut function) = syn::parse2::<Function>(item.clone()) else {
        return item;
    };
    for input in &mut function.signature.inputs {
        if let FnArg::Typed(typed) = input {
            function::without_with(typed);
        }
    }
    // Refused, so it would only be told again.
    function
        .attributes
        .retain(|attribute| !function::is_retry(attribute));
    let Function {
        attributes,
        visibility,
        signature,
        body,
    } = function;
    let body = body.map_or_else(|| ours!({ loop {} }), |body| ours!(#body));
    ours!(#(#attributes)* #visibility #signature #body)
}
