//! `#[tracing::instrument]` above `#[retry]`: it wraps the body in `async move {}`
//! or, with `err` or `ret`, in `(move || {})()`, which would take the parameters
//! along in the first attempt. What it wraps it runs in place, so borrowing does
//! as well.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The body without the `move` of the wrapper, if there is one.
pub(super) fn borrowing(body: &Group) -> Group {
    let wrapped = body
        .stream()
        .into_iter()
        .any(|token| is(&token, "__tracing_attr_span"));
    if wrapped { unmoved(body) } else { body.clone() }
}

/// The group without the `move` of each block or closure that the wrapper has
/// put in it.
fn unmoved(group: &Group) -> Group {
    let tokens: Vec<_> = group.stream().into_iter().collect();
    let mut kept = TokenStream::new();
    for (index, token) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| tokens.get(index));
        let after_async = before.is_some_and(|token| is(token, "async"));
        let starts_closure = before.is_none() && group.delimiter() == Delimiter::Parenthesis;
        match token {
            token if is(token, "move") && (after_async || starts_closure) => {}
            TokenTree::Group(inner) if is_wrapper(inner) => {
                kept.extend([TokenTree::Group(unmoved(inner))])
            }
            token => kept.extend([token.clone()]),
        }
    }
    let mut without = Group::new(group.delimiter(), kept);
    without.set_span(group.span());
    without
}

/// A group that the wrapper wrote: `(move || ...)`, or what it puts in front of
/// a body with `err` or `ret`. Everything else is the user's.
fn is_wrapper(group: &Group) -> bool {
    let words: Vec<_> = group
        .stream()
        .into_iter()
        .take(5)
        .map(|token| token.to_string())
        .collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    match group.delimiter() {
        Delimiter::Parenthesis => matches!(words.as_slice(), ["move", "|" | "||", ..]),
        Delimiter::Brace => matches!(
            words.as_slice(),
            ["match", "async", "move", ..]
                | ["let", "x" | "__match_scrutinee", "=", "async", "move"]
        ),
        _ => false,
    }
}

fn is(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}
