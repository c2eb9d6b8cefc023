//! The keys of `#[step]` and `#[workflow]`, each with its value and its place. An error of a single
//! value is kept beside it; `values` reports it.
//!
//! ```text
//! retry(max = 5), complete_by = "30s"   ->   StepKeys { retry: Some(max = 5), complete_by: Some(30 s), undo: None, ... }
//! ```

#![expect(
    clippy::unreachable,
    reason = "derived: an argument without a name is refused before its value is read"
)]

use darling::FromMeta;
use darling::ast::NestedMeta;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Expr, Lit, Meta, Path, Token};

use crate::limit::Limit;
use reattempt_policy::rules::RuleId;
use reattempt_syntax::args::{Given, Value, without_value};
use reattempt_syntax::diagnostics::{Diagnostic, Diagnostics};
use reattempt_syntax::keys;
use reattempt_syntax::literal::Name;

/// `#[step(...)]`, as written.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct StepKeys {
    pub(crate) retry: Option<RetryKeys>,
    pub(crate) complete_by: Option<Value<Limit>>,
    pub(crate) undo: Option<Undo>,
    pub(crate) undo_unknown: Option<Undo>,
    pub(crate) transaction: Option<Flag>,
    pub(crate) args: Option<Choice>,
    pub(crate) key: Option<KeyExpr>,
    pub(crate) queue: Option<Value<Name>>,
    pub(crate) name: Option<Value<Name>>,
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Krate>,
}

pub(crate) const STEP_KEYS: &[&str] = &[
    "retry",
    "complete_by",
    "undo",
    "undo_unknown",
    "transaction",
    "args",
    "key",
    "queue",
    "name",
    "crate",
];

/// `#[workflow(...)]`, as written.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct WorkflowKeys {
    pub(crate) name: Option<Value<Name>>,
    pub(crate) version: Option<Number>,
    pub(crate) complete_by: Option<Value<Limit>>,
    pub(crate) max_failures: Option<Number>,
    pub(crate) on_failure: Option<Choice>,
    pub(crate) step_complete_by: Option<Value<Limit>>,
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Krate>,
}

pub(crate) const WORKFLOW_KEYS: &[&str] = &[
    "name",
    "version",
    "complete_by",
    "max_failures",
    "on_failure",
    "step_complete_by",
    "crate",
];

/// `retry(...)`: the keys of `#[retry]`, as written.
pub(crate) struct RetryKeys(pub(crate) Result<TokenStream, Diagnostic>);

impl FromMeta for RetryKeys {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let wrong = |span, message| Self(Err(Diagnostic::new(span, RuleId::D1, message)));
        Ok(match meta {
            Meta::List(list) if list.tokens.to_string() == "never" => wrong(
                list.tokens.span(),
                "a step without `retry(...)` has one attempt; drop `retry(never)`",
            ),
            Meta::List(list) => Self(Ok(list.tokens.clone())),
            Meta::Path(path) => wrong(
                path.span(),
                "`retry` takes the keys of `#[retry]`; write `retry(max = 5, ...)`",
            ),
            Meta::NameValue(pair) => wrong(
                pair.value.span(),
                "`retry` takes the keys of `#[retry]`; write `retry(max = 5, ...)`",
            ),
        })
    }
}

/// `undo = path`.
pub(crate) struct Undo(pub(crate) Result<Path, Diagnostic>);

impl FromMeta for Undo {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let key = meta.path().to_token_stream();
        let path = match meta {
            Meta::NameValue(pair) => path(&pair.value).ok_or_else(|| pair.value.span()),
            _ => Err(meta.span()),
        };
        Ok(Self(path.map_err(|span| {
            Diagnostic::new(
                span,
                RuleId::D4,
                format!("`{key}` is the name of another step; write `{key} = refund`"),
            )
        })))
    }
}

/// Returns the expression as a path. The `$undo:expr` of a macro comes in an invisible group.
fn path(value: &Expr) -> Option<Path> {
    match value {
        Expr::Path(path) if path.qself.is_none() => Some(path.path.clone()),
        Expr::Group(group) => path(&group.expr),
        _ => None,
    }
}

/// `key = expression`.
pub(crate) struct KeyExpr(pub(crate) Result<Expr, Diagnostic>);

