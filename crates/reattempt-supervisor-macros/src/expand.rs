//! An attribute and its function -> tokens. The function stays even if it has mistakes, so that its
//! callers compile.

use proc_macro2::TokenStream;
use syn::FnArg;
use syn::spanned::Spanned as _;

use reattempt_policy::rules::RuleId;
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::item::Function;

use crate::function;

/// The expansion, also if a key is wrong; `None` if the function cannot be a step or a workflow.
pub(crate) type Expanded = Option<TokenStream>;

/// Expands an attribute with `expand`, the function for steps or for workflows.
pub(crate) fn attribute(
    arguments: TokenStream,
    item: TokenStream,
    expand: fn(TokenStream, Function, &mut Diagnostics) -> Expanded,
) -> TokenStream {
    let mut faults = Diagnostics::default();
    let expanded = if let Ok(function) = syn::parse2(item.clone()) {
        expand(arguments, function, &mut faults)
    } else {
        faults.push(
            item.clone().into_iter().next().span(),
            RuleId::D6,
            "this attribute needs a function; put it on an `async fn`",
        );
        None
    };
    let item = expanded.unwrap_or_else(|| without_with(item));
    let errors = faults.into_compile_errors();
    ours!(#item #errors)
}

/// Returns the function without attributes that the compiler does not know.
fn without_with(item: TokenStream) -> TokenStream {
    let Ok(mut function) = syn::parse2::<Function>(item.clone()) else {
        return item;
    };
    for input in &mut function.signature.inputs {
        if let FnArg::Typed(typed) = input {
            function::without_with(typed);
        }
    }
    // A message has refused it already.
    function
        .attributes
        .retain(|attribute| !function::is_retry(attribute));
    let Function {
        attributes,
        visibility,
        signature,
        body,
        ..
    } = function;
    let body = body.map_or_else(|| ours!({ loop {} }), |body| ours!(#body));
    ours!(#(#attributes)* #visibility #signature #body)
}
