//! The function of a durable task: its requirements, and its parameters.
//!
//! ```text
//! async fn pay(step: &Step, #[with] shop: &Shop, (a, b): (u32, u32)) -> Result<Paid, E> { ... }
//!
//! first: Step, parameters: [shop: &Shop with, argument_1: (u32, u32)], answer: Result<Paid, E>
//! ```

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::spanned::Spanned as _;
use syn::{Attribute, FnArg, GenericParam, Pat, PatType, ReturnType, Signature, Type};

use crate::types::{bare, find_borrow, value};
use reattempt_policy::rules::RuleId;
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::item::{Answer, Function};
use reattempt_syntax::model::at;

/// The function of a step or a workflow.
pub(crate) struct Durable {
    /// As written, without `#[with]`.
    pub(crate) function: Function,
    /// The type behind the first parameter.
    pub(crate) first: Type,
    /// The parameters after the first.
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) answer: Type,
}

pub(crate) struct Parameter {
    /// Its name in the wrapper: the name in the function, hygienic.
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    /// `#[with]`: the value comes from the scheduler.
    pub(crate) is_with: bool,
}

/// What a step or a workflow requires of its function.
pub(crate) struct Requirements {
    /// `step`.
    pub(crate) what: &'static str,
    /// `step: &Step`.
    pub(crate) first: &'static str,
    pub(crate) takes_with: bool,
    /// Whether others run it, so that it has no body.
    pub(crate) is_declared: bool,
}

