//! Another name for `self`, where an attempt needs its own.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// `tokens` with every `self` replaced, except inside items of their own.
pub(crate) fn self_to(tokens: TokenStream, name: &Ident) -> TokenStream {
    let mut in_item = false;
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Ident(ident) if ident == "self" => {
                let mut name = name.clone();
                name.set_span(name.span().located_at(ident.span()));
                TokenTree::Ident(name)
            }
            TokenTree::Ident(ident) => {
                in_item |= ident == "impl" || ident == "trait";
                TokenTree::Ident(ident)
            }
            TokenTree::Group(group) => {
                let braces = group.delimiter() == Delimiter::Brace;
                if braces && std::mem::take(&mut in_item) {
                    return TokenTree::Group(group);
                }
                let mut renamed = Group::new(group.delimiter(), self_to(group.stream(), name));
                renamed.set_span(group.span());
                TokenTree::Group(renamed)
            }
            other => other,
        })
        .collect()
}
