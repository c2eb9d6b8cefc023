//! `#[async_trait]` has always been here first: the body it writes moves the
//! parameters into the future, which can be done once.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// `PREFIX let __ret: R = BODY; __ret`, as `#[async_trait]` writes it.
#[expect(
    clippy::disallowed_methods,
    reason = "three of them, from a place that was found"
)]
pub fn parted(tokens: &[TokenTree]) -> Option<(&[TokenTree], &Group)> {
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

/// What stands in front of the body that the user wrote, and that body, wherever they are.
fn written(whole: &Group) -> Option<(Vec<TokenTree>, Group)> {
    let tokens: Vec<_> = whole.stream().into_iter().collect();
    if let Some((before, body)) = parted(&tokens) {
        return Some((before.to_vec(), body.clone()));
    }
    tokens.iter().find_map(|token| match token {
        TokenTree::Group(group) => written(group),
        _ => None,
    })
}

/// The body that the user wrote.
pub fn body(whole: &Group) -> Option<Group> {
    written(whole).map(|(_, body)| body)
}

/// Takes `mut` from the parameters that each attempt clones.
pub fn without_mut(before: &[TokenTree], cloned: &[(Ident, bool)]) -> TokenStream {
    let is_cloned = |token: Option<&TokenTree>| match token {
        Some(TokenTree::Ident(name)) => cloned.iter().any(|(cloned, _)| cloned == name),
        _ => false,
    };
    let mut kept = TokenStream::new();
    for (index, token) in before.iter().enumerate() {
        let is_mut = matches!(token, TokenTree::Ident(word) if word == "mut");
        if !(is_mut && is_cloned(before.get(index.saturating_add(1)))) {
            kept.extend([token.clone()]);
        }
    }
    kept
}

/// The names that `#[async_trait]` binds in front of the body, each with whether
/// it is `mut`: patterns and `mut` are no longer in the signature.
pub fn rebound(whole: &Group) -> Vec<(Ident, bool)> {
    written(whole).map_or_else(Vec::new, |(before, _)| bound(&before))
}

/// Returns the names that `#[async_trait]` moves into the future: `let name = name;`.
pub fn moved(whole: &Group) -> Vec<Ident> {
    let (before, _) = written(whole).unzip();
    let before = before.unwrap_or_default();
    let starts = (0..before.len()).filter_map(|start| lone_name(before.get(start..)?));
    starts.cloned().collect()
}

/// The name of `let name =`, alone or `mut`.
fn lone_name(tokens: &[TokenTree]) -> Option<&Ident> {
    let (TokenTree::Ident(bind), rest) = tokens.split_first()? else {
        return None;
    };
    let rest = match rest {
        [TokenTree::Ident(word), rest @ ..] if word == "mut" => rest,
        _ => rest,
    };
    match rest {
        [TokenTree::Ident(name), TokenTree::Punct(equals), ..]
            if bind == "let" && equals.as_char() == '=' =>
        {
            Some(name)
        }
        _ => None,
    }
}

/// Makes the names that an attempt borrows alone `mut`.
pub fn with_mut(before: TokenStream, borrowed: &[Ident]) -> TokenStream {
    let tokens: Vec<_> = before.into_iter().collect();
    let mut made = TokenStream::new();
    for (index, token) in tokens.iter().enumerate() {
        made.extend([token.clone()]);
        let name = tokens.get(index..).and_then(lone_name);
        if name.is_some_and(|name| borrowed.contains(name)) {
            let is_mut = matches!(tokens.get(index.saturating_add(1)), Some(TokenTree::Ident(word)) if word == "mut");
            if !is_mut {
                made.extend([TokenTree::Ident(Ident::new("mut", token.span()))]);
            }
        }
    }
    made
}

/// The names between each `let` and its `=`.
fn bound(before: &[TokenTree]) -> Vec<(Ident, bool)> {
    let mut names = Vec::new();
    for statement in
        before.split(|token| matches!(token, TokenTree::Punct(end) if end.as_char() == ';'))
    {
        // The last: an `if let` without a semicolon may stand before it.
        let Some(start) = statement
            .iter()
            .rposition(|token| matches!(token, TokenTree::Ident(word) if word == "let"))
        else {
            continue;
        };
        let pattern = statement.iter().skip(start.saturating_add(1)).take_while(
            |token| !matches!(token, TokenTree::Punct(equals) if equals.as_char() == '='),
        );
        names_in(&pattern.cloned().collect::<Vec<_>>(), &mut names);
    }
    names
}

fn names_in(tokens: &[TokenTree], names: &mut Vec<(Ident, bool)>) {
    let mut mutable = false;
    for token in tokens {
        match token {
            TokenTree::Ident(word) if word == "mut" => mutable = true,
            TokenTree::Ident(word) => {
                names.push((word.clone(), mutable));
                mutable = false;
            }
            TokenTree::Group(group) => {
                names_in(&group.stream().into_iter().collect::<Vec<_>>(), names);
            }
            _ => {}
        }
    }
}
