//! The function that a durable task is made of: what is asked of it, and its parameters.
//!
//! ```text
//! async fn pay(step: &Step, #[with] shop: &Shop, (a, b): (u32, u32)) -> Result<Paid, E> { ... }
//!
//! first: Step, parameters: [shop: &Shop with, argument_1: (u32, u32)], answer: Result<Paid, E>
//! ```

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned as _;
use syn::{Attribute, FnArg, GenericParam, Pat, PatType, ReturnType, Signature, Type};

use crate::types::{bare, borrowed, value};
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::item::{Answer, Function};
use reattempt_syntax::model::at;
use retry_runtime::rules::RuleId;

/// A function that a durable task is made of.
pub(crate) struct Durable {
    /// As written, without `#[with]`.
    pub(crate) function: Function,
    /// What the first parameter refers to.
    pub(crate) first: Type,
    /// The parameters after the first.
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) answer: Type,
}

pub(crate) struct Parameter {
    /// What the wrapper calls it: as the function does, but nothing else of the user sees it.
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    /// `#[with]`: the scheduler gives it.
    pub(crate) is_with: bool,
}

/// What a step and a workflow have in common.
pub(crate) struct Wanted {
    /// `step`.
    pub(crate) what: &'static str,
    /// `step: &Step`.
    pub(crate) first: &'static str,
    pub(crate) takes_with: bool,
}

impl Durable {
    /// Reads the function; what is wrong with it is told at its tokens.
    pub(crate) fn read(
        mut function: Function,
        wanted: &Wanted,
        faults: &mut Diagnostics,
    ) -> Option<Self> {
        let what = wanted.what;
        if function.body.is_none() {
            let name = &function.signature.ident;
            faults.push(
                name.span(),
                RuleId::D6,
                format!("a {what} is run, so it needs a body; write `{{ ... }}`"),
            );
        }
        attributes(&function.attributes, wanted, faults);
        qualifiers(&function.signature, what, faults);
        generics(&function.signature, what, faults);
        let first = first(&function.signature, wanted, faults);
        let answer = answer(&function.signature, what, faults);
        let inputs = function.signature.inputs.iter_mut().skip(1).enumerate();
        let parameters = inputs.filter_map(|(i, input)| match input {
            FnArg::Typed(typed) => Some(parameter(typed, i, wanted, faults)),
            FnArg::Receiver(_) => None, // refused by the parser
        });
        let parameters = parameters.collect();
        Some(Self {
            first: first?,
            parameters,
            answer: answer?,
            function,
        })
    }

    /// A name for the task that no parameter has.
    pub(crate) fn task(&self) -> Ident {
        let mut name = "flow".to_owned();
        // Not even with an underscore: a lint would ask which of them is meant.
        let is_taken = |name: &str| {
            let mut names = self.parameters.iter().map(|it| it.name.to_string());
            names.any(|taken| taken.strip_prefix('_').unwrap_or(&taken) == name)
        };
        while is_taken(&name) {
            name.push('_');
        }
        Ident::new(&name, Span::mixed_site())
    }
}

fn attributes(attributes: &[Attribute], wanted: &Wanted, faults: &mut Diagnostics) {
    for attribute in attributes {
        if is_retry(attribute) {
            let message = if wanted.takes_with {
                "the retries of a step are a key of its own, so that their failures are counted; write `#[step(retry(...))]`"
            } else {
                "a workflow is run again from its record, so its steps are what is retried; write `#[step(retry(...))]` on them"
            };
            faults.push(attribute.path().span(), RuleId::D1, message);
        }
    }
}

/// `#[retry]`, by its name.
pub(crate) fn is_retry(attribute: &Attribute) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|last| last.ident == "retry")
}

fn qualifiers(signature: &Signature, what: &str, faults: &mut Diagnostics) {
    if signature.asyncness.is_none() {
        faults.push(
            signature.fn_token.span,
            RuleId::D6,
            format!("a {what} waits for others; write `async fn`"),
        );
    }
    if let syn::Safety::Unsafe(token) = &signature.safety {
        faults.push(
            token.span,
            RuleId::D6,
            format!("a {what} is called by its scheduler, which keeps no promise; drop `unsafe` and keep it in the body"),
        );
    }
    if let Some(abi) = &signature.abi {
        faults.push(
            abi.span(),
            RuleId::D6,
            format!("a {what} is called by its scheduler; drop `extern`"),
        );
    }
}

