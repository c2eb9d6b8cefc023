//! Futures that borrow nothing, and that are made by other means than an async block: each attempt makes one anew, and
//! the future around the attempts holds what makes it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens as _;
use syn::visit::{self, Visit};
use syn::{
    AssocType, FnArg, GenericArgument, Lifetime, Pat, PathArguments, ReceiverKind, ReturnType,
    Signature, Type, TypeParamBound, TypeReference,
};

use crate::item::{has_word, names};
use crate::moves::{SetBy, may_lack_prelude};

/// References that the attempts need, and that the future does not borrow.
pub struct Unborrowed {
    names: Vec<Ident>,
    /// What lets the future borrow them.
    bound: Option<&'static str>,
    is_boxed: bool,
    /// Whether the edition decides: since 2024 an `impl Future` borrows what its function does.
    pub by_edition: bool,
}

impl Unborrowed {
    /// Returns those that a body makes its future of.
    pub fn of(signature: &Signature, body: &TokenStream, is_boxed: bool) -> Option<Self> {
        let future = signature.output.to_token_stream();
        let mut lifetimes = Lifetimes::default();
        lifetimes.visit_return_type(&signature.output);
        lifetimes.is_static |= is_alias_static(&signature.output);
        // An alias may have a lifetime that is not written.
        let is_hidden = is_boxed && !has_word(&future, "dyn") && !lifetimes.is_static;
        if lifetimes.is_any || is_hidden || may_lack_prelude(&quote::quote!(#signature #body)) {
            return None;
        }
        let references: Vec<_> = signature.inputs.iter().filter_map(reference).collect();
        let used = references.iter().filter(|it| names(body, it));
        let names: Vec<_> = used.cloned().collect();
        let mut given = Counted(0);
        let types = signature.inputs.iter();
        types.for_each(|input| given.visit_fn_arg(input));
        let is_elided =
            references.len() == 1 && given.0 <= 1 || matches!(&*names, [only] if only == "self");
        let captures = has_word(&future, "use");
        let is_generic = signature.generics.type_params().next().is_some();
        let bound = match (lifetimes.is_static, captures) {
            _ if !is_elided || is_generic && !(is_boxed || captures) => None,
            (true, true) => None,
            (true, false) => Some("write `'_` for its `'static`"),
            (false, true) => Some("add `'_` to its `use<..>`"),
            (false, false) => Some("add `+ '_` to its type"),
        };
        (!names.is_empty()).then_some(Self {
            names,
            bound,
            is_boxed,
            by_edition: !is_boxed && !lifetimes.is_static && !captures,
        })
    }

    /// Returns where the first is.
    pub fn span(&self) -> Span {
        self.names
            .first()
            .map_or_else(Span::mixed_site, Ident::span)
    }

    /// Returns what is said of them.
    pub fn message(&self, set_by: SetBy) -> String {
        let all: Vec<_> = self.names.iter().map(|it| format!("`{it}`")).collect();
        let first = self
            .names
            .first()
            .map(ToString::to_string)
            .unwrap_or_default();
        let (copy, cloned) = if first == "self" {
            ("this", "self.clone()".to_owned())
        } else {
            (&*first, format!("{first}.to_owned()"))
        };
        let block = if self.is_boxed {
            "Box::pin(async move { .. })"
        } else {
            "async move { .. }"
        };
        let borrow = match (self.bound, set_by) {
            (Some(bound), SetBy::Function) => format!(", or {bound}"),
            (Some(bound), SetBy::Unknown) => {
                format!(", or, where no trait sets the signature, {bound}")
            }
            _ => String::new(),
        };
        format!(
            "each attempt needs {}, and the future borrows nothing; end the body with a block that has a copy, such as `let {copy} = {cloned}; {block}`{borrow}",
            all.join(" and ")
        )
    }
}

/// The lifetimes in a type.
#[derive(Default)]
struct Lifetimes {
    is_static: bool,
    /// Whether there is any other.
    is_any: bool,
}

impl<'ast> Visit<'ast> for Lifetimes {
    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        self.is_any |= lifetime.ident != "static";
    }

    fn visit_type_param_bound(&mut self, bound: &'ast TypeParamBound) {
        self.is_static |= matches!(bound, TypeParamBound::Lifetime(it) if it.ident == "static");
        visit::visit_type_param_bound(self, bound);
    }

    /// What the future answers says nothing of the future.
    fn visit_assoc_type(&mut self, answer: &'ast AssocType) {
        let of_future = self.is_static;
        visit::visit_assoc_type(self, answer);
        self.is_static = of_future;
    }

    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        self.is_any |= reference.lifetime.is_none();
        visit::visit_type_reference(self, reference);
    }
}