impl Durable {
    /// Reads the function, and reports what is wrong with it at its tokens.
    pub(crate) fn read(
        mut function: Function,
        requirements: &Requirements,
        faults: &mut Diagnostics,
    ) -> Option<Self> {
        let what = requirements.what;
        if function.body.is_none() && !requirements.is_declared {
            let name = &function.signature.ident;
            faults.push(
                name.span(),
                RuleId::D6,
                format!("a {what} needs a body; write `{{ ... }}`"),
            );
        }
        if let (Some(body), true) = (&function.body, requirements.is_declared) {
            faults.push(
                body.span_open(),
                RuleId::D6,
                "a step with `queue` is run by agents; write `;` in place of the body",
            );
        }
        check_attributes(&function.attributes, requirements, faults);
        check_qualifiers(&function.signature, what, faults);
        check_generics(&function.signature, what, faults);
        let first = first_parameter(&function.signature, requirements, faults);
        let answer = return_type(&function.signature, what, faults);
        let inputs = function.signature.inputs.iter_mut().skip(1).enumerate();
        let parameters = inputs.filter_map(|(i, input)| match input {
            FnArg::Typed(typed) => Some(parameter(typed, i, requirements, faults)),
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

    /// Returns the parameters of the call, with their numbers: all without `#[with]`.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = (usize, &Parameter)> {
        let all = self.parameters.iter().enumerate();
        all.filter(|(_, parameter)| !parameter.is_with)
    }

    /// Returns the `T` of the `Result<T, E>` that the function returns.
    pub(crate) fn value(&self, private: &TokenStream) -> TokenStream {
        let answer = &self.answer;
        quote_spanned!(at(answer.span())=> <#answer as #private::AnyResult>::Value)
    }

    /// Returns the `E` of the `Result<T, E>` that the function returns.
    pub(crate) fn error(&self, private: &TokenStream) -> TokenStream {
        let answer = &self.answer;
        quote_spanned!(at(answer.span())=> <#answer as #private::AnyResult>::Error)
    }

    /// Returns a name for the context that no parameter has.
    pub(crate) fn context(&self) -> Ident {
        let mut name = "context".to_owned();
        // Not even with an underscore: a lint objects to similar names.
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

/// Refuses `#[retry]` beside the attribute.
fn check_attributes(
    attributes: &[Attribute],
    requirements: &Requirements,
    faults: &mut Diagnostics,
) {
    for attribute in attributes {
        if is_retry(attribute) {
            let message = if requirements.takes_with {
                "the retries of a step are one of its keys, so that the task counts their failures; write `#[step(retry(...))]`"
            } else {
                "a task retries its steps, not its workflow, which runs again from the record; write `#[step(retry(...))]` on the steps"
            };
            faults.push(attribute.path().span(), RuleId::D1, message);
        }
    }
}

/// Returns the name of an argument inside the wrapper.
pub(crate) fn argument(i: usize) -> Ident {
    Ident::new(&format!("argument_{i}"), Span::mixed_site())
}

/// Returns whether this is `#[retry]`, by its name.
pub(crate) fn is_retry(attribute: &Attribute) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|last| last.ident == "retry")
}

/// Refuses functions that are not `async`, or are `unsafe` or `extern`.
fn check_qualifiers(signature: &Signature, what: &str, faults: &mut Diagnostics) {
    if signature.asyncness.is_none() {
        faults.push(
            signature.fn_token.span,
            RuleId::D6,
            format!("a {what} is asynchronous; write `async fn`"),
        );
    }
    if let syn::Safety::Unsafe(token) = &signature.safety {
        faults.push(
            token.span,
            RuleId::D6,
            format!("a scheduler calls a {what} and keeps no safety contract; drop `unsafe` here and use it in the body"),
        );
    }
    if let Some(abi) = &signature.abi {
        faults.push(
            abi.span(),
            RuleId::D6,
            format!("a scheduler calls a {what}; drop `extern`"),
        );
    }
}

/// Refuses type parameters and `impl Trait`.
fn check_generics(signature: &Signature, what: &str, faults: &mut Diagnostics) {
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
                format!("a scheduler finds a {what} by its name after a restart, so it cannot be generic; write the type"),
            );
        }
    }
    let mut found = ImplTrait(Vec::new());
    syn::visit::Visit::visit_signature(&mut found, signature);
    for span in found.0 {
        faults.push(
            span,
            RuleId::D9,
            format!("a scheduler finds a {what} by its name after a restart, so it cannot be generic; write the type instead of `impl`"),
        );
    }
}

/// Returns the type behind the first parameter. The compiler checks whether it is the right one,
/// because it knows aliases.
fn first_parameter(
    signature: &Signature,
    requirements: &Requirements,
    faults: &mut Diagnostics,
) -> Option<Type> {
    let Requirements {
        what, first: ty, ..
    } = requirements;
    let name = if requirements.takes_with {
        "step"
    } else {
        "context"
    };
    let message = format!("the first parameter of a {what} is its task; write `{name}: &{ty}`");
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver)) => {
            faults.push(
                receiver.span(),
                RuleId::D9,
                format!("a {what} runs again without its `self`; make it a function and pass values as parameters"),
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

/// Returns the type that the function returns.
fn return_type(signature: &Signature, what: &str, faults: &mut Diagnostics) -> Option<Type> {
    match &signature.output {
        ReturnType::Type(_, ty) => {
            // The compiler knows the type behind an alias.
            if let Answer::Option(other) | Answer::Other(other) = Answer::of(ty) {
                faults.push(
                    other.span(),
                    RuleId::D10,
                    format!("a {what} can fail; write `-> Result<T, E>`"),
                );
            }
            if let Some(span) = value(ty).and_then(find_borrow) {
                faults.push(
                    span,
                    RuleId::D10,
                    format!("the result of a {what} is read back from the record, so it must own its data; write `String` for `&str`, or the type without `&`"),
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

/// Reads a parameter after the first, and takes its `#[with]` off.
fn parameter(
    typed: &mut PatType,
    i: usize,
    requirements: &Requirements,
    faults: &mut Diagnostics,
) -> Parameter {
    let with = typed.attrs.iter().find(|attribute| is_with(attribute));
    if let Some(with) = with {
        if !requirements.takes_with {
            faults.push(
                with.path().span(),
                RuleId::D8,
                "a workflow runs again from the record, so it cannot use values from outside; use them in a step",
            );
        } else if !is_shared_reference(&typed.ty) {
            faults.push(
                typed.ty.span(),
                RuleId::D8,
                "many steps share a value of the scheduler at once; write `&T`",
            );
        }
        if let Ok(list) = with.meta.require_list() {
            faults.push(
                list.tokens.span(),
                RuleId::D8,
                "`#[with]` takes no arguments: the scheduler finds the value by its type; write `#[with]`",
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

/// Drops `#[with]`, which the compiler does not know.
pub(crate) fn without_with(typed: &mut PatType) {
    typed.attrs.retain(|attribute| !is_with(attribute));
}

fn is_with(attribute: &Attribute) -> bool {
    attribute.path().is_ident("with")
}

fn is_shared_reference(ty: &Type) -> bool {
    matches!(bare(ty), Type::Reference(reference) if reference.mutability.is_none())
}

/// Puts a statement in front of those of a body, after its inner attributes.
pub(crate) fn with_first(body: &Group, statement: TokenStream) -> Group {
    let tokens: Vec<_> = body.stream().into_iter().collect();
    let mut rest = &tokens[..];
    let mut stream = TokenStream::new();
    while let [
        TokenTree::Punct(hash),
        TokenTree::Punct(mark),
        attribute,
        after @ ..,
    ] = rest
        && (hash.as_char(), mark.as_char()) == ('#', '!')
    {
        stream.extend([hash.clone().into(), mark.clone().into(), attribute.clone()]);
        rest = after;
    }
    stream.extend(statement);
    stream.extend(rest.iter().cloned());
    let mut new = Group::new(body.delimiter(), stream);
    new.set_span(body.span());
    new
}
