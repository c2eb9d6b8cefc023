//! The attributes of the function: those for its callers, and those for its body.
//!
//! ```text
//! #[doc = "Pays."] #[must_use] #[instrument]   ->   #[doc = "Pays."] #[must_use]   and   #[instrument]
//! ```

use proc_macro2::TokenStream;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Path, Token};

/// Attributes of the wrapper; lints also apply to its contents.
const OUTER: [&str; 12] = [
    "doc",
    "cfg",
    "deprecated",
    "must_use",
    "allow",
    "expect",
    "warn",
    "deny",
    "forbid",
    "inline",
    "rustfmt",
    "clippy",
];

/// Returns the attributes of the wrapper, and those of the inner function.
pub(crate) fn split(attributes: &[Attribute]) -> (TokenStream, TokenStream) {
    let (mut outer, mut inner) = (TokenStream::new(), TokenStream::new());
    for attribute in attributes {
        let Some((condition, metas)) = conditional(attribute) else {
            let side = if is_outer(attribute.path()) {
                &mut outer
            } else {
                &mut inner
            };
            side.extend(ours!(#attribute));
            continue;
        };
        for meta in metas {
            let side = if is_outer(meta.path()) {
                &mut outer
            } else {
                &mut inner
            };
            side.extend(ours!(#[cfg_attr(#condition, #meta)]));
        }
    }
    (outer, inner)
}

fn is_outer(path: &Path) -> bool {
    let first = path.segments.first();
    first.is_some_and(|first| OUTER.iter().any(|name| first.ident == name))
}

/// Splits `#[cfg_attr(condition, attributes)]`.
fn conditional(attribute: &Attribute) -> Option<(Meta, Vec<Meta>)> {
    if !attribute.path().is_ident("cfg_attr") {
        return None;
    }
    let list = attribute.meta.require_list().ok()?;
    let metas = Punctuated::<Meta, Token![,]>::parse_terminated;
    let mut metas = metas.parse2(list.tokens.clone()).ok()?.into_iter();
    Some((metas.next()?, metas.collect()))
}
