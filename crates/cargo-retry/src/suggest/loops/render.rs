//! Code of a loop as it is written inside of a closure that gets the error by reference.

use std::collections::BTreeSet;
use std::ops::Range;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;

/// A token, or one end of a group.
struct Piece {
    text: String,
    bytes: Range<usize>,
    is_name: bool,
    in_macro: bool,
}

/// The code on one line. What is in `references` is there by value, and here a reference.
pub(in crate::suggest) fn rendered(code: &impl ToTokens, references: &BTreeSet<String>) -> String {
    let mut pieces = Vec::new();
    flatten(code.to_token_stream(), false, &mut pieces);
    let (mut out, mut end) = (String::new(), None);
    for (number, piece) in pieces.iter().enumerate() {
        let text = |at: Option<usize>| {
            let piece = at.and_then(|at| pieces.get(at));
            piece.map_or("", |it| it.text.as_str())
        };
        let next = text(number.checked_add(1));
        let is_of_reference = piece.text == "&"
            && references.contains(next)
            && !matches!(text(number.checked_add(2)), "." | "?" | "[");
        if end.is_some_and(|end| end < piece.bytes.start) && !out.is_empty() {
            out.push(' ');
        }
        end = Some(piece.bytes.end);
        if is_of_reference {
            continue;
        }
        let before = text(number.checked_sub(1));
        // `error!(..)` is another name than `error != other`.
        let is_macro = next == "!" && text(number.checked_add(2)) != "=";
        let is_value = piece.is_name
            && references.contains(&piece.text)
            && !piece.in_macro
            && !is_macro
            && !matches!(before, "." | "&" | "::")
            && !matches!(next, "." | "?" | "[" | ":");
        if is_value {
            out.push('*');
        }
        out.push_str(&piece.text);
    }
    out
}

fn flatten(tokens: TokenStream, in_macro: bool, pieces: &mut Vec<Piece>) {
    for token in tokens {
        let bytes = token.span().byte_range();
        match token {
            TokenTree::Group(group) => {
                let is_marked = pieces.last().is_some_and(|it| it.text == "!");
                let [open, close] = match group.delimiter() {
                    Delimiter::Parenthesis => ["(", ")"],
                    Delimiter::Brace => ["{", "}"],
                    Delimiter::Bracket => ["[", "]"],
                    Delimiter::None => ["", ""],
                };
                let is_call = matches!(pieces.last(), Some(it) if it.is_name);
                let in_macro = in_macro || (is_marked && !is_call);
                let piece = |text: &str, bytes: Range<usize>| Piece {
                    text: text.to_owned(),
                    bytes,
                    is_name: false,
                    in_macro,
                };
                pieces.push(piece(open, group.span_open().byte_range()));
                flatten(group.stream(), in_macro, pieces);
                pieces.push(piece(close, group.span_close().byte_range()));
            }
            TokenTree::Ident(name) => pieces.push(Piece {
                text: name.to_string(),
                bytes,
                is_name: true,
                in_macro,
            }),
            // `::` is one piece, so that a name in front of it is no value.
            TokenTree::Punct(colon)
                if colon.as_char() == ':'
                    && pieces
                        .last()
                        .is_some_and(|it| it.text == ":" && it.bytes.end == bytes.start) =>
            {
                if let Some(last) = pieces.last_mut() {
                    "::".clone_into(&mut last.text);
                    last.bytes.end = bytes.end;
                }
            }
            other => pieces.push(Piece {
                text: other.to_string(),
                bytes,
                is_name: false,
                in_macro,
            }),
        }
    }
}

