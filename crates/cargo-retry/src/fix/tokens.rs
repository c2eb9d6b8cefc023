//! What stands around a place: the list of keys that it is in, the item behind an attribute.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The byte of a line and a column, both from 1; columns count characters.
pub(super) fn byte(text: &str, line: usize, column: usize) -> Option<usize> {
    let mut start = 0_usize;
    for (number, it) in text.split_inclusive('\n').enumerate() {
        if number.saturating_add(1) == line {
            let before: usize = it
                .chars()
                .take(column.saturating_sub(1))
                .map(char::len_utf8)
                .sum();
            return Some(start.saturating_add(before));
        }
        start = start.saturating_add(it.len());
    }
    None
}

/// The keys between two parentheses.
pub(super) struct Keys {
    /// Between the parentheses.
    pub(super) inside: Range<usize>,
    pub(super) items: Vec<Item>,
    /// From `#` to `]` of an attribute.
    pub(super) whole: Range<usize>,
}

/// `key = value`, `key(..)` or `key`.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) key: String,
    pub(super) all: Range<usize>,
    /// Behind `=`.
    pub(super) value: Option<Range<usize>>,
}

/// Names that keys stand behind.
const NAMES: &[&str] = &["retry", "retry_block", "step", "workflow"];

/// The innermost keys around `at`, or those whose name is there.
pub(super) fn keys(tokens: &TokenStream, at: usize) -> Option<Keys> {
    let mut found = None;
    search(tokens, at, &mut found);
    found
}

fn search(tokens: &TokenStream, at: usize, found: &mut Option<Keys>) {
    let all: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for (number, token) in all.iter().enumerate() {
        match token {
            TokenTree::Group(group) if range(token).contains(&at) => {
                search(&group.stream(), at, found);
            }
            TokenTree::Ident(name) if NAMES.iter().any(|it| name == it) => {
                let name = range(token);
                let behind = all.get(number.saturating_add(1)..).unwrap_or_default();
                let behind: Vec<_> = behind
                    .iter()
                    .filter(|it| !matches!(it, TokenTree::Punct(sign) if sign.as_char() == '!'))
                    .take(1)
                    .collect();
                let group = match behind.as_slice() {
                    [TokenTree::Group(group)] if group.delimiter() == Delimiter::Parenthesis => {
                        Some(group)
                    }
                    _ => None,
                };
                let end = group.map_or(name.end, |it| it.span().byte_range().end);
                if (name.start..end).contains(&at) {
                    *found = Some(of(name, group));
                }
            }
            _ => {}
        }
    }
}

fn of(name: Range<usize>, group: Option<&Group>) -> Keys {
    let inside = group.map_or(name.end..name.end, |it| {
        let all = it.span().byte_range();
        all.start.saturating_add(1)..all.end.saturating_sub(1)
    });
    let end = group.map_or(name.end, |it| it.span().byte_range().end);
    Keys {
        inside,
        items: group.map(|it| items(&it.stream())).unwrap_or_default(),
        // `#[` and `]`.
        whole: name.start.saturating_sub(2)..end.saturating_add(1),
    }
}

fn items(tokens: &TokenStream) -> Vec<Item> {
    let mut items = Vec::new();
    let mut open: Vec<TokenTree> = Vec::new();
    let mut close = |open: &mut Vec<TokenTree>| {
        items.extend(item(open));
        open.clear();
    };
    for token in tokens.clone() {
        if matches!(&token, TokenTree::Punct(sign) if sign.as_char() == ',') {
            close(&mut open);
        } else {
            open.push(token);
        }
    }
    close(&mut open);
    items
}

fn item(tokens: &[TokenTree]) -> Option<Item> {
    let (first, last) = (tokens.first()?, tokens.last()?);
    let is_equals = |it: &TokenTree| matches!(it, TokenTree::Punct(sign) if sign.as_char() == '=');
    let value = tokens.get(1).filter(|it| is_equals(it)).map(|equals| {
        let from = tokens
            .get(2)
            .map_or(range(equals).end, |it| range(it).start);
        from..range(last).end
    });
    Some(Item {
        key: first.to_string(),
        all: range(first).start..range(last).end,
        value,
    })
}

pub(super) fn range(token: &TokenTree) -> Range<usize> {
    token.span().byte_range()
}

/// The token at a byte that is no group, or the group that begins there.
pub(super) fn token(tokens: &TokenStream, at: usize) -> Option<TokenTree> {
    tokens.clone().into_iter().find_map(|it| match &it {
        TokenTree::Group(group) if range(&it).contains(&at) && range(&it).start != at => {
            token(&group.stream(), at)
        }
        _ if range(&it).contains(&at) => Some(it),
        _ => None,
    })
}

/// The delimiter of the innermost group around `at`.
pub(super) fn delimiter(tokens: &TokenStream, at: usize) -> Option<Delimiter> {
    tokens.clone().into_iter().find_map(|it| match &it {
        TokenTree::Group(group) if range(&it).contains(&at) && range(&it).start != at => {
            delimiter(&group.stream(), at).or(Some(group.delimiter()))
        }
        _ => None,
    })
}
