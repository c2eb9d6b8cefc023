//! `#[workflow]`: a function that makes a submission of its arguments, around the function that is run.
//!
//! ```text
//! #[workflow(version = 2)]
//! async fn order(flow: &Flow, cart: Cart) -> Result<Receipt, E> { BODY }
//!
//! fn order(cart: Cart) -> Submission<impl Workflow<Output = Receipt>> {
//!     struct Of;
//!     impl Workflow for Of { const NAME ...; fn run(flow, input) { async fn order(flow: &Flow, cart: Cart) { BODY } ... } }
//!     submission::<Of>(&(cart,))
//! }
//! ```

use proc_macro2::{Span, TokenStream};
use syn::Ident;
use syn::Type;
use syn::spanned::Spanned as _;

use super::args;
use super::{Durable, Wanted, durable, krate, split};
use crate::faults::Faults;
use crate::item::Function;

const WANTED: Wanted = Wanted {
    what: "workflow",
    first: "Flow",
    takes_with: false,
};

/// Failures of a task before it is undone.
const MAX_FAILURES: i32 = 5;

pub(crate) fn expand(arguments: TokenStream, function: Function) -> Result<TokenStream, Faults> {
    let mut faults = Faults::default();
    let keys: args::Workflow = args::parse(arguments, args::OF_WORKFLOW, &mut faults);
    let durable = durable(function, &WANTED, &mut faults);
    let krate = krate(keys.krate, &mut faults);
    let limit = args::limit(keys.complete_by, &mut faults);
    let version = args::number(keys.version, 1, &mut faults);
    let max_failures = args::number(keys.max_failures, MAX_FAILURES, &mut faults);
    let name = durable
        .as_ref()
        .map(|durable| durable.function.signature.ident.to_string());
    let name = args::name(keys.name, &name.unwrap_or_default(), &mut faults);
    if let Some(durable) = &durable {
        for parameter in &durable.parameters {
            if let Type::Reference(reference) = &parameter.ty {
                faults.push(
                    reference.and_token.span,
                    "the arguments of a workflow are written down and outlive their submission; take them by value",
                );
            }
        }
    }
    let Some(durable) = faults.finish(durable)? else {
        return Ok(TokenStream::new()); // refused above
    };
    let private = ours!(#krate::private);
    let Durable {
        function,
        parameters,
        answer,
    } = durable;
    let Function {
        attributes,
        visibility,
        signature,
        body,
    } = function;
    let (outer, inner) = split(attributes);
    let function = &signature.ident;
    let given: Vec<_> = (0..parameters.len())
        .map(|i| Ident::new(&format!("argument_{i}"), Span::mixed_site()))
        .collect();
    let names = parameters.iter().map(|parameter| &parameter.name);
    let names: Vec<_> = names.collect();
    let types: Vec<_> = parameters.iter().map(|parameter| &parameter.ty).collect();
    let value = ours!(<#answer as #private::AnyResult>::Value);
    let output = syn::parse_quote_spanned! {answer.span()=> #value };
    let output: Type = output;
    Ok(ours! {
        #(#outer)*
        #visibility fn #function(
            #(#names: #types),*
        ) -> #krate::Submission<impl #krate::Workflow<Output = #output>> {
            struct Of;
            impl #private::Workflow for Of {
                const NAME: &'static ::core::primitive::str = #name;
                const VERSION: ::core::primitive::i32 = #version;
                const COMPLETE_BY: ::core::option::Option<::core::time::Duration> = #limit;
                const MAX_FAILURES: ::core::primitive::i32 = #max_failures;
                type Output = #value;

                fn run<'flow>(
                    flow: &'flow #krate::Flow,
                    input: &'flow ::core::primitive::str,
                ) -> #private::Running<'flow> {
                    #(#inner)*
                    #signature #body
                    #private::Box::pin(async move {
                        let (#(#given,)*): (#(#types,)*) = #private::arguments(input, <Of as #private::Workflow>::NAME)?;
                        #private::ended(#function(flow, #(#given),*).await)
                    })
                }
            }
            #private::submission::<Of>(&(#(#names,)*))
        }
    })
}
