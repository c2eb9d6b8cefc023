//! Under which `cfg` something is compiled: told, not decided.

use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

/// An attribute without the `cfg_attr` around it.
pub(crate) struct Given {
    pub(crate) meta: Meta,
    /// Of the `cfg_attr`s around it.
    pub(crate) conditions: Vec<String>,
}

/// The attributes, those behind `cfg_attr` too.
pub(crate) fn given(attributes: &[Attribute]) -> Vec<Given> {
    let mut all = Vec::new();
    for attribute in attributes {
        unwrap(attribute.meta.clone(), Vec::new(), &mut all);
    }
    all
}

fn unwrap(meta: Meta, conditions: Vec<String>, all: &mut Vec<Given>) {
    let parts = match &meta {
        Meta::List(list) if list.path.is_ident("cfg_attr") => {
            let parts = Punctuated::<Meta, Token![,]>::parse_terminated;
            parts.parse2(list.tokens.clone()).ok()
        }
        _ => None,
    };
    let Some(parts) = parts else {
        all.push(Given { meta, conditions });
        return;
    };
    let mut parts = parts.into_iter();
    let mut around = conditions;
    around.extend(parts.next().map(|condition| text(&condition)));
    for part in parts {
        unwrap(part, around.clone(), all);
    }
}

/// The conditions of the `cfg`s among the attributes.
pub(crate) fn of(attributes: &[Attribute]) -> Vec<String> {
    let lists = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::List(list) if list.path.is_ident("cfg") => Some(list),
            _ => None,
        });
    lists
        .filter_map(|list| list.parse_args::<Meta>().ok())
        .map(|it| text(&it))
        .collect()
}

/// The value of `key = "value"` among the attributes, behind `cfg_attr` too.
pub(crate) fn value(attributes: &[Attribute], key: &str) -> Option<String> {
    given(attributes)
        .into_iter()
        .find_map(|given| match given.meta {
            Meta::NameValue(pair) if pair.path.is_ident(key) => match pair.value {
                syn::Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Str(text),
                    ..
                }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        })
}

/// As written, on one line.
fn text(condition: &Meta) -> String {
    super::written(condition)
}
