//! `#[tracing::instrument]` above `#[retry]`: the user's body lies inside what it
//! wrote, and the loop goes around the body alone. So the span covers the whole
//! call, what the wrapper moves it moves once, and its types stay its own.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// `tokens` with `replace` applied to the body in the wrapper; `None` without one.
pub(crate) fn inside(
    tokens: TokenStream,
    replace: &mut dyn FnMut(&Group) -> TokenStream,
) -> Option<TokenStream> {
    let mut tokens: Vec<_> = tokens.into_iter().collect();
    let index = match place(&tokens) {
        Some(Place::Body(index)) => {
            let body = group_at(&tokens, index)?;
            let replaced = braces(&body, replace(&body));
            tokens.splice(index..=index, [TokenTree::Group(replaced)]);
            return Some(tokens.into_iter().collect());
        }
        Some(Place::Within(index)) => index,
        // Deeper, if at all.
        None => {
            let found = |index: &usize| {
                group_at(&tokens, *index).is_some_and(|group| is_wrapper(&group.stream()))
            };
            (0..tokens.len()).find(found)?
        }
    };
    let group = group_at(&tokens, index)?;
    let mut outer = Group::new(group.delimiter(), inside(group.stream(), replace)?);
    outer.set_span(group.span());
    tokens.splice(index..=index, [TokenTree::Group(outer)]);
    Some(tokens.into_iter().collect())
}

/// Where in these tokens the body is.
enum Place {
    /// It is the group of this number.
    Body(usize),
    /// It is inside the group of this number.
    Within(usize),
}

fn place(tokens: &[TokenTree]) -> Option<Place> {
    let last = tokens.len().checked_sub(1)?;
    // A dead return tells the type, and the body stands right behind it.
    let marker = last
        .checked_sub(1)
        .and_then(|index| group_at(tokens, index));
    if marker.is_some_and(|marker| is_marker(&marker)) {
        return Some(Place::Body(last));
    }
    if starts_with_match(tokens.iter().cloned().collect()) {
        return Some(Place::Body(3));
    }
    // The body of a future: `async move {}` behind one of these names.
    let start = tokens.iter().position(|token| {
        is_one_of(token, &["__tracing_instrument_future", "__match_scrutinee"])
    })?;
    let block = (start..tokens.len()).find(|index| {
        group_at(tokens, *index).is_some_and(|group| group.delimiter() == Delimiter::Brace)
    })?;
    let contents = group_at(tokens, block)?.stream();
    Some(if is_wrapper(&contents) || starts_with_match(contents) {
        Place::Within(block)
    } else {
        Place::Body(block)
    })
}

/// Whether anything that the wrapper writes is in these tokens, at any depth.
fn is_wrapper(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => is_wrapper(&group.stream()),
        token => is_one_of(
            &token,
            &[
                "__tracing_attr_fake_return",
                "__tracing_instrument_future",
                "__match_scrutinee",
            ],
        ),
    })
}

/// `match async move { BODY }.await { ... }`, of `err`.
fn starts_with_match(tokens: TokenStream) -> bool {
    let words: Vec<_> = tokens
        .into_iter()
        .take(3)
        .map(|token| token.to_string())
        .collect();
    words == ["match", "async", "move"]
}

fn group_at(tokens: &[TokenTree], index: usize) -> Option<Group> {
    match tokens.get(index) {
        Some(TokenTree::Group(group)) => Some(group.clone()),
        _ => None,
    }
}

fn is_one_of(token: &TokenTree, names: &[&str]) -> bool {
    matches!(token, TokenTree::Ident(ident) if names.iter().any(|name| ident == name))
}

/// `{ let __tracing_attr_fake_return: ... }`.
fn is_marker(group: &Group) -> bool {
    let mut words = group.stream().into_iter();
    words.next();
    matches!(words.next(), Some(TokenTree::Ident(name)) if name == "__tracing_attr_fake_return")
}

/// Other contents in the same braces.
pub(crate) fn braces(like: &Group, contents: TokenStream) -> Group {
    let mut group = Group::new(Delimiter::Brace, contents);
    group.set_span(like.span());
    group
}
