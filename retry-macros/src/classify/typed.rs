//! The types of the parameters of a closure behind `with`: the derive knows them, the compiler would ask for them.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, Fields, Ident, Pat, PatType, Type};

use reattempt_syntax::model::at;

/// The function; a parameter of a closure that the compiler could not know, because it looks at the body first, has the
/// type of its field. Any other one keeps what follows from the body, which may be a `&str` of a `String`.
pub(super) fn typed(function: &Expr, fields: &Fields) -> Expr {
    let Expr::Closure(closure) = function else {
        return function.clone();
    };
    let mut closure = closure.clone();
    for (parameter, field) in closure.inputs.iter_mut().zip(fields) {
        let is_open = match &*parameter {
            Pat::Wild(_) | Pat::Type(_) => false,
            Pat::Ident(name) => looks_into(&closure.body.to_token_stream(), &name.ident),
            _ => true,
        };
        let is_unsized = matches!(field.ty, Type::TraitObject(_));
        if is_open && !is_unsized {
            let (span, ty) = (at(parameter.span()), &field.ty);
            *parameter = Pat::Type(PatType {
                attrs: Vec::new(),
                pat: Box::new(parameter.clone()),
                colon_token: syn::Token![:](span),
                ty: Box::new(Type::Verbatim(quote_spanned!(span=> &#ty))),
            });
        }
    }
    Expr::Closure(closure)
}

/// Whether some code does with a variable what needs its type: calls a method, reads a field, compares or matches it.
fn looks_into(code: &TokenStream, name: &Ident) -> bool {
    let tokens: Vec<_> = code.clone().into_iter().collect();
    let is_name = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == name);
    (0..tokens.len()).any(|index| {
        let Some((before, [token, after @ ..])) = tokens.split_at_checked(index) else {
            return false;
        };
        match token {
            TokenTree::Group(group) => {
                let inside = group.stream();
                let is_matched = names_macro(before, "matches")
                    && inside
                        .clone()
                        .into_iter()
                        .next()
                        .as_ref()
                        .is_some_and(is_name);
                is_matched && !is_reference(inside.clone().into_iter().nth(2).as_ref())
                    || looks_into(&inside, name)
            }
            token if is_name(token) => is_taken_apart(before) || is_operand(after, before),
            _ => false,
        }
    })
}

/// Whether these tokens take apart what stands behind them: `*code`, `!code`, `if let Some(code) = code`.
fn is_taken_apart(before: &[TokenTree]) -> bool {
    match before {
        [.., operator, sign] if is(sign, '=') && is_operator(operator) => false,
        [.., sign] if is(sign, '=') => {
            let start = before
                .iter()
                .rposition(|it| matches!(it, TokenTree::Ident(word) if word == "let"));
            let pattern = start.and_then(|start| before.get(start.saturating_add(1)));
            pattern.is_some() && !is_reference(pattern)
        }
        [.., sign] => is(sign, '*') || is(sign, '!'),
        [] => false,
    }
}

/// Whether a variable between these tokens is the one whose type chooses: in front of `.`, `[0]`, an operator, or the
/// arms of a `match`.
fn is_operand(after: &[TokenTree], before: &[TokenTree]) -> bool {
    use proc_macro2::Delimiter::{Brace, Bracket};
    match after {
        _ if matches!(before, [.., dot] if is(dot, '.')) => false,
        [TokenTree::Group(group), ..] => match group.delimiter() {
            Bracket => true,
            Brace => {
                let is_match = matches!(before, [.., TokenTree::Ident(word)] if word == "match");
                is_match && !is_reference(group.stream().into_iter().next().as_ref())
            }
            _ => false,
        },
        [sign, next, ..] if is(sign, '=') => is(next, '='),
        [sign, ..] => is(sign, '.') || is_operator(sign),
        [] => false,
    }
}

/// Whether a pattern starts like one of a reference, such as a text: of it follows what it is compared with.
fn is_reference(pattern: Option<&TokenTree>) -> bool {
    match pattern {
        Some(TokenTree::Literal(literal)) => literal.to_string().contains('"'),
        Some(token) => is(token, '&'),
        None => false,
    }
}

fn names_macro(before: &[TokenTree], name: &str) -> bool {
    matches!(before, [.., TokenTree::Ident(word), sign] if is(sign, '!') && word == name)
}

fn is_operator(token: &TokenTree) -> bool {
    let signs = ['=', '!', '<', '>', '+', '-', '*', '/', '%', '&', '|', '^'];
    signs.into_iter().any(|sign| is(token, sign))
}

fn is(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}
