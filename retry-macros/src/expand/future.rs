//! Functions that return a future: where the loop goes.
//!
//! ```text
//! fn f(..) -> impl Future<Output = R> { PREFIX async move { BODY } }
//!     ->  { PREFIX async move { loop { ... BODY ... } } }
//! fn f(..) -> Pin<Box<..>> { Box::pin(async move { BODY }) }     // also by `#[async_trait]`
//!     ->  { Box::pin(async move { loop { ... BODY ... } }) }
//! fn f(..) -> impl Future<Output = R> { ANYTHING }
//!     ->  { async move { loop { ... attempt(|| ANYTHING).await ... } } }
//! ```

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote_spanned;

use super::asynchronous;
use crate::item::Answer;
use crate::model::{Model, at};

pub(super) fn expand(model: &Model, answer: &Answer, body: &Group, boxed: bool) -> TokenStream {
    let tokens: Vec<_> = body.stream().into_iter().collect();
    if let Some(found) = innermost(&tokens) {
        return found.replaced(|block| block_of(model, answer, block));
    }
    let looped = asynchronous::looped(model, answer, |parts| {
        let (krate, statements) = (&parts.krate, parts.statements(body));
        let closure = quote_spanned!(at(body.span_open())=> || { #statements });
        ours!(#krate::__private::attempt(#closure))
    });
    if boxed {
        let krate = model.krate();
        ours!(#krate::__private::Box::pin(async move { #looped }))
    } else {
        ours!(async move { #looped })
    }
}

/// The block that is retried, and how to put another in its place.
struct Found<'a> {
    before: &'a [TokenTree],
    block: Group,
    /// `pin(...)`: the parentheses around the block, and what stands in them before it.
    wrapped: Option<(Vec<TokenTree>, Group)>,
}

impl Found<'_> {
    fn replaced(self, replace: impl FnOnce(&Group) -> TokenStream) -> TokenStream {
        let before: TokenStream = self.before.iter().cloned().collect();
        let mut block = Group::new(Delimiter::Brace, replace(&self.block));
        block.set_span(self.block.span());
        match self.wrapped {
            None => ours!(#before #block),
            Some((inside, parentheses)) => {
                let inside: TokenStream = inside.into_iter().collect();
                let mut group = Group::new(Delimiter::Parenthesis, ours!(#inside #block));
                group.set_span(parentheses.span());
                ours!(#before #group)
            }
        }
    }
}

/// The async block with which the body ends, bare or in `Box::pin(...)`.
fn innermost(tokens: &[TokenTree]) -> Option<Found<'_>> {
    let (last, before) = tokens.split_last()?;
    let TokenTree::Group(group) = last else {
        return None;
    };
    match group.delimiter() {
        Delimiter::Brace if ends_in_async(before) => Some(Found {
            before,
            block: group.clone(),
            wrapped: None,
        }),
        Delimiter::Parenthesis if matches!(before.last(), Some(TokenTree::Ident(name)) if name == "pin") =>
        {
            let inside: Vec<_> = group.stream().into_iter().collect();
            let (block, head) = inside.split_last()?;
            match block {
                // Only `async` and `move` before the block.
                TokenTree::Group(block)
                    if block.delimiter() == Delimiter::Brace
                        && ends_in_async(head)
                        && head.len() <= 2 =>
                {
                    Some(Found {
                        before,
                        block: block.clone(),
                        wrapped: Some((head.to_vec(), group.clone())),
                    })
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a block after these tokens is an async block and the value of the body.
fn ends_in_async(tokens: &[TokenTree]) -> bool {
    let rest = match tokens {
        [rest @ .., TokenTree::Ident(second)] if second == "move" => rest,
        _ => tokens,
    };
    let [before @ .., TokenTree::Ident(first)] = rest else {
        return false;
    };
    if first != "async" {
        return false;
    }
    match before.last() {
        None => true,
        Some(TokenTree::Punct(end)) => end.as_char() == ';',
        Some(TokenTree::Group(block)) => block.delimiter() == Delimiter::Brace,
        _ => false,
    }
}

/// The contents of the async block: what `#[async_trait]` puts in front of the
/// user's body moves the parameters into the block, which can be done once.
fn block_of(model: &Model, answer: &Answer, block: &Group) -> TokenStream {
    let tokens: Vec<_> = block.stream().into_iter().collect();
    match async_trait(&tokens) {
        Some((before, body)) => {
            // The hooks meet `self` under the name it has been moved to.
            let renamed = before.iter().find_map(|token| match token {
                TokenTree::Ident(name) if name == "__self" => Some(model.with_self(name)),
                _ => None,
            });
            let before: TokenStream = before.iter().cloned().collect();
            let looped = asynchronous::loop_of(renamed.as_ref().unwrap_or(model), answer, body);
            ours!(#before #looped)
        }
        None => asynchronous::loop_of(model, answer, block),
    }
}

/// `PREFIX let __ret: R = BODY; __ret`, as `#[async_trait]` writes it.
fn async_trait(tokens: &[TokenTree]) -> Option<(&[TokenTree], &Group)> {
    let start = tokens.windows(3).position(|window| match window {
        [
            TokenTree::Ident(bind),
            TokenTree::Ident(name),
            TokenTree::Punct(colon),
        ] => bind == "let" && name == "__ret" && colon.as_char() == ':',
        _ => false,
    })?;
    let (before, rest) = tokens.split_at(start);
    let end = rest
        .iter()
        .position(|token| matches!(token, TokenTree::Punct(end) if end.as_char() == ';'))?;
    match rest.get(end.checked_sub(1)?)? {
        TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => Some((before, body)),
        _ => None,
    }
}
