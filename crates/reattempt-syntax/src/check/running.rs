//! Which values only the running program knows. The macro sees tokens, so it goes by names.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Expr, Ident};

/// Types of ours, whose functions are constant where `const fn`s can be.
const OWN: &[&str] = &[
    "Budget",
    "Breaker",
    "Codes",
    "Bulkhead",
    "Hedge",
    "Jitter",
    "Nested",
    "Policy",
    "Priority",
    "Backoff",
    "Telemetry",
    "Throttle",
];

/// Functions of `Duration` that a constant may call.
const MAKES_DURATION: &[&str] = &[
    "new",
    "from_nanos",
    "from_micros",
    "from_millis",
    "from_secs",
    "from_mins",
    "from_hours",
];

/// Methods of durations and numbers that a constant may call.
const CONSTANT_METHODS: &[&str] = &[
    "abs_diff",
    "as_secs",
    "div_ceil",
    "get",
    "pow",
    "saturating_add",
    "saturating_mul",
    "saturating_sub",
];

/// Returns whether an expression is a value of the running program: it contains `self`, the name of a parameter, a path
/// of one segment in small letters, what something points to, or a call of a function that is not one of our own types or
/// of `Duration`. Wrapped in `const { .. }` it never is.
pub(super) fn is_running(expr: &Expr, parameters: &[(Ident, bool)]) -> bool {
    let is_parameter = |name: &Ident| name == "self" || parameters.iter().any(|(it, _)| it == name);
    any_running(expr.to_token_stream(), &is_parameter)
}

/// Returns whether an expression that must be a constant names `self` or a parameter. What a closure names may be its own.
pub(super) fn names_parameter(expr: &Expr, parameters: &[(Ident, bool)]) -> bool {
    let is_parameter = |name: &Ident| name == "self" || parameters.iter().any(|(it, _)| it == name);
    match expr {
        Expr::Path(path) => path.path.get_ident().is_some_and(is_parameter),
        Expr::Field(field) => names_parameter(&field.base, parameters),
        Expr::MethodCall(call) => names_parameter(&call.receiver, parameters),
        Expr::Unary(unary) => names_parameter(&unary.expr, parameters),
        Expr::Reference(reference) => names_parameter(&reference.expr, parameters),
        Expr::Group(group) => names_parameter(&group.expr, parameters),
        Expr::Paren(paren) => names_parameter(&paren.expr, parameters),
        Expr::Call(call) => call
            .args
            .iter()
            .any(|argument| names_parameter(argument, parameters)),
        _ => false,
    }
}

/// `self` or the parameter that some code names, but for a name behind a dot or in front of a colon.
pub(super) fn named(code: TokenStream, parameters: &[(Ident, bool)]) -> Option<Ident> {
    let tokens: Vec<_> = code.into_iter().collect();
    (0..tokens.len()).find_map(|i| {
        let (before, rest) = tokens.split_at_checked(i)?;
        match rest {
            [TokenTree::Ident(name), after @ ..] => {
                let is_known = name == "self" || parameters.iter().any(|(it, _)| it == name);
                (is_known && stands_alone(before, after)).then(|| name.clone())
            }
            [TokenTree::Group(group), ..] => named(group.stream(), parameters),
            _ => None,
        }
    })
}

fn any_running(tokens: TokenStream, is_parameter: &dyn Fn(&Ident) -> bool) -> bool {
    let tokens: Vec<_> = tokens.into_iter().collect();
    (0..tokens.len()).any(|i| {
        let Some((before, rest)) = tokens.split_at_checked(i) else {
            return false;
        };
        match rest {
            [TokenTree::Ident(name), after @ ..] => {
                stands_alone(before, after)
                    && (is_parameter(name) || is_variable(&name.to_string()))
            }
            [TokenTree::Group(group), ..] => match before {
                // What `const` wraps is a constant whatever it says.
                [.., TokenTree::Ident(word)] if word == "const" => false,
                // A macro has words of its own.
                [.., TokenTree::Ident(_), sign] if is(sign, '!') => {
                    names_any(group.stream(), is_parameter)
                }
                _ => {
                    let is_call = group.delimiter() == Delimiter::Parenthesis && calls(before);
                    is_call || any_running(group.stream(), is_parameter)
                }
            },
            // What points to a value is a reference, or a `static` that is made when it is first read.
            [star, ..] if is(star, '*') => !matches!(
                before,
                [
                    ..,
                    TokenTree::Ident(_) | TokenTree::Literal(_) | TokenTree::Group(_)
                ]
            ),
            _ => false,
        }
    })
}

