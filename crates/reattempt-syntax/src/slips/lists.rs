//! What stands in parentheses behind a key.

use darling::ast::NestedMeta;
use proc_macro2::TokenStream;
use quote::ToTokens as _;
use reattempt_policy::rules::RuleId;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, Lit, Meta, MetaList, Pat, Token};

use super::{bare_value, hooks};
use crate::diagnostics::{Diagnostic, Place};
use crate::tokens::{names_errors, written};

/// What is wrong with it.
pub(super) fn listed(key: &str, list: &MetaList) -> Option<Diagnostic> {
    let said = written(&list.tokens);
    let fault = |rule, text: String| Some(Diagnostic::new(Place::of(&list.tokens), rule, text));
    match key {
        "policy" if has_keys(&list.tokens) => fault(
            RuleId::Syntax,
            format!(
                "the keys of a policy stand by themselves; write `{said}` without `policy(...)`"
            ),
        ),
        "backoff" if has_keys(&list.tokens) => {
            fault(RuleId::Syntax, super::numbers_of_backoff("exp"))
        }
        "until" => fault(
            RuleId::S9,
            bare_value(key, &syn::parse2(list.tokens.clone()).ok()?)?,
        ),
        "on" | "except" => {
            if let Ok(code @ Expr::Macro(_)) = syn::parse2(list.tokens.clone()) {
                if let Some(text) = hooks::hook(key, &code, &said) {
                    return fault(RuleId::S9, text);
                }
                return fault(
                    RuleId::Syntax,
                    format!("a function stands after `=`; write `{key} = {said}`"),
                );
            }
            if let Some(text) = function(key, list).or_else(|| literals(key, list)) {
                return fault(RuleId::S9, text);
            }
            let pattern = Pat::parse_multi.parse2(list.tokens.clone()).ok()?;
            match &pattern {
                Pat::Path(path) if is_error_type(&path.path) => {
                    fault(RuleId::S9, super::inside(key, &said))
                }
                Pat::TupleStruct(result)
                    if result.path.is_ident("Err") && names_errors(result.elems.first()?) =>
                {
                    fault(
                        RuleId::S9,
                        format!(
                            "`{key}` looks at the error itself; write `{key}({})`",
                            written(&result.elems.to_token_stream())
                        ),
                    )
                }
                Pat::TupleStruct(result) if result.path.is_ident("Ok") => fault(
                    RuleId::S9,
                    format!(
                        "`{key}` looks at the error, and `until` at the value; write `until = |value| ...`, which says when it is final"
                    ),
                ),
                Pat::Lit(text) if matches!(text.lit, Lit::Str(_)) => fault(
                    RuleId::S9,
                    format!(
                        "a pattern of a text fits no error; write `{key} = |error| *error == {said}`"
                    ),
                ),
                Pat::Ident(name) if name.ident == "None" => fault(
                    RuleId::S9,
                    format!(
                        "a `None` is what is retried, and holds nothing to choose by; drop `{key}(None)`, or write `on(_)`"
                    ),
                ),
                _ => None,
            }
        }
        "clone" => fault(RuleId::S7, clones(&said)?),
        "breaker" | "bulkhead" | "throttle" if has_keys(&list.tokens) => {
            let (first, rest) = key.split_at_checked(1)?;
            let kind = format!("{}{rest}", first.to_uppercase());
            fault(RuleId::Type, super::no_static(key, &kind, None))
        }
        // Alone it is spelled in its own way, as a number is.
        _ => {
            let value = syn::parse2(list.tokens.clone()).ok()?;
            let text = super::value_of(key, &value)?;
            fault(super::rule_of(key), text)
        }
    }
}

/// What is wrong with `clone(&request)` and the like.
fn clones(said: &str) -> Option<String> {
    let plain = said.split(',').map(|name| {
        let name = name.trim().trim_start_matches('&');
        let name = name.trim_start_matches("mut ").trim_matches('"');
        name.trim_end_matches(".clone()")
    });
    let plain: Vec<_> = plain.collect();
    let is_name = |name: &str| syn::parse_str::<Ident>(name).is_ok();
    if plain.iter().all(|name| is_name(name)) && !said.split(',').all(|name| is_name(name.trim())) {
        let names = plain.join(", ");
        return Some(format!(
            "`clone` lists parameters by their names; write `clone({names})`"
        ));
    }
    if said.starts_with("..") {
        let text = "`clone` lists parameters by their names; write `clone(parameter)`, with those that the body moves";
        return Some(text.to_owned());
    }
    said.contains('.').then(|| {
        format!("`clone` lists parameters; clone a part of one in the body, `{said}.clone()`")
    })
}

/// What is wrong with `on(500, 502)`.
fn literals(key: &str, list: &MetaList) -> Option<String> {
    let several = Punctuated::<Lit, Token![,]>::parse_separated_nonempty;
    let several = several.parse2(list.tokens.clone()).ok()?;
    (several.len() > 1).then(|| super::asks_error(key))
}

/// What is wrong with `on(io::is_busy)`, `on(error.is_busy())` and `on(!Error::Closed)`, which are no patterns.
fn function(key: &str, list: &MetaList) -> Option<String> {
    let said = written(&list.tokens);
    let code: Expr = syn::parse2(list.tokens.clone()).ok()?;
    let is_name = matches!(code, Expr::Path(_));
    if let Some(error) = hooks::error_of(&code).filter(|_| !is_name) {
        let said = said.replace("! ", "!");
        return Some(format!(
            "a function stands after `=`; write `{key} = |{error}| {said}`"
        ));
    }
    let path = match &code {
        Expr::Call(call) if call.args.is_empty() => &*call.func,
        Expr::Unary(not) => {
            let pattern = not.expr.to_token_stream();
            let names = names_errors(&Pat::parse_multi.parse2(pattern.clone()).ok()?);
            return names.then(|| hooks::opposite_of_pattern(key, &written(&pattern)))?;
        }
        code => code,
    };
    let Expr::Path(path) = path else { return None };
    let is_function = path.path.segments.len() > 1
        && (path.path.segments.last())
            .is_some_and(|last| !last.ident.to_string().contains(char::is_uppercase));
    is_function.then(|| {
        let function = written(&path.to_token_stream());
        format!("a function stands after `=`; write `{key} = {function}`")
    })
}

/// Whether `key = value` stands in parentheses.
pub fn has_keys(tokens: &TokenStream) -> bool {
    NestedMeta::parse_meta_list(tokens.clone()).is_ok_and(|items| {
        items
            .iter()
            .any(|item| matches!(item, NestedMeta::Meta(Meta::NameValue(_))))
    })
}

/// `io::Error`: modules in front of a type that is called so.
pub(super) fn is_error_type(path: &syn::Path) -> bool {
    let mut segments = path.segments.iter().rev();
    let is_error = segments.next().is_some_and(|last| last.ident == "Error");
    is_error
        && segments
            .next()
            .is_some_and(|module| module.ident.to_string().starts_with(char::is_lowercase))
}
