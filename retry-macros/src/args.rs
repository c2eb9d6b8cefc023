//! Tokens -> [`Args`]: every key with its value and both their spans. What is
//! wrong with a single value is kept beside it; nothing is judged here.

use std::time::Duration;

use darling::FromMeta;
use darling::ast::NestedMeta;
use proc_macro2::{Span, TokenStream};
use retry_runtime::{Jitter, Shape};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Expr, Ident, Meta, Pat, Path, Token};

use crate::faults::Faults;
use crate::keys;
use crate::literal::{self, Attempts, Literal, Name};

/// The arguments of one attribute or block, as written.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct Args {
    pub(crate) max: Option<Value<Attempts>>,
    pub(crate) backoff: Option<Value<Shape>>,
    pub(crate) base: Option<Value<Duration>>,
    pub(crate) first: Option<Value<Duration>>,
    pub(crate) factor: Option<Value<f64>>,
    pub(crate) cap: Option<Value<Duration>>,
    pub(crate) jitter: Option<Value<Jitter>>,
    pub(crate) fast_first: Option<Value<bool>>,
    pub(crate) deadline: Option<Value<Duration>>,
    pub(crate) patience: Option<Value<Duration>>,
    pub(crate) idempotent: Option<Value<bool>>,
    pub(crate) verify: Option<Code>,
    pub(crate) on: Option<Filter>,
    pub(crate) except: Option<Filter>,
    pub(crate) until: Option<Code>,
    pub(crate) fallback: Option<Code>,
    pub(crate) before_retry: Option<Code>,
    pub(crate) on_retry: Option<Code>,
    pub(crate) context: Option<Binding>,
    pub(crate) clone: Option<Names>,
    pub(crate) name: Option<Value<Name>>,
    pub(crate) policy: Option<Code>,
    pub(crate) timer: Option<Code>,
    #[darling(rename = "crate")]
    pub(crate) krate: Option<CratePath>,
}

/// A value that may be a literal or a constant expression.
pub(crate) struct Value<T> {
    pub(crate) key: Span,
    pub(crate) given: Given<T>,
}

pub(crate) enum Given<T> {
    Literal(T, Span),
    Expression(Expr),
    Wrong(syn::Error),
}

/// `on`, `except`.
pub(crate) struct Filter {
    pub(crate) key: Span,
    pub(crate) given: Given<Predicate>,
}

#[derive(Clone)]
pub(crate) enum Predicate {
    /// `on(pattern if guard)`, as written.
    Pattern(TokenStream),
    /// `on = closure or path`.
    Code(Expr),
}

impl Predicate {
    /// The tokens as a text, to tell whether two are the same.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Pattern(pattern) => pattern.to_string(),
            Self::Code(code) => quote::quote!(#code).to_string(),
        }
    }
}

/// A closure, a path or another expression.
pub(crate) struct Code {
    pub(crate) key: Span,
    pub(crate) given: Result<Expr, syn::Error>,
}

/// `context = name`.
pub(crate) struct Binding(pub(crate) Result<Ident, syn::Error>);

/// `clone(a, b)`.
pub(crate) struct Names {
    pub(crate) key: Span,
    pub(crate) given: Result<Vec<Ident>, syn::Error>,
}

/// `crate = ::path`.
pub(crate) struct CratePath(pub(crate) Result<Path, syn::Error>);

/// Reads the arguments of an attribute.
pub(crate) fn parse(tokens: TokenStream, faults: &mut Faults) -> Args {
    match items.parse2(tokens) {
        Ok(found) => from_items(found, keys::KEYS, faults),
        Err(fault) => {
            faults.add(fault);
            Args::default()
        }
    }
}

fn items(input: ParseStream<'_>) -> syn::Result<Vec<NestedMeta>> {
    let list = Punctuated::<NestedMeta, Token![,]>::parse_terminated(input)?;
    Ok(list.into_iter().collect())
}