fn generics(signature: &Signature, what: &str, faults: &mut Diagnostics) {
    struct ImplTrait(Vec<Span>);
    impl syn::visit::Visit<'_> for ImplTrait {
        fn visit_type_impl_trait(&mut self, ty: &syn::TypeImplTrait) {
            self.0.push(ty.impl_token.span);
        }
    }
    for parameter in &signature.generics.params {
        if !matches!(parameter, GenericParam::Lifetime(_)) {
            faults.push(
                parameter.span(),
                RuleId::D9,
                format!("a {what} is found by its name after a restart, so it cannot be generic; write the type"),
            );
        }
    }
    let mut found = ImplTrait(Vec::new());
    syn::visit::Visit::visit_signature(&mut found, signature);
    for span in found.0 {
        faults.push(
            span,
            RuleId::D9,
            format!("a {what} is found by its name after a restart, so it cannot be generic; write the type in place of `impl`"),
        );
    }
}

/// What the first parameter refers to. Whether it is the right one is the compiler's to tell: it knows aliases.
fn first(signature: &Signature, wanted: &Wanted, faults: &mut Diagnostics) -> Option<Type> {
    let Wanted {
        what, first: ty, ..
    } = wanted;
    let name = if wanted.takes_with { "step" } else { "flow" };
    let message = format!("the first parameter of a {what} is its task; write `{name}: &{ty}`");
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver)) => {
            faults.push(
                receiver.span(),
                RuleId::D9,
                format!("a {what} is run again without the `self` it was called on; make it a function, and take what it needs as parameters"),
            );
            None
        }
        Some(FnArg::Typed(first)) => {
            if let Some(with) = first.attrs.iter().find(|attribute| is_with(attribute)) {
                faults.push(with.path().span(), RuleId::D7, message);
                return None;
            }
            match bare(&first.ty) {
                Type::Reference(reference) if reference.mutability.is_none() => {
                    Some((*reference.elem).clone())
                }
                other => {
                    faults.push(other.span(), RuleId::D7, message);
                    None
                }
            }
        }
        None => {
            faults.push(signature.paren_token.span.close(), RuleId::D7, message);
            None
        }
    }
}

fn answer(signature: &Signature, what: &str, faults: &mut Diagnostics) -> Option<Type> {
    match &signature.output {
        ReturnType::Type(_, ty) => {
            // What is behind an alias the compiler knows.
            if let Answer::Option(other) | Answer::Other(other) = Answer::of(ty) {
                faults.push(
                    other.span(),
                    RuleId::D10,
                    format!("a {what} can fail; write `-> Result<T, E>`"),
                );
            }
            if let Some(span) = value(ty).and_then(borrowed) {
                faults.push(
                    span,
                    RuleId::D10,
                    format!("what a {what} answers is read again from the record, so it owns all it has; write `String` for `&str`, or the type without `&`"),
                );
            }
            Some((**ty).clone())
        }
        ReturnType::Default => {
            faults.push(
                signature.paren_token.span.close(),
                RuleId::D10,
                format!("a {what} can fail; write `-> Result<T, E>`"),
            );
            None
        }
    }
}

fn parameter(
    typed: &mut PatType,
    i: usize,
    wanted: &Wanted,
    faults: &mut Diagnostics,
) -> Parameter {
    let with = typed.attrs.iter().find(|attribute| is_with(attribute));
    if let Some(with) = with {
        if !wanted.takes_with {
            faults.push(
                with.path().span(),
                RuleId::D8,
                "a workflow is run again from its record, so it uses nothing from outside; take it in a step",
            );
        } else if !is_shared_reference(&typed.ty) {
            faults.push(
                typed.ty.span(),
                RuleId::D8,
                "what the scheduler has is lent to many steps at once; write `&T`",
            );
        }
        if let Ok(list) = with.meta.require_list() {
            faults.push(
                list.tokens.span(),
                RuleId::D8,
                "`#[with]` takes nothing: what is lent is found by its type; write `#[with]`",
            );
        }
    }
    let is_with = with.is_some();
    without_with(typed);
    let name = match &*typed.pat {
        Pat::Ident(name) if name.subpat.is_none() => {
            let mut ident = name.ident.clone();
            ident.set_span(at(ident.span()));
            ident
        }
        other => Ident::new(&format!("argument_{i}"), at(other.span())),
    };
    Parameter {
        name,
        ty: bare(&typed.ty).clone(),
        is_with,
    }
}

/// Drops the attribute that only we know.
pub(crate) fn without_with(typed: &mut PatType) {
    typed.attrs.retain(|attribute| !is_with(attribute));
}

fn is_with(attribute: &Attribute) -> bool {
    attribute.path().is_ident("with")
}

fn is_shared_reference(ty: &Type) -> bool {
    matches!(bare(ty), Type::Reference(reference) if reference.mutability.is_none())
}