impl FromMeta for KeyExpr {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let wrong = |span| {
            let message =
                "`key` names what the call is for, by its arguments; write `key = order.number`";
            Diagnostic::new(span, RuleId::D11, message)
        };
        Ok(Self(match meta {
            Meta::NameValue(pair) => match &pair.value {
                Expr::Lit(_) => Err(wrong(pair.value.span())),
                value => Ok(value.clone()),
            },
            _ => Err(wrong(meta.span())),
        }))
    }
}

/// A key without a value.
pub(crate) struct Flag(pub(crate) Result<(), Diagnostic>);

impl FromMeta for Flag {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let key = meta.path().to_token_stream();
        Ok(Self(match meta {
            Meta::Path(_) => Ok(()),
            _ => Err(Diagnostic::new(
                meta.span(),
                RuleId::Syntax,
                format!("`{key}` has no value; write `{key}`, or drop it"),
            )),
        }))
    }
}

/// `crate = ::path`.
pub(crate) struct Krate(pub(crate) Result<Path, Diagnostic>);

impl FromMeta for Krate {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let given = match meta {
            Meta::NameValue(pair) => match &pair.value {
                // A string, as for serde.
                Expr::Lit(syn::ExprLit {
                    lit: Lit::Str(text),
                    ..
                }) => text.parse().map_err(|_| text.span()),
                other => path(other).ok_or_else(|| other.span()),
            },
            _ => Err(meta.span()),
        };
        Ok(Self(given.map_err(|span| {
            Diagnostic::new(
                span,
                RuleId::Syntax,
                "`crate` is the path of this crate; write `crate = ::reattempt_supervisor`",
            )
        })))
    }
}

/// A whole number of at least 0, or a constant.
pub(crate) struct Number(pub(crate) Given<i32>);

impl FromMeta for Number {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let wrong = |span: Span| {
            let path = meta.path().to_token_stream();
            Given::Wrong(Diagnostic::new(
                span,
                RuleId::D5,
                format!(
                    "`{path}` is a whole number from 0 to {}; write `{path} = 1`",
                    i32::MAX
                ),
            ))
        };
        let Meta::NameValue(pair) = meta else {
            return Ok(Self(wrong(meta.span())));
        };
        let is_negative = |value: &Expr| matches!(value, Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)));
        Ok(Self(match &pair.value {
            Expr::Lit(syn::ExprLit {
                lit: Lit::Int(number),
                ..
            }) => match number.base10_parse() {
                // In the last key the sign is part of the literal.
                Ok(value) if value >= 0 && matches!(number.suffix(), "" | "i32") => {
                    Given::Literal(value, number.span().into())
                }
                _ => wrong(number.span()),
            },
            value if matches!(value, Expr::Lit(_)) || is_negative(value) => wrong(value.span()),
            value => Given::Expression(value.clone()),
        }))
    }
}

/// A string, and its place; `None` if the value is something else.
pub(crate) struct Choice(pub(crate) Option<String>, pub(crate) Span);

impl FromMeta for Choice {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let Meta::NameValue(pair) = meta else {
            return Ok(Self(None, meta.span()));
        };
        Ok(match &pair.value {
            Expr::Lit(syn::ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Self(Some(text.value()), text.span()),
            other => Self(None, other.span()),
        })
    }
}

/// Reads the keys of a step or a workflow.
pub(crate) fn parse<T: FromMeta + Default>(
    tokens: TokenStream,
    known: &[&str],
    faults: &mut Diagnostics,
) -> T {
    let left_out = without_value(tokens.clone());
    if !left_out.is_empty() {
        for fault in left_out {
            faults.add(fault);
        }
        return T::default();
    }
    let list =
        |input: ParseStream<'_>| Punctuated::<NestedMeta, Token![,]>::parse_terminated(input);
    let items = match list.parse2(tokens) {
        Ok(items) => items,
        Err(fault) => {
            let message = format!("{fault}; keys are written `key = value` or `key(...)`");
            faults.push(fault.span(), RuleId::Syntax, message);
            return T::default();
        }
    };
    let good = known_keys(items, known, faults);
    T::from_list(&good).unwrap_or_else(|error| {
        for fault in error.flatten() {
            faults.push(fault.span(), RuleId::Syntax, fault.to_string());
        }
        T::default()
    })
}

