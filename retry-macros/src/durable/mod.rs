//! `#[step]` and `#[workflow]` of durable tasks. The retries of a step are an ordinary `#[retry(...)]` on the function inside, so its keys are
//! parsed, checked and expanded where they always are.

mod args;
mod step;
mod workflow;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::visit_mut::VisitMut;
use syn::{Attribute, FnArg, Ident, Lifetime, Pat, PatType, Path, ReturnType, Type};

use crate::faults::Faults;
use crate::item::Function;

/// One of the two attributes.
pub(crate) fn attribute(
    arguments: TokenStream,
    item: TokenStream,
    expand: fn(TokenStream, Function) -> Result<TokenStream, Faults>,
) -> TokenStream {
    let expanded = match syn::parse2(item.clone()) {
        Ok(function) => expand(arguments, function),
        Err(_) => Err(syn::Error::new(
            item.span(),
            "this attribute stands on an `async fn`; put it on one",
        )
        .into()),
    };
    expanded.unwrap_or_else(|faults| {
        let errors = faults.into_compile_errors();
        // So that the callers do not fail too, as far as that can be.
        let item = without_with(item);
        ours!(#item #errors)
    })
}

pub(crate) use step::expand as step;
pub(crate) use workflow::expand as workflow;

/// A function that a durable task is made of.
struct Durable {
    function: Function,
    /// The parameters after the first, as written.
    parameters: Vec<Parameter>,
    answer: Type,
}

struct Parameter {
    /// What the wrapper calls it.
    name: Ident,
    ty: Type,
    /// `#[with]`: the scheduler gives it.
    is_with: bool,
}

impl Parameter {
    fn is_lent(&self) -> bool {
        matches!(self.ty, Type::Reference(_))
    }
}

/// What a step and a workflow have in common.
struct Wanted {
    /// `step`.
    what: &'static str,
    /// `step: &Step`.
    first: &'static str,
    takes_with: bool,
}

/// Reads the function; what is wrong with it is told at its tokens.
fn durable(mut function: Function, wanted: &Wanted, faults: &mut Faults) -> Option<Durable> {
    let what = wanted.what;
    let signature = &mut function.signature;
    if signature.asyncness.is_none() {
        faults.push(
            signature.fn_token.span,
            format!("a {what} waits for others; write `async fn`"),
        );
    }
    if function.body.is_none() {
        faults.push(signature.ident.span(), format!("a {what} needs a body"));
    }
    if !signature.generics.params.is_empty() {
        faults.push(
            signature.generics.span(),
            format!(
                "a {what} is found again by its name after a restart, so it cannot be generic; write the types, and leave lifetimes out"
            ),
        );
    }
    let mut inputs = signature.inputs.iter_mut();
    let has_first = match inputs.next() {
        Some(FnArg::Receiver(receiver)) => {
            faults.push(
                receiver.span(),
                format!("a {what} is a function of its own: it is run again without its `self`; make it one, and take what it needs as parameters"),
            );
            return None;
        }
        Some(FnArg::Typed(first)) => is_reference_to(&first.ty, wanted.first),
        None => false,
    };
    if !has_first {
        let (name, first) = (what_first(wanted), wanted.first);
        faults.push(
            signature.ident.span(),
            format!("the first parameter of a {what} is its task; write `{name}: &{first}`"),
        );
    }
    let mut parameters = Vec::new();
    for (i, input) in signature.inputs.iter_mut().skip(1).enumerate() {
        if let FnArg::Typed(typed) = input {
            parameters.push(parameter(typed, i, wanted, faults));
        }
    }
    let answer = match &signature.output {
        ReturnType::Type(_, ty) => Some((**ty).clone()),
        ReturnType::Default => {
            faults.push(
                signature.paren_token.span.close(),
                format!("a {what} can fail; write `-> Result<T, E>`"),
            );
            None
        }
    };
    Some(Durable {
        parameters,
        answer: answer?,
        function,
    })
}

const fn what_first(wanted: &Wanted) -> &'static str {
    if wanted.takes_with { "step" } else { "flow" }
}

fn parameter(typed: &mut PatType, i: usize, wanted: &Wanted, faults: &mut Faults) -> Parameter {
    let is_with = |attribute: &Attribute| attribute.path().is_ident("with");
    let with = typed.attrs.iter().find(|attribute| is_with(attribute));
    let with = with.map(syn::spanned::Spanned::span);
    if let Some(with) = with {
        if !wanted.takes_with {
            faults.push(
                with,
                "a workflow is run again from its record, so it uses nothing from outside; take it in a step",
            );
        } else if !matches!(&*typed.ty, Type::Reference(_)) {
            faults.push(
                typed.ty.span(),
                "what the scheduler has is lent to steps; write `&T`",
            );
        }
    }
    typed.attrs.retain(|attribute| !is_with(attribute));
    let name = match &*typed.pat {
        Pat::Ident(name) => name.ident.clone(),
        other => Ident::new(&format!("argument_{i}"), other.span()),
    };
    Parameter {
        name,
        ty: (*typed.ty).clone(),
        is_with: with.is_some(),
    }
}

fn is_reference_to(ty: &Type, name: &str) -> bool {
    let Type::Reference(reference) = ty else {
        return false;
    };
    matches!(&*reference.elem, Type::Path(path)
        if path.path.segments.last().is_some_and(|last| last.ident == name))
}

/// Attributes that concern whoever calls the function, and those of its body.
fn split(attributes: Vec<Attribute>) -> (Vec<Attribute>, Vec<Attribute>) {
    const OUTER: [&str; 11] = [
        "doc",
        "cfg",
        "cfg_attr",
        "deprecated",
        "must_use",
        "allow",
        "expect",
        "warn",
        "deny",
        "forbid",
        "inline",
    ];
    let is_outer = |attribute: &Attribute| {
        let path = attribute.path();
        OUTER.iter().any(|name| path.is_ident(name))
    };
    attributes.into_iter().partition(is_outer)
}

/// Gives each reference without a lifetime this one.
struct Named(Lifetime);

impl VisitMut for Named {
    fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
        reference.lifetime.get_or_insert_with(|| self.0.clone());
        syn::visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.0.clone();
        }
    }
}

fn lifetime() -> Lifetime {
    Lifetime::new("'flow", Span::mixed_site())
}

fn with_lifetime(ty: &Type) -> Type {
    let mut ty = ty.clone();
    Named(lifetime()).visit_type_mut(&mut ty);
    ty
}

/// The crate that the expansion names.
fn krate(given: Option<crate::args::CratePath>, faults: &mut Faults) -> TokenStream {
    let given = given.and_then(|path| path.0.map_err(|fault| faults.add(fault)).ok());
    given.map_or_else(|| ours!(::retry_supervisor), Path::into_token_stream)
}

/// The function without the attributes that only we know.
fn without_with(item: TokenStream) -> TokenStream {
    let Ok(mut function) = syn::parse2::<Function>(item.clone()) else {
        return item;
    };
    for input in &mut function.signature.inputs {
        if let FnArg::Typed(typed) = input {
            typed
                .attrs
                .retain(|attribute| !attribute.path().is_ident("with"));
        }
    }
    let Function {
        attributes,
        visibility,
        signature,
        body,
    } = function;
    ours!(#(#attributes)* #visibility #signature #body)
}
