//! `#[step]`: a function that asks its task for the outcome, around the function that does it.
//!
//! ```text
//! #[step(retry(KEYS), complete_by = "30s", undo = refund)]
//! async fn pay(step: &Step, #[with] shop: &Shop, order: &Order) -> Result<Paid, E> { BODY }
//!
//! fn pay(flow: &Flow, order: &Order) -> impl Future<Output = Result<Paid, StepError>> + Send {
//!     let argument_1 = order;
//!     let undo = ...;
//!     call(flow, Spec { ... }, form::<Paid>(), |step| {
//!         let argument_0 = resource()?;
//!         Ok(async {
//!             let function = {
//!                 #[retry(KEYS)]
//!                 async fn pay(step: &Step, shop: &Shop, order: &Order) -> Result<Paid, RetryError<E>> { BODY }
//!                 pay
//!             };
//!             gave_up(function(step, argument_0, argument_1).await)
//!         })
//!     }, undo)
//! }
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Path, Type};

use crate::expand::Expanded;
use crate::function::{Durable, Parameter, Wanted};
use crate::types::bare;
use crate::{args, attributes, undo, values};
use reattempt_syntax::args::Given;
use reattempt_syntax::diagnostics::{Diagnostic, Diagnostics};
use reattempt_syntax::item::Function;
use reattempt_syntax::model::{at, located};

const WANTED: Wanted = Wanted {
    what: "step",
    first: "Step",
    takes_with: true,
};

/// A step with nothing wrong in it; what is wrong is left out.
pub(crate) struct Step {
    krate: TokenStream,
    pub(crate) private: TokenStream,
    name: TokenStream,
    complete_by: TokenStream,
    retries: Option<Retries>,
    undo: Option<Path>,
    durable: Durable,
}

pub(crate) fn expand(
    arguments: TokenStream,
    function: Function,
    faults: &mut Diagnostics,
) -> Expanded {
    let keys = args::parse(arguments, args::OF_STEP, faults);
    let mut wrong = Diagnostics::default();
    let durable = Durable::read(function, &WANTED, &mut wrong);
    let is_right = wrong.is_empty();
    faults.merge(wrong);
    let step = Step::checked(keys, durable?, faults);
    is_right.then(|| step.expand())
}