fn is(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

/// Whether a name between these tokens is a path by itself: not a segment of one, a field, a macro, a type, a lifetime.
fn stands_alone(before: &[TokenTree], after: &[TokenTree]) -> bool {
    let follows = match before {
        [.., one, other] if is(one, '.') && is(other, '.') => false, // a range
        [.., one, other] if is(one, ':') && is(other, ':') => true,
        [.., TokenTree::Ident(word)] => word == "as",
        [.., sign] => is(sign, '.') || is(sign, '\''),
        [] => false,
    };
    let leads = match after {
        [sign, TokenTree::Group(_), ..] if is(sign, '!') => true,
        [sign, ..] => is(sign, ':'),
        [] => false,
    };
    !(follows || leads)
}

/// Whether parentheses behind these tokens call what a constant cannot, or what only its author knows.
fn calls(before: &[TokenTree]) -> bool {
    let name = match before {
        [.., TokenTree::Ident(name)] => name.to_string(),
        // A turbofish.
        [.., sign] => return is(sign, '>'),
        [] => return false,
    };
    if is_keyword(&name) || name.starts_with(char::is_uppercase) {
        return false; // `if (..)`, and `Ratio(..)`
    }
    match before {
        [.., sign, _] if is(sign, '.') => !CONSTANT_METHODS.contains(&&*name),
        [.., TokenTree::Ident(owner), one, other, _] if is(one, ':') && is(other, ':') => {
            if owner == "Duration" {
                !MAKES_DURATION.contains(&&*name)
            } else {
                !OWN.iter().any(|own| owner == own)
            }
        }
        _ => true,
    }
}

/// Whether a path of this segment alone is the name of a variable or a function.
fn is_variable(name: &str) -> bool {
    !is_keyword(name) && !name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

fn is_keyword(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "as", "break", "const", "crate", "else", "false", "for", "if", "in", "let", "loop",
        "match", "move", "mut", "ref", "return", "super", "true", "unsafe", "while",
    ];
    WORDS.contains(&name)
}

fn names_any(tokens: TokenStream, is_parameter: &dyn Fn(&Ident) -> bool) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(name) => is_parameter(&name),
        TokenTree::Group(group) => names_any(group.stream(), is_parameter),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn judged(expr: &Expr) -> bool {
        is_running(expr, &[(parse_quote!(LIMIT), false)])
    }

    #[test]
    fn what_the_running_program_knows() {
        let running: [Expr; 21] = [
            parse_quote!(self.max),
            parse_quote!(*self.base),
            parse_quote!(config.base),
            parse_quote!(*LIMITS),
            parse_quote!(2 * *LIMITS),
            parse_quote!(Limits { max: limit }.max),
            parse_quote!(limit),
            parse_quote!(LIMIT),
            parse_quote!(LIMIT.max),
            parse_quote!(limit()),
            parse_quote!(limits::max()),
            parse_quote!(Self::max()),
            parse_quote!(limit::<3>()),
            parse_quote!(Duration::from_secs(self.seconds)),
            parse_quote!(Duration::default()),
            parse_quote!(Duration::from_secs_f64(0.5)),
            parse_quote!(Duration::from_secs(SECONDS.load(Ordering::Relaxed))),
            parse_quote!(BASE * factor),
            parse_quote!(if self.is_slow { A } else { B }),
            parse_quote!(larger!(self.max, 3)),
            parse_quote!({
                let limits = &LIMITS;
                limits.max
            }),
        ];
        for expr in &running {
            assert!(judged(expr), "{}", expr.to_token_stream());
        }
    }

    #[test]
    fn what_the_compiler_evaluates() {
        let constant: [Expr; 22] = [
            parse_quote!(MAX),
            parse_quote!(N),
            parse_quote!(Self::MAX),
            parse_quote!(<Self as Limits>::MAX),
            parse_quote!(limits::MAX),
            parse_quote!(self::MAX),
            parse_quote!(crate::limits::MAX + 1),
            parse_quote!(LIMITS.base),
            parse_quote!(LIMITS.0),
            parse_quote!(u32::MAX),
            parse_quote!(MAX as u32),
            parse_quote!(MAX * 2),
            parse_quote!(BASE.saturating_mul(2)),
            parse_quote!(const { limit() }),
            parse_quote!(Duration::from_secs(const { seconds() })),
            parse_quote!(core::time::Duration::from_secs(2)),
            parse_quote!(Duration::ZERO),
            parse_quote!(Jitter::Ratio(0.2)),
            parse_quote!(Ratio(SHARE)),
            parse_quote!(if cfg!(debug_assertions) { 1 } else { MAX }),
            parse_quote!((1 + 2)),
            parse_quote!(Limits { max: 3 }.max),
        ];
        for expr in &constant {
            assert!(!judged(expr), "{}", expr.to_token_stream());
        }
    }
}
