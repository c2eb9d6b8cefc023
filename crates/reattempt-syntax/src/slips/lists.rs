//! What stands in parentheses behind a key.

use darling::ast::NestedMeta;
use quote::ToTokens as _;
use retry_runtime::rules::RuleId;
use syn::parse::Parser as _;
use syn::{Expr, Meta, MetaList, Pat};

use super::bare_value;
use crate::diagnostics::{Diagnostic, Place};
use crate::tokens::{names_errors, written};

/// What is wrong with it.
pub(super) fn listed(key: &str, list: &MetaList) -> Option<Diagnostic> {
    let said = written(&list.tokens);
    let fault = |rule, text: String| Some(Diagnostic::new(Place::of(&list.tokens), rule, text));
    match key {
        "policy"
            if NestedMeta::parse_meta_list(list.tokens.clone()).is_ok_and(|items| {
                items
                    .iter()
                    .any(|item| matches!(item, NestedMeta::Meta(Meta::NameValue(_))))
            }) =>
        {
            fault(
                RuleId::Syntax,
                format!(
                    "the keys of a policy stand by themselves; write `{said}` without `policy(...)`"
                ),
            )
        }
        "until" => fault(
            RuleId::S9,
            bare_value(key, &syn::parse2(list.tokens.clone()).ok()?)?,
        ),
        "on" | "except" => {
            if let Ok(Expr::Macro(_)) = syn::parse2(list.tokens.clone()) {
                return fault(
                    RuleId::Syntax,
                    format!("a function stands after `=`; write `{key} = {said}`"),
                );
            }
            let pattern = Pat::parse_multi.parse2(list.tokens.clone()).ok()?;
            match &pattern {
                Pat::Path(path) if is_error_type(&path.path) => fault(
                    RuleId::S9,
                    format!("`{said}` is a type, and `{key}(...)` takes a pattern; for an error inside of another write `{key} = reattempt::chain![{said}]`"),
                ),
                Pat::TupleStruct(result) if result.path.is_ident("Err") && names_errors(result.elems.first()?) => fault(
                    RuleId::S9,
                    format!("`{key}` looks at the error itself; write `{key}({})`", written(&result.elems.to_token_stream())),
                ),
                Pat::Ident(name) if name.ident == "None" => fault(
                    RuleId::S9,
                    "a `None` is what is retried, and holds nothing to choose by; drop `on(None)`, or write `on(_)`".to_owned(),
                ),
                _ => None,
            }
        }
        "clone" => {
            let is_reference = list.tokens.to_string().starts_with('&');
            let names: Option<Vec<_>> = is_reference.then(|| {
                said.split(',')
                    .map(|name| {
                        name.trim()
                            .trim_start_matches('&')
                            .trim_start_matches("mut ")
                            .to_owned()
                    })
                    .collect()
            });
            match names {
                Some(names) => fault(
                    RuleId::S7,
                    format!(
                        "`clone` lists parameters by their names; write `clone({})`",
                        names.join(", ")
                    ),
                ),
                None if said.contains('.') => fault(
                    RuleId::S7,
                    format!(
                        "`clone` lists parameters; clone a part of one in the body, `{said}.clone()`"
                    ),
                ),
                None => None,
            }
        }
        _ => None,
    }
}

/// `io::Error`: modules in front of a type that is called so.
fn is_error_type(path: &syn::Path) -> bool {
    let mut segments = path.segments.iter().rev();
    let is_error = segments.next().is_some_and(|last| last.ident == "Error");
    is_error
        && segments
            .next()
            .is_some_and(|module| module.ident.to_string().starts_with(char::is_lowercase))
}