/// The opposite of a condition that is rendered so.
pub(super) fn negated(condition: &syn::Expr, text: &str) -> String {
    match condition {
        syn::Expr::Unary(it) if matches!(it.op, syn::UnOp::Not(_)) => {
            text.trim_start_matches('!').to_owned()
        }
        syn::Expr::Binary(it) => {
            let swapped = match it.op {
                syn::BinOp::Eq(_) => Some((" == ", " != ")),
                syn::BinOp::Ne(_) => Some((" != ", " == ")),
                _ => None,
            };
            match swapped {
                Some((is, other)) if text.matches(is).count() == 1 => text.replacen(is, other, 1),
                _ => format!("!({text})"),
            }
        }
        syn::Expr::Cast(_) | syn::Expr::Range(_) | syn::Expr::Closure(_) => format!("!({text})"),
        _ => format!("!{text}"),
    }
}

/// Every name in a piece of code, those of fields and methods, too, and those in the texts that macros format.
pub(in crate::suggest) fn names(code: &(impl ToTokens + ?Sized)) -> BTreeSet<String> {
    fn add(tokens: TokenStream, names: &mut BTreeSet<String>) {
        for token in tokens {
            match token {
                TokenTree::Ident(name) if name == "_" => {}
                TokenTree::Ident(name) => _ = names.insert(name.to_string()),
                TokenTree::Group(group) => add(group.stream(), names),
                TokenTree::Literal(text) => names.extend(formatted(&text.to_string())),
                TokenTree::Punct(_) => {}
            }
        }
    }
    let mut names = BTreeSet::new();
    add(code.to_token_stream(), &mut names);
    names
}

/// The names that code reads behind this byte of its file, but for those that it sets there itself.
pub(in crate::suggest) fn names_behind(code: TokenStream, end: usize) -> BTreeSet<String> {
    let (mut names, mut known) = (BTreeSet::new(), BTreeSet::new());
    let (mut declares, mut set) = (false, None);
    let mut tokens = code.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                let inner = names_behind(group.stream(), end).into_iter();
                names.extend(inner.filter(|it| !known.contains(it)));
            }
            token if token.span().byte_range().start < end => {}
            TokenTree::Ident(name) => {
                let name = name.to_string();
                let sets = matches!(tokens.peek(), Some(TokenTree::Punct(it)) if it.as_char() == '=' && it.spacing() == Spacing::Alone);
                if name == "let" {
                    declares = true;
                } else if !declares && is_field(tokens.peek()) {
                    // `Fault { times: most }` reads no `times`.
                } else if name != "mut" && (declares || sets) {
                    set = Some(name);
                    declares = false;
                } else if !known.contains(&name) {
                    names.insert(name);
                }
            }
            TokenTree::Literal(text) => {
                let used = formatted(&text.to_string()).into_iter();
                names.extend(used.filter(|it| !known.contains(it)));
            }
            TokenTree::Punct(it) => {
                if it.as_char() == ';' {
                    known.extend(set.take());
                }
                declares = false;
            }
        }
    }
    names
}

/// Whether a name in front of this is that of a field.
fn is_field(next: Option<&TokenTree>) -> bool {
    matches!(next, Some(TokenTree::Punct(it)) if it.as_char() == ':' && it.spacing() == Spacing::Alone)
}

/// The names in the braces of `"{attempt}: {error:>width$}"`.
fn formatted(literal: &str) -> BTreeSet<String> {
    let is_text = literal.starts_with('"') || literal.starts_with('r');
    let pieces = literal.replace("{{", "");
    let pieces = pieces.split('{').skip(1).filter(|_| is_text);
    let inside = pieces.filter_map(|it| it.split_once('}')).map(|(it, _)| it);
    let words = inside.flat_map(|it| {
        let (name, form) = it.split_once(':').unwrap_or((it, ""));
        // `width$` of a form is a name.
        let sizes = form
            .split_inclusive('$')
            .filter_map(|it| it.strip_suffix('$'));
        let is_of_name = |it: char| it.is_alphanumeric() || it == '_';
        let sizes = sizes.filter_map(move |it| it.rsplit(|it| !is_of_name(it)).next());
        [name.trim()].into_iter().chain(sizes)
    });
    let names = words.filter(|it| !it.is_empty());
    names.map(ToOwned::to_owned).collect()
}