impl Step {
    fn checked(keys: args::Step, durable: Durable, faults: &mut Diagnostics) -> Self {
        let krate = values::krate(keys.krate, faults);
        let retries = keys.retry.and_then(|retries| told(retries.0, faults));
        values::within(keys.complete_by.as_ref(), retries.as_ref(), faults);
        let private = ours!(#krate::private);
        let name = durable.function.signature.ident.unraw().to_string();
        let undo = keys.undo.and_then(|undo| told(undo.0, faults));
        let undo = undo.filter(|_| undo::keeps(&durable.parameters, faults));
        Self {
            name: values::name(keys.name, &name, faults),
            complete_by: values::limit(keys.complete_by, faults),
            retries: retries.map(|keys| Retries::of(&keys, &private)),
            undo,
            durable,
            krate,
            private,
        }
    }

    fn expand(&self) -> TokenStream {
        let Self {
            krate,
            private,
            name,
            complete_by,
            ..
        } = self;
        let Function {
            attributes,
            visibility,
            signature,
            ..
        } = &self.durable.function;
        let (outer, inner) = attributes::split(attributes);
        let (function, generics) = (&signature.ident, &signature.generics);
        let bounds = &generics.where_clause;
        let flow = self.durable.task();
        let (names, types): (Vec<_>, Vec<_>) = self
            .asked()
            .map(|(_, parameter)| (&parameter.name, &parameter.ty))
            .unzip();
        let arguments: Vec<_> = self.asked().map(|(i, _)| argument(i)).collect();
        let task = (flow != "flow").then(|| ours!(let flow = #flow;));
        let moved = (!names.is_empty()).then(|| ours!(let (#(#arguments,)*) = (#(#names,)*);));
        let value = self.value();
        let idempotent = self.retries.as_ref().map(|retries| &retries.idempotent);
        let idempotent = idempotent.map_or_else(|| ours!(true), |given| ours!(#given));
        let undo = self.undo.as_ref().map_or_else(
            || ours!(::core::option::Option::None::<#private::NoUndo<#value>>),
            |path| undo::expand(self, path),
        );
        let run = self.run(&inner);
        let form = quote_spanned!(at(self.durable.answer.span())=> #private::form::<#value>());
        let located = located(private.clone(), function.span());
        let call = quote_spanned! {at(function.span())=>
            #located::call(flow, spec, #form, #run, undo)
        };
        ours! {
            #outer
            #visibility fn #function #generics(
                #flow: &#krate::Flow,
                #(#names: #types),*
            ) -> impl ::core::future::Future<Output = ::core::result::Result<#value, #krate::StepError>> + ::core::marker::Send
            #bounds
            {
                #moved
                #task
                let spec = #private::Spec {
                    name: #name,
                    complete_by: #complete_by,
                    idempotent: #idempotent,
                };
                let undo = #undo;
                #call
            }
        }
    }

    /// The function as written, out of sight of what the wrapper has.
    fn inside(&self, attributes: &TokenStream) -> TokenStream {
        let Self { private, .. } = self;
        let function = &self.durable.function;
        let (mut signature, body) = (function.signature.clone(), &function.body);
        let name = signature.ident.clone();
        let retry = self.retries.as_ref().map(|retries| {
            let (value, error) = (self.value(), self.error());
            let answer = quote_spanned! {at(self.durable.answer.span())=>
                ::core::result::Result<#value, #private::RetryError<#error>>
            };
            signature.output = syn::parse_quote!(-> #answer);
            &retries.attribute
        });
        ours!({
            #retry
            #attributes
            #signature #body
            #name
        })
    }

    /// What an agent is given: a closure that asks for what is lent, then makes the future.
    fn run(&self, attributes: &TokenStream) -> TokenStream {
        let Self { private, .. } = self;
        let parameters = &self.durable.parameters;
        let inside = self.inside(attributes);
        let first = &self.durable.first;
        let task = quote_spanned!(at(first.span())=> <#first as #private::IsStep>::of(&step));
        let lent = parameters.iter().enumerate().filter(|(_, it)| it.is_with);
        let lent = lent.map(|(i, Parameter { ty, .. })| {
            let argument = argument(i);
            let ty = match bare(ty) {
                Type::Reference(reference) => &*reference.elem,
                ty => ty,
            };
            let resource = located(ours!(#private::resource), ty.span());
            ours!(let #argument = #resource::<#ty>(flow, spec.name)?;)
        });
        let given = parameters.iter().enumerate().map(|(i, parameter)| {
            let argument = argument(i);
            if parameter.is_with {
                ours!(::core::ops::Deref::deref(&#argument))
            } else {
                ours!(#argument)
            }
        });
        let judged = if self.retries.is_some() {
            ours!(#private::gave_up)
        } else {
            ours!(#private::final_error)
        };
        let judged = located(judged, self.durable.answer.span());
        let function = Ident::new("function", at(self.durable.function.signature.ident.span()));
        // All of it at the name, where the compiler tells that it is not `Send`.
        let future = quote_spanned! {at(function.span())=>
            async move {
                let function = #inside;
                #judged(#function(#task, #(#given),*).await)
            }
        };
        ours! {
            move |step| {
                #(#lent)*
                ::core::result::Result::Ok(#future)
            }
        }
    }

    /// The parameters that callers give, with their numbers.
    pub(crate) fn asked(&self) -> impl Iterator<Item = (usize, &Parameter)> {
        let all = self.durable.parameters.iter().enumerate();
        all.filter(|(_, parameter)| !parameter.is_with)
    }

    pub(crate) fn value(&self) -> TokenStream {
        let (private, answer) = (&self.private, &self.durable.answer);
        quote_spanned!(at(answer.span())=> <#answer as #private::AnyResult>::Value)
    }

    fn error(&self) -> TokenStream {
        let (private, answer) = (&self.private, &self.durable.answer);
        quote_spanned!(at(answer.span())=> <#answer as #private::AnyResult>::Error)
    }
}

/// What an argument is called inside of the wrapper.
pub(crate) fn argument(i: usize) -> Ident {
    Ident::new(&format!("argument_{i}"), Span::mixed_site())
}

fn told<T>(given: Result<T, Diagnostic>, faults: &mut Diagnostics) -> Option<T> {
    given.map_err(|fault| faults.add(fault)).ok()
}

/// `retry(KEYS)`, as an attribute of the function inside.
struct Retries {
    attribute: TokenStream,
    idempotent: TokenStream,
}

impl Retries {
    fn of(keys: &TokenStream, private: &TokenStream) -> Self {
        // What is wrong with them the attribute inside tells.
        let read = reattempt_syntax::args::parse(keys.clone(), &mut Diagnostics::default());
        let comma = (!keys.is_empty() && !ends_in_comma(keys)).then(|| ours!(,));
        let krate = match read.krate {
            Some(_) => None,
            None => Some(ours!(#comma crate = #private::reattempt)),
        };
        let idempotent = match read.idempotent.map(|value| value.given) {
            Some(Given::Literal(false, _)) => ours!(false),
            Some(Given::Expression(expression)) => ours!(#expression),
            _ => ours!(true),
        };
        Self {
            attribute: ours!(#[#private::reattempt::retry(#keys #krate)]),
            idempotent,
        }
    }
}

fn ends_in_comma(tokens: &TokenStream) -> bool {
    let last = tokens.clone().into_iter().last();
    matches!(last, Some(proc_macro2::TokenTree::Punct(punct)) if punct.as_char() == ',')
}