/// Sorts out what is no key, then lets darling fill in the rest.
pub(crate) fn from_items(items: Vec<NestedMeta>, known: &[&str], faults: &mut Faults) -> Args {
    let mut seen: Vec<String> = Vec::new();
    let mut good = Vec::new();
    for item in items {
        let (path, span) = match &item {
            NestedMeta::Meta(meta) => (meta.path(), meta.path().span()),
            NestedMeta::NameValueInvalidExpr(pair) => (&pair.path, pair.path.span()),
            NestedMeta::Lit(lit) => {
                faults.push(lit.span(), "expected `key = value`; write `max = 3`");
                continue;
            }
        };
        let word = path.get_ident().map(|ident| ident.unraw().to_string());
        let word = word.unwrap_or_else(|| quote::quote!(#path).to_string());
        if !keys::is_one_of(&word, keys::KEYS) {
            faults.push(span, keys::unknown(&word));
        } else if !keys::is_one_of(&word, known) {
            faults.push(
                span,
                format!("`{word}` stands on functions only; clone inside the block instead"),
            );
        } else if seen.contains(&word) {
            faults.push(
                span,
                format!("`{word}` stands here twice; keep one of them"),
            );
        } else {
            seen.push(word);
            good.push(item);
        }
    }
    Args::from_list(&good).unwrap_or_else(|error| {
        for fault in error.flatten() {
            faults.push(fault.span(), fault.to_string());
        }
        Args::default()
    })
}

/// The value of `key = value`, or why there is none.
fn value(meta: &Meta, example: &str) -> Result<Expr, syn::Error> {
    match meta {
        Meta::NameValue(pair) => Ok(pair.value.clone()),
        _ => Err(needs_value(meta, example)),
    }
}

fn needs_value(meta: &Meta, example: &str) -> syn::Error {
    let word = meta
        .path()
        .get_ident()
        .map(ToString::to_string)
        .unwrap_or_default();
    syn::Error::new(
        meta.span(),
        format!("`{word}` needs a value; write `{word} = {example}`"),
    )
}

/// A value that is no expression at all.
fn no_expression(pair: &darling::ast::MetaNameValueInvalidExpr) -> syn::Error {
    syn::Error::new(pair.value.span(), pair.error.to_string())
}

macro_rules! keep_faults {
    ($wrong:expr) => {
        fn from_nested_meta(item: &NestedMeta) -> darling::Result<Self> {
            match item {
                NestedMeta::Meta(meta) => Self::from_meta(meta),
                NestedMeta::NameValueInvalidExpr(pair) => {
                    Ok($wrong(pair.path.span(), no_expression(pair)))
                }
                NestedMeta::Lit(lit) => Err(darling::Error::unexpected_lit_type(lit)),
            }
        }
    };
}

impl<T: Literal> FromMeta for Value<T> {
    keep_faults!(|key, fault| Self {
        key,
        given: Given::Wrong(fault)
    });

    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let key = meta.path().span();
        let given = match meta {
            // A flag alone is `true`.
            Meta::Path(_) if T::from_bool(true).is_some() => match T::from_bool(true) {
                Some(Ok(on)) => Given::Literal(on, key),
                _ => Given::Wrong(needs_value(meta, "true")),
            },
            Meta::NameValue(pair) => match literal::read(&pair.value) {
                Some(Ok(literal)) => Given::Literal(literal, pair.value.span()),
                Some(Err(message)) => Given::Wrong(syn::Error::new(pair.value.span(), message)),
                None => Given::Expression(pair.value.clone()),
            },
            _ => Given::Wrong(syn::Error::new(
                meta.span(),
                format!("expected {}", T::EXAMPLE),
            )),
        };
        Ok(Self { key, given })
    }
}

impl FromMeta for Filter {
    keep_faults!(|key, fault| Self {
        key,
        given: Given::Wrong(fault)
    });

    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let key = meta.path().span();
        let given = match meta {
            Meta::NameValue(pair) => {
                Given::Literal(Predicate::Code(pair.value.clone()), pair.value.span())
            }
            Meta::List(list) => match pattern.parse2(list.tokens.clone()) {
                Ok(()) => {
                    Given::Literal(Predicate::Pattern(list.tokens.clone()), list.tokens.span())
                }
                Err(_) if list.tokens.is_empty() => Given::Wrong(syn::Error::new(
                    meta.span(),
                    "an empty pattern matches nothing; name the errors, or write `on(_)` for any",
                )),
                Err(fault) => Given::Wrong(fault),
            },
            Meta::Path(_) => Given::Wrong(needs_value(meta, "|error| ...")),
        };
        Ok(Self { key, given })
    }
}

/// Whether the tokens are `pattern` or `pattern if guard`.
fn pattern(input: ParseStream<'_>) -> syn::Result<()> {
    Pat::parse_multi_with_leading_vert(input)?;
    if input.parse::<Option<Token![if]>>()?.is_some() {
        input.parse::<Expr>()?;
    }
    Ok(())
}

impl FromMeta for Code {
    keep_faults!(|key, fault| Self {
        key,
        given: Err(fault)
    });

    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        Ok(Self {
            key: meta.path().span(),
            given: value(meta, "..."),
        })
    }
}

impl FromMeta for Binding {
    keep_faults!(|_, fault| Self(Err(fault)));

    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        Ok(Self(value(meta, "attempt").and_then(|expr| match &expr {
            Expr::Path(path) => path.path.require_ident().cloned(),
            _ => Err(syn::Error::new(
                expr.span(),
                "`context` is the name by which the body sees its attempt; write `context = attempt`",
            )),
        })))
    }
}

impl FromMeta for Names {
    keep_faults!(|key, fault| Self {
        key,
        given: Err(fault)
    });

    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let given = match meta {
            Meta::List(list) => names.parse2(list.tokens.clone()).and_then(|names| {
                if names.is_empty() {
                    return Err(syn::Error::new(
                        meta.span(),
                        "`clone` names no parameter; write `clone(parameter)`, or drop it",
                    ));
                }
                Ok(names)
            }),
            _ => Err(syn::Error::new(
                meta.span(),
                "`clone` takes a list of parameters; write `clone(parameter)`",
            )),
        };
        Ok(Self {
            key: meta.path().span(),
            given,
        })
    }
}

fn names(input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    let list = Punctuated::<Ident, Token![,]>::parse_terminated_with(input, Ident::parse_any)?;
    Ok(list.into_iter().collect())
}

impl FromMeta for CratePath {
    keep_faults!(|_, fault| Self(Err(fault)));

    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        Ok(Self(value(meta, "::reattempt").and_then(
            |expr| match &expr {
                Expr::Path(path) if path.qself.is_none() => Ok(path.path.clone()),
                // A text, as serde has it.
                Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Str(text),
                    ..
                }) => text.parse(),
                _ => Err(syn::Error::new(
                    expr.span(),
                    "`crate` is the path of this crate; write `crate = ::reattempt`",
                )),
            },
        )))
    }
}