/// Whether an alias such as `BoxFuture<'static, T>` says so itself.
fn is_alias_static(output: &ReturnType) -> bool {
    let ReturnType::Type(_, ty) = output else {
        return false;
    };
    let Type::Path(path) = &**ty else {
        return false;
    };
    match path.path.segments.last().map(|last| &last.arguments) {
        Some(PathArguments::AngleBracketed(list)) => list
            .args
            .iter()
            .any(|it| matches!(it, GenericArgument::Lifetime(it) if it.ident == "static")),
        _ => false,
    }
}

/// How many lifetimes the parameters have, those that are not written included.
struct Counted(usize);

impl<'ast> Visit<'ast> for Counted {
    fn visit_lifetime(&mut self, _: &'ast Lifetime) {
        self.0 = self.0.saturating_add(1);
    }

    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        self.0 = self
            .0
            .saturating_add(usize::from(reference.lifetime.is_none()));
        visit::visit_type_reference(self, reference);
    }
}

/// The name of a parameter that is a reference to what may not be there for ever.
fn reference(input: &FnArg) -> Option<Ident> {
    let is_static = |it: Option<&Lifetime>| it.is_some_and(|it| it.ident == "static");
    match input {
        FnArg::Receiver(receiver) => match &receiver.kind {
            ReceiverKind::Reference(_, lifetime, _) if !is_static(lifetime.as_ref()) => {
                Some(Ident::new("self", receiver.self_token.span))
            }
            _ => None,
        },
        FnArg::Typed(typed) => match (&*typed.pat, &*typed.ty) {
            (Pat::Ident(name), Type::Reference(it)) if !is_static(it.lifetime.as_ref()) => {
                Some(name.ident.clone())
            }
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn said(signature: &Signature, is_boxed: bool) -> Option<(String, bool)> {
        let body = quote::quote!(send(self.clone(), url.len()));
        let found = Unborrowed::of(signature, &body, is_boxed)?;
        let message = found.message(SetBy::Function);
        let (_, ways) = message.split_once("such as ")?;
        Some((ways.to_owned(), found.by_edition))
    }

    #[test]
    fn what_a_future_does_not_borrow() {
        let by_edition: Signature = parse_quote!(fn f(&self) -> impl Future<Output = R>);
        assert_eq!(
            said(&by_edition, false),
            Some((
                "`let this = self.clone(); async move { .. }`, or add `+ '_` to its type"
                    .to_owned(),
                true
            ))
        );
        let boxed: Signature = parse_quote!(fn f(url: &str) -> BoxFuture<'static, R>);
        assert_eq!(
            said(&boxed, true),
            Some((
                "`let url = url.to_owned(); Box::pin(async move { .. })`, or write `'_` for its `'static`"
                    .to_owned(),
                false
            ))
        );
        let constant: Signature =
            parse_quote!(fn f(&self) -> impl Future<Output = Result<&'static str, E>>);
        assert!(said(&constant, false).is_some_and(|(_, by_edition)| by_edition));
        let two: Signature =
            parse_quote!(fn f(url: &str, page: Page<'_>) -> Pin<Box<dyn Future<Output = R>>>);
        let block = "`let url = url.to_owned(); Box::pin(async move { .. })`".to_owned();
        assert_eq!(said(&two, true), Some((block, false)));
        let generic: Signature = parse_quote!(fn f<T>(&self, it: T) -> impl Future<Output = R>);
        let block = "`let this = self.clone(); async move { .. }`".to_owned();
        assert_eq!(said(&generic, false), Some((block, true)));
    }

    #[test]
    fn what_a_future_borrows_or_does_not_need() {
        let signatures: [Signature; 7] = [
            parse_quote!(fn f(&self) -> BoxFuture<Result<&'static str, E>>),
            parse_quote!(fn f(&self) -> impl Future<Output = R> + '_),
            parse_quote!(fn f(&self) -> impl Future<Output = Result<&str, E>>),
            parse_quote!(fn f<'a>(&'a self) -> BoxFuture<'a, R>),
            parse_quote!(fn f(&self) -> BoxFuture<R>),
            parse_quote!(fn f(url: &'static str) -> impl Future<Output = R>),
            parse_quote!(fn f(name: &str) -> impl Future<Output = R>),
        ];
        for (index, signature) in signatures.iter().enumerate() {
            assert_eq!(said(signature, [0, 4].contains(&index)), None, "{index}");
        }
    }
}
