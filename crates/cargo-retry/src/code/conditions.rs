//! Under which `cfg` something is compiled: shown, not decided.

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

/// The values of `key = "value"` among the attributes, each with the conditions of its `cfg_attr`; what stands behind
/// one without any never holds.
pub(crate) fn values(attributes: &[Attribute], key: &str) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for Given { meta, conditions } in given(attributes) {
        if let Meta::NameValue(pair) = meta
            && pair.path.is_ident(key)
            && let syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) = pair.value
        {
            let is_last = conditions.is_empty();
            all.push((text.value(), conditions));
            if is_last {
                break;
            }
        }
    }
    all
}

/// That not all of these hold.
pub(crate) fn none(conditions: &[String]) -> String {
    match conditions {
        [one] => format!("not({one})"),
        all => format!("not(all({}))", all.join(", ")),
    }
}

/// As written, on one line.
fn text(condition: &Meta) -> String {
    super::written(condition)
}
