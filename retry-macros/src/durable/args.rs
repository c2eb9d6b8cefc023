//! The keys of `#[step]` and `#[workflow]`.

#![expect(
    clippy::unreachable,
    reason = "derived: what has no name is refused before its value is read"
)]

use std::time::Duration;

use darling::FromMeta;
use darling::ast::NestedMeta;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens as _;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Lit, Meta, Token};

use crate::args::{Code, CratePath, Given, Value};
use crate::faults::Faults;
use crate::keys;
use crate::literal::{Literal, Name};

/// `#[step(...)]`, as written.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(super) struct Step {
    pub(super) retry: Option<Keys>,
    pub(super) complete_by: Option<Value<Duration>>,
    pub(super) undo: Option<Code>,
    pub(super) name: Option<Value<Name>>,
    #[darling(rename = "crate")]
    pub(super) krate: Option<CratePath>,
}

pub(super) const OF_STEP: &[&str] = &["retry", "complete_by", "undo", "name", "crate"];

/// `#[workflow(...)]`, as written.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(super) struct Workflow {
    pub(super) name: Option<Value<Name>>,
    pub(super) version: Option<Number>,
    pub(super) complete_by: Option<Value<Duration>>,
    pub(super) max_failures: Option<Number>,
    #[darling(rename = "crate")]
    pub(super) krate: Option<CratePath>,
}

pub(super) const OF_WORKFLOW: &[&str] =
    &["name", "version", "complete_by", "max_failures", "crate"];

/// `retry(...)`: the keys of `#[retry]`, as written.
pub(super) struct Keys {
    pub(super) tokens: TokenStream,
    pub(super) span: Span,
    pub(super) wrong: Option<syn::Error>,
}

impl FromMeta for Keys {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let span = meta.path().span();
        Ok(match meta {
            Meta::List(list) => Self {
                tokens: list.tokens.clone(),
                span,
                wrong: None,
            },
            _ => Self {
                tokens: TokenStream::new(),
                span,
                wrong: Some(syn::Error::new(
                    meta.span(),
                    "`retry` takes the keys of `#[retry]`; write `retry(max = 5, ...)`",
                )),
            },
        })
    }
}

/// A whole number of at least 0.
pub(super) struct Number(Result<i32, syn::Error>);

impl FromMeta for Number {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let wrong = |span: Span| {
            let path = meta.path().to_token_stream();
            syn::Error::new(
                span,
                format!("`{path}` is a whole number; write `{path} = 1`"),
            )
        };
        let Meta::NameValue(pair) = meta else {
            return Ok(Self(Err(wrong(meta.span()))));
        };
        let number = match &pair.value {
            syn::Expr::Lit(syn::ExprLit {
                lit: Lit::Int(number),
                ..
            }) => number.base10_parse().ok(),
            _ => None,
        };
        Ok(Self(number.ok_or_else(|| wrong(pair.value.span()))))
    }
}

/// Reads the keys of one of the two.
pub(super) fn parse<T: FromMeta + Default>(
    tokens: TokenStream,
    known: &[&str],
    faults: &mut Faults,
) -> T {
    let list =
        |input: ParseStream<'_>| Punctuated::<NestedMeta, Token![,]>::parse_terminated(input);
    let items = match list.parse2(tokens) {
        Ok(items) => items,
        Err(fault) => {
            let message = format!("{fault}; keys are written `key = value` or `key(...)`");
            faults.push(fault.span(), message);
            return T::default();
        }
    };
    let mut seen = Vec::new();
    let mut good = Vec::new();
    for item in items {
        let word = match &item {
            NestedMeta::Meta(meta) => meta.path().to_token_stream().to_string(),
            other => {
                let message = format!(
                    "expected `key = value`; the keys are {}",
                    keys::listed(known)
                );
                faults.push(other.span(), message);
                continue;
            }
        };
        if !known.contains(&word.as_str()) {
            let message = unknown(&word, known);
            faults.push(item.span(), message);
        } else if seen.contains(&word) {
            faults.push(
                item.span(),
                format!("`{word}` stands here twice; keep one of them"),
            );
        } else {
            seen.push(word);
            good.push(item);
        }
    }
    T::from_list(&good).unwrap_or_else(|error| {
        for fault in error.flatten() {
            faults.push(fault.span(), fault.to_string());
        }
        T::default()
    })
}

fn unknown(word: &str, known: &[&str]) -> String {
    if known.contains(&"retry") && keys::is_one_of(word, keys::KEYS) {
        return format!("`{word}` is a key of the retries; write `retry({word} ...)`");
    }
    let all = keys::listed(known);
    match keys::nearest(&word.to_lowercase(), known) {
        Some(near) => format!("unknown key `{word}`; did you mean `{near}`?"),
        None => format!("unknown key `{word}`; the keys are {all}"),
    }
}

/// `Some(duration)` or `None`, as tokens.
pub(super) fn limit(value: Option<Value<Duration>>, faults: &mut Faults) -> TokenStream {
    let limit = match value.map(|value| value.given) {
        None => return ours!(::core::option::Option::None),
        Some(Given::Literal(limit, span)) => {
            if limit.is_zero() {
                faults.push(span, "`complete_by` of 0 leaves no time; write a longer one, such as \"30s\", or drop it");
            }
            limit.tokens(&TokenStream::new())
        }
        Some(Given::Expression(expression)) => expression.into_token_stream(),
        Some(Given::Wrong(fault)) => {
            faults.add(fault);
            return TokenStream::new();
        }
    };
    ours!(::core::option::Option::Some(#limit))
}

/// A name as tokens, or what stands in its place.
pub(super) fn name(
    value: Option<Value<Name>>,
    otherwise: &str,
    faults: &mut Faults,
) -> TokenStream {
    match value.map(|value| value.given) {
        None => ours!(#otherwise),
        Some(Given::Literal(name, _)) => name.tokens(&TokenStream::new()),
        Some(Given::Expression(expression)) => expression.into_token_stream(),
        Some(Given::Wrong(fault)) => {
            faults.add(fault);
            ours!("")
        }
    }
}

/// A number, if it is right.
pub(super) fn number(number: Option<Number>, otherwise: i32, faults: &mut Faults) -> i32 {
    match number.map(|number| number.0) {
        None => otherwise,
        Some(Ok(number)) => number,
        Some(Err(fault)) => {
            faults.add(fault);
            otherwise
        }
    }
}
