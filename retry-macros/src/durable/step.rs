//! `#[step]`: a function that asks its task for the outcome, around the function that does it.
//!
//! ```text
//! #[step(retry(KEYS), complete_by = "30s", undo = refund)]
//! async fn pay(step: &Step, #[with] shop: &Shop, order: &Order) -> Result<Paid, E> { BODY }
//!
//! fn pay<'flow>(flow: &'flow Flow, order: &'flow Order) -> impl Future<Output = Result<Paid, StepError>> + Send {
//!     #[retry(KEYS)]
//!     async fn pay(step: &Step, shop: &Shop, order: &Order) -> Result<Paid, Failed<E>> { BODY }
//!     call(flow, SPEC, |step| pay(step, resource()?, order), undo)
//! }
//! ```

use proc_macro2::TokenStream;
use syn::Type;
use syn::spanned::Spanned as _;

use super::args::{self, Keys};
use super::{Durable, Parameter, Wanted, durable, krate, lifetime, split, with_lifetime};
use crate::args::Given;
use crate::faults::Faults;
use crate::item::Function;

const WANTED: Wanted = Wanted {
    what: "step",
    first: "Step",
    takes_with: true,
};

pub(crate) fn expand(arguments: TokenStream, function: Function) -> Result<TokenStream, Faults> {
    let mut faults = Faults::default();
    let keys: args::Step = args::parse(arguments, args::OF_STEP, &mut faults);
    let durable = durable(function, &WANTED, &mut faults);
    let krate = krate(keys.krate, &mut faults);
    let limit = args::limit(keys.complete_by, &mut faults);
    let undo = keys
        .undo
        .and_then(|undo| undo.given.map_err(|fault| faults.add(fault)).ok());
    let name = durable
        .as_ref()
        .map(|durable| durable.function.signature.ident.to_string());
    let name = args::name(keys.name, &name.unwrap_or_default(), &mut faults);
    if let Some(Keys {
        wrong: Some(wrong), ..
    }) = &keys.retry
    {
        faults.add(wrong.clone());
    }
    let Some(durable) = faults.finish(durable)? else {
        return Ok(TokenStream::new()); // refused above
    };
    let private = ours!(#krate::private);
    let retried = keys.retry.map(|keys| Retried::of(keys, &private));
    let Durable {
        function,
        parameters,
        answer,
    } = durable;
    let Function {
        attributes,
        visibility,
        mut signature,
        body,
    } = function;
    let (outer, inner) = split(attributes);
    let function = signature.ident.clone();
    let value = ours!(<#answer as #private::AnyResult>::Value);
    let error = ours!(<#answer as #private::AnyResult>::Error);
    let (attribute, judged, idempotent) = match retried {
        Some(retried) => {
            let told: Type = syn::parse_quote_spanned! {answer.span()=>
                ::core::result::Result<#value, #private::Failed<#error>>
            };
            signature.output = syn::parse_quote!(-> #told);
            (
                Some(retried.attribute),
                ours!(#private::gave_up),
                retried.idempotent,
            )
        }
        None => (None, ours!(#private::final_error), ours!(true)),
    };
    let flow = lifetime();
    let asked: Vec<_> = parameters
        .iter()
        .filter(|parameter| !parameter.is_with)
        .collect();
    let wrapped = asked.iter().map(|parameter| {
        let (name, ty) = (&parameter.name, with_lifetime(&parameter.ty));
        ours!(#name: #ty)
    });
    let resources = parameters.iter().filter(|parameter| parameter.is_with);
    let resources = resources.map(|Parameter { name, ty, .. }| {
        let ty = match ty {
            Type::Reference(reference) => &*reference.elem,
            ty => ty,
        };
        ours!(let #name = #private::resource::<#ty>(flow, SPEC.name)?;)
    });
    let given = parameters
        .iter()
        .map(|Parameter { name, is_with, .. }| match is_with {
            true => ours!(&*#name),
            false => ours!(#name),
        });
    let undo = undo.map_or_else(
        || ours!(::core::option::Option::None::<#private::NoUndo<#value>>),
        |undo| undone(&undo, &asked, &value, &private),
    );
    Ok(ours! {
        #(#outer)*
        #visibility fn #function<#flow>(
            flow: &#flow #krate::Flow,
            #(#wrapped),*
        ) -> impl ::core::future::Future<Output = ::core::result::Result<#value, #krate::StepError>> + ::core::marker::Send + use<#flow> {
            #attribute
            #(#inner)*
            #signature #body
            const SPEC: #private::Spec = #private::Spec {
                name: #name,
                complete_by: #limit,
                idempotent: #idempotent,
            };
            let undo = #undo;
            #private::call(
                flow,
                SPEC,
                move |step| {
                    #(#resources)*
                    ::core::result::Result::Ok(async move {
                        #function(&*step, #(#given),*).await.map_err(#judged)
                    })
                },
                undo,
            )
        }
    })
}

/// `retry(KEYS)`, as an attribute of the function inside.
struct Retried {
    attribute: TokenStream,
    idempotent: TokenStream,
}

impl Retried {
    fn of(keys: Keys, private: &TokenStream) -> Self {
        let tokens = keys.tokens;
        // What is wrong with them the attribute inside tells.
        let read = crate::args::parse(tokens.clone(), &mut Faults::default());
        let comma = (!tokens.is_empty() && !ends_in_comma(&tokens)).then(|| ours!(,));
        let krate = match read.krate {
            Some(_) => None,
            None => Some(ours!(#comma crate = #private::reattempt)),
        };
        let idempotent = match read.idempotent.map(|value| value.given) {
            Some(Given::Literal(false, _)) => ours!(false),
            Some(Given::Expression(expression)) => ours!(#expression),
            _ => ours!(true),
        };
        let _ = keys.span;
        Self {
            attribute: ours!(#[#private::reattempt::retry(#tokens #krate)]),
            idempotent,
        }
    }
}

fn ends_in_comma(tokens: &TokenStream) -> bool {
    let last = tokens.clone().into_iter().last();
    matches!(last, Some(proc_macro2::TokenTree::Punct(punct)) if punct.as_char() == ',')
}

/// The compensation with arguments of its own, where the task goes back.
fn undone(
    undo: &syn::Expr,
    asked: &[&Parameter],
    value: &TokenStream,
    private: &TokenStream,
) -> TokenStream {
    let owned = asked.iter().map(|parameter| {
        let name = &parameter.name;
        if parameter.is_lent() {
            ours!(let #name = #private::ToOwned::to_owned(#name);)
        } else {
            ours!(let #name = ::core::clone::Clone::clone(&#name);)
        }
    });
    let lent = asked.iter().map(|parameter| {
        let name = &parameter.name;
        if parameter.is_lent() {
            ours!(&#name)
        } else {
            ours!(#name)
        }
    });
    ours! {
        if #private::goes_back(flow) {
            #(#owned)*
            ::core::option::Option::Some(move |result: #value| -> #private::Box<
                dyn ::core::ops::FnOnce(#private::Flow) -> #private::Undoing + ::core::marker::Send,
            > {
                #private::Box::new(move |flow: #private::Flow| -> #private::Undoing {
                    #private::Box::pin(async move {
                        #private::undone(#undo(&flow, #(#lent,)* &result)).await
                    })
                })
            })
        } else {
            ::core::option::Option::None
        }
    }
}
