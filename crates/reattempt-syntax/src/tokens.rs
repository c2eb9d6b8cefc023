//! Tokens as people write them, and what they name.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::{Expr, Pat, Path};

/// Tokens as people write them.
pub fn written(tokens: &TokenStream) -> String {
    let text = tokens.to_string();
    [
        (" :: ", "::"),
        (" . ", "."),
        ("& ", "&"),
        (" (", "("),
        (" ,", ","),
        (" :", ":"),
        ("! [", "!["),
        (" ..= ", "..="),
    ]
    .into_iter()
    .fold(text, |text, (from, to)| text.replace(from, to))
}

/// Whether it is `_`, or names variants.
pub fn names_errors(pattern: &Pat) -> bool {
    // Behind a type a single letter is a variant, too.
    let is_variant = |path: &Path| {
        let is_letter = |name: &Ident| name.to_string().len() == 1 && path.segments.len() > 1;
        (path.segments.last())
            .is_some_and(|last| is_camel_case(&last.ident) || is_letter(&last.ident))
    };
    match pattern {
        Pat::Wild(_) => true,
        Pat::Ident(name) => is_camel_case(&name.ident),
        Pat::Path(path) => is_variant(&path.path),
        Pat::TupleStruct(variant) => is_variant(&variant.path),
        Pat::Struct(variant) => is_variant(&variant.path),
        Pat::Or(or) => or.cases.iter().all(names_errors),
        _ => false,
    }
}

/// Whether a name is that of a type or a variant, not of a binding or a constant.
pub fn is_camel_case(name: &Ident) -> bool {
    let name = name.unraw().to_string();
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

/// Whether a call is that of one of these constructors.
pub(crate) fn is_of(function: &Expr, constructors: &[&str]) -> bool {
    matches!(function, Expr::Path(path) if constructors.iter().any(|name| path.path.is_ident(name)))
}

/// Whether an answer is certainly no success.
pub(crate) fn is_error(answer: &Expr) -> bool {
    match answer {
        Expr::Call(call) => is_of(&call.func, &["Err"]),
        Expr::Try(tried) => is_error(&tried.expr),
        _ => false,
    }
}

/// What asks an `io::Error` for its kind, where a pattern names kinds: `error.kind() == ErrorKind::TimedOut`.
pub fn test_of_kind(pattern: &Pat) -> Option<String> {
    let is_kind = |pattern: &Pat| match pattern {
        Pat::Path(it) => {
            let before = it.path.segments.iter().rev().nth(1);
            before.is_some_and(|it| it.ident == "ErrorKind")
        }
        _ => false,
    };
    let kinds = written(&pattern.to_token_stream());
    match pattern {
        Pat::Or(or) => or
            .cases
            .iter()
            .all(is_kind)
            .then(|| format!("matches!(error.kind(), {kinds})")),
        one => is_kind(one).then(|| format!("error.kind() == {kinds}")),
    }
}