/// Returns the items that are known keys, each of them once.
fn known_keys(
    items: Punctuated<NestedMeta, Token![,]>,
    known: &[&str],
    faults: &mut Diagnostics,
) -> Vec<NestedMeta> {
    let mut seen = Vec::new();
    let mut good = Vec::new();
    for item in items {
        let path = match &item {
            NestedMeta::Meta(meta) => meta.path(),
            NestedMeta::NameValueInvalidExpr(pair) => {
                faults.add(reattempt_syntax::args::no_expression(pair));
                continue;
            }
            NestedMeta::Lit(lit) => {
                let all = keys::listed(known);
                faults.push(
                    lit.span(),
                    RuleId::Syntax,
                    format!("expected `key = value`; the keys are {all}"),
                );
                continue;
            }
        };
        let word = match path.get_ident() {
            Some(word) => word.unraw().to_string(),
            None => path.to_token_stream().to_string().replace(' ', ""),
        };
        if !keys::is_one_of(&word, known) {
            faults.push(path.span(), RuleId::R15, unknown(&word, known));
        } else if seen.contains(&word) {
            faults.push(
                path.span(),
                RuleId::R16,
                format!("`{word}` is set twice; keep one of them"),
            );
        } else {
            seen.push(word);
            good.push(item);
        }
    }
    good
}

/// What engines of workflows call a key of a step, and what it is called here.
const OF_STEPS: &[(&str, &str)] = &[
    ("compensate", "undo"),
    ("compensate_with", "undo"),
    ("compensation", "undo"),
    ("on_rollback", "undo"),
    ("revert", "undo"),
    ("rollback", "undo"),
    ("idempotency_key", "key"),
    ("task_queue", "queue"),
    ("retry_policy", "retry"),
];

/// The same of workflows.
const OF_WORKFLOWS: &[(&str, &str)] = &[
    ("deadline", "complete_by"),
    ("execution_timeout", "complete_by"),
    ("timeout", "complete_by"),
    ("max", "max_failures"),
    ("max_attempts", "max_failures"),
    ("max_retries", "max_failures"),
    ("retries", "max_failures"),
];

/// What a task has, and not its workflow.
const OF_TASKS: &[(&str, &str)] = &[
    ("id", "key"),
    ("key", "key"),
    ("lane", "lane"),
    ("priority", "priority"),
    ("queue", "queue"),
    ("task_queue", "queue"),
    ("workflow_id", "key"),
];

/// Returns the message for a key that is not in the list.
fn unknown(word: &str, known: &[&str]) -> String {
    let is_of_retries = keys::is_one_of(word, keys::KEYS);
    let all = keys::listed(known);
    let is_of_steps = keys::is_one_of("retry", known);
    let ours = |words: &'static [(&str, &str)]| words.iter().find(|(theirs, _)| *theirs == word);
    if let Some((_, ours)) = ours(if is_of_steps { OF_STEPS } else { OF_WORKFLOWS }) {
        return format!("unknown key `{word}`; it is called `{ours}` here");
    }
    if let Some((_, ours)) = ours(OF_TASKS).filter(|_| !is_of_steps) {
        return format!(
            "`{word}` is a setting of each task, not of its workflow; write `.{ours}(...)` where the task is submitted"
        );
    }
    if is_of_steps {
        if is_of_retries {
            return format!("`{word}` is a key of the retries; move it into `retry(...)`");
        }
        if let Some((ours, remark)) = keys::foreign(word) {
            return format!(
                "unknown key `{word}`; it is the key `{ours}` of `retry(...)` here{remark}"
            );
        }
    }
    if is_of_retries
        || matches!(
            word,
            "retry" | "undo" | "undo_unknown" | "transaction" | "args"
        )
    {
        return format!(
            "`{word}` is a key of steps, not of workflows; the keys of workflows are {all}"
        );
    }
    match keys::nearest(&word.to_lowercase(), known) {
        Some(near) => format!("unknown key `{word}`; did you mean `{near}`?"),
        None => format!("unknown key `{word}`; the keys are {all}"),
    }
}
