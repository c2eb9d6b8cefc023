//! Another name for `self`, where an attempt needs its own.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// `tokens` with every `self` replaced, except in paths (`self::`, `use`) and in
/// items of their own.
pub fn self_to(tokens: TokenStream, name: &Ident) -> TokenStream {
    let mut skipping = None;
    let mut tokens = tokens.into_iter().peekable();
    let mut renamed = TokenStream::new();
    while let Some(token) = tokens.next() {
        let is_path = matches!(tokens.peek(), Some(TokenTree::Punct(colon)) if colon.as_char() == ':' && colon.spacing() == proc_macro2::Spacing::Joint);
        renamed.extend([match token {
            TokenTree::Ident(ident) if ident == "self" && skipping.is_none() && !is_path => {
                let mut name = name.clone();
                name.set_span(name.span().located_at(ident.span()));
                TokenTree::Ident(name)
            }
            TokenTree::Ident(ident) => {
                match ident.to_string().as_str() {
                    "impl" | "trait" => skipping = Some(Until::Braces),
                    "use" => skipping = Some(Until::Semicolon),
                    _ => {}
                }
                TokenTree::Ident(ident)
            }
            TokenTree::Group(group) if skipping.is_some() => {
                if group.delimiter() == Delimiter::Brace && matches!(skipping, Some(Until::Braces))
                {
                    skipping = None;
                }
                TokenTree::Group(group)
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), self_to(group.stream(), name));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            TokenTree::Punct(punct) => {
                if punct.as_char() == ';' {
                    skipping = None;
                }
                TokenTree::Punct(punct)
            }
            literal @ TokenTree::Literal(_) => literal,
        }]);
    }
    renamed
}

/// `tokens` as the user wrote them: `#[async_trait]` calls `self` by another name.
pub(crate) fn self_in(tokens: TokenStream) -> TokenStream {
    let tokens = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(name) if name == "__self" => Ident::new("self", name.span()).into(),
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), self_in(group.stream()));
            inner.set_span(group.span());
            TokenTree::Group(inner)
        }
        token => token,
    });
    tokens.collect()
}

/// Where an item ends that has a `self` of its own.
enum Until {
    Braces,
    Semicolon,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_self_of_a_path_and_of_an_item_stays() {
        for (code, expected) in [
            ("self.go(&self)", "this.go(&this)"),
            ("self::free(self)", "self::free(this)"),
            (
                "use std::fmt::{self, Write}; self.go()",
                "use std::fmt::{self, Write}; this.go()",
            ),
            (
                "impl Go for It { fn go(self) { self.0 } } self.go()",
                "impl Go for It { fn go(self) { self.0 } } this.go()",
            ),
        ] {
            let parsed = |code: &str| code.parse::<TokenStream>().expect("tokens");
            let this = Ident::new("this", proc_macro2::Span::call_site());
            let renamed = self_to(parsed(code), &this).to_string();
            assert_eq!(renamed, parsed(expected).to_string(), "{code}");
        }
    }
}
