//! What people write for a value that the compiler would answer in its own words: a value where a function is asked for, an
//! operator between two keys, the constructor of another library.

use darling::ast::NestedMeta;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use reattempt_parse as keys;
use retry_runtime::rules::RuleId;
use syn::parse::Parser as _;
use syn::{Expr, Meta, Pat};

mod hooks;
mod lists;

pub use hooks::awaits_in;
use hooks::hook;
use lists::listed;

use crate::diagnostics::{Diagnostic, Place};
use crate::tokens::{names_errors, written};

/// Keys that take a function.
const HOOKS: &[&str] = &[
    "on",
    "except",
    "until",
    "retry_after",
    "on_retry",
    "before_retry",
    "fallback",
    "verify",
];

/// What is wrong with the value of `key`.
pub fn of(key: &str, item: &NestedMeta) -> Option<Diagnostic> {
    match item {
        NestedMeta::Meta(Meta::NameValue(pair)) => {
            let text = beyond_the_comma(key, &pair.value).or_else(|| value_of(key, &pair.value))?;
            let rule = if HOOKS.contains(&key) {
                RuleId::S9
            } else {
                RuleId::Syntax
            };
            Some(Diagnostic::new(Place::of(&pair.value), rule, text))
        }
        NestedMeta::Meta(Meta::List(list)) => listed(key, list),
        NestedMeta::NameValueInvalidExpr(pair) => {
            let mut tokens = pair.value.clone().into_iter();
            let sign = tokens.next()?;
            let rest: TokenStream = tokens.collect();
            let is_doubled =
                matches!(&sign, TokenTree::Punct(sign) if matches!(sign.as_char(), '=' | '>'));
            is_doubled.then(|| {
                let rest = written(&rest);
                let text =
                    format!("one `=` stands between a key and its value; write `{key} = {rest}`");
                Diagnostic::new(Place::of(&pair.value), RuleId::Syntax, text)
            })
        }
        _ => None,
    }
}

/// What is wrong with what is no key: the policy itself.
pub fn policy(item: &NestedMeta) -> Option<Diagnostic> {
    let NestedMeta::Meta(Meta::Path(path)) = item else {
        return None;
    };
    let name = path.segments.last()?.ident.to_string();
    let is_constant = name.len() > 1 && !name.contains(char::is_lowercase);
    let is_key = keys::KEYS.contains(&&*name.to_lowercase());
    (is_constant && (!is_key || name == "POLICY")).then(|| {
        let path = written(&path.to_token_stream());
        let text = format!("a policy is the value of a key; write `policy = {path}`");
        Diagnostic::new(Place::of(item), RuleId::R15, text)
    })
}

/// The same of `Policy::new().max(5)`, which is no key.
pub fn chain(tokens: &TokenStream) -> Option<Diagnostic> {
    let is_comma =
        |token: &TokenTree| matches!(token, TokenTree::Punct(sign) if sign.as_char() == ',');
    let first: TokenStream = tokens
        .clone()
        .into_iter()
        .take_while(|token| !is_comma(token))
        .collect();
    let value: Expr = syn::parse2(first.clone()).ok()?;
    starts_with_policy(&value).then(|| {
        let text = format!(
            "a policy is the value of a key; write `policy = {}`",
            written(&first)
        );
        Diagnostic::new(Place::of(&first), RuleId::Syntax, text)
    })
}

fn starts_with_policy(value: &Expr) -> bool {
    match value {
        Expr::MethodCall(call) => starts_with_policy(&call.receiver),
        Expr::Call(call) => matches!(&*call.func, Expr::Path(path) if {
            let before = path.path.segments.iter().rev().nth(1);
            before.is_some_and(|ty| ty.ident == "Policy")
        }),
        _ => false,
    }
}

/// `max = 3 && base = "1s"`.
fn beyond_the_comma(key: &str, value: &Expr) -> Option<String> {
    let Expr::Assign(assign) = value else {
        return None;
    };
    let (first, second) = match &*assign.left {
        Expr::Binary(both) => (&both.left, &both.right),
        other => {
            return Some(format!(
                "keys are separated by `,`; `{key} = {}` holds another key",
                written(&other.to_token_stream())
            ));
        }
    };
    let [first, second, last] =
        [first, second, &assign.right].map(|it| written(&it.to_token_stream()));
    Some(format!(
        "keys are separated by `,`; write `{key} = {first}, {second} = {last}`"
    ))
}

fn value_of(key: &str, value: &Expr) -> Option<String> {
    let said = written(&value.to_token_stream());
    match key {
        "name" => name(value),
        "policy" => inherited(value, &said),
        "timer" => is_word(value, &["tokio", "smol", "std", "async_std"])
            .then(|| format!("features choose the timer, and `timer` takes a value that implements `Timer`; drop `timer = {said}`")),
        "context" => is_word(value, &["self"])
            .then(|| "`self` is that of the method; write `context = attempt`".to_owned()),
        "backoff" => shape(value),
        "fallback" if is_answer(value) => Some(format!("`fallback` takes a function; write `fallback = |_| {said}`")),
        "on" | "except" => alternatives(key, value),
        "until" => bare_value(key, value),
        _ => None,
    }
    .or_else(|| HOOKS.contains(&key).then(|| hook(key, value, &said)).flatten())
}

/// `name = format!("call-{x}")`, `name = service::charge`.
fn name(value: &Expr) -> Option<String> {
    match value {
        Expr::Macro(mac) if mac.mac.path.is_ident("format") => Some(
            "a name is the same for all calls; write a text, `name = \"orders.send\"`, and what differs from call to call as `detail = ...`".to_owned(),
        ),
        Expr::Path(path) if path.path.segments.len() > 1 => {
            let last = path.path.segments.last()?.ident.to_string();
            let words: Vec<_> = path.path.segments.iter().map(|it| it.ident.to_string()).collect();
            (!last.contains(char::is_uppercase))
                .then(|| format!("a name is a text; write `name = \"{}\"`", words.join(".")))
        }
        _ => None,
    }
}

/// `policy = Some(POLICY)`, `policy = POLICY.build()`.
fn inherited(value: &Expr, said: &str) -> Option<String> {
    match value {
        Expr::Call(call) if is_word(&call.func, &["Some", "Ok"]) => {
            let policy = written(&call.args.to_token_stream());
            Some(format!(
                "`policy` takes the policy itself; write `policy = {policy}`"
            ))
        }
        Expr::MethodCall(call) if call.method == "build" && call.args.is_empty() => {
            let policy = written(&call.receiver.to_token_stream());
            let is_constant = !policy.contains(char::is_lowercase);
            (is_constant || starts_with_policy(&call.receiver)).then(|| {
                format!("`build` answers with a `Result`, and the attribute checks the policy itself; write `policy = {policy}`")
            })
        }
        _ if said == "None" => {
            Some("`policy` takes the policy itself; drop `policy = None`".to_owned())
        }
        _ => None,
    }
}

/// `backoff = exponential("100ms", 2)`.
fn shape(value: &Expr) -> Option<String> {
    let Expr::Call(call) = value else {
        return None;
    };
    let Expr::Path(path) = &*call.func else {
        return None;
    };
    let word = path.path.get_ident()?.to_string();
    let ours = match &*word {
        "exponential" | "exp" | "exponential_backoff" => "exp",
        "fixed" | "constant" | "constant_backoff" => "fixed",
        "linear" => "linear",
        "fibonacci" => "fibonacci",
        _ => return None,
    };
    Some(format!(
        "the numbers of a backoff are keys of their own; write `backoff = \"{ours}\"` beside `base`, `factor` and `cap`"
    ))
}

/// `on = [Fault::Busy, Fault::Closed]`.
fn alternatives(key: &str, value: &Expr) -> Option<String> {
    let elements = match value {
        Expr::Array(array) => &array.elems,
        Expr::Tuple(tuple) if !tuple.elems.is_empty() => &tuple.elems,
        _ => return None,
    };
    let patterns: Vec<_> = elements
        .iter()
        .map(|it| written(&it.to_token_stream()))
        .collect();
    Some(format!(
        "several errors are patterns separated by `|`; write `{key}({})`",
        patterns.join(" | ")
    ))
}

/// What is wrong with `until = Status::Done`, which is a value and no function.
fn bare_value(key: &str, value: &Expr) -> Option<String> {
    let tokens = value.to_token_stream();
    let pattern = Pat::parse_multi.parse2(tokens.clone()).ok()?;
    (!matches!(pattern, Pat::Wild(_)) && names_errors(&pattern)).then(|| {
        let value_is = written(&tokens);
        format!("`{key}` asks a function; write `{key} = |value| matches!(value, {value_is})`")
    })
}

/// Whether a value is what a function may answer, and no function.
fn is_answer(value: &Expr) -> bool {
    match value {
        Expr::Lit(_) | Expr::Unary(_) | Expr::Binary(_) => true,
        Expr::Path(_) => is_word(value, &["None"]),
        Expr::Call(call) => is_word(&call.func, &["Ok", "Some", "Err"]),
        _ => false,
    }
}

fn is_word(value: &Expr, words: &[&str]) -> bool {
    matches!(value, Expr::Path(path) if words.iter().any(|word| path.path.is_ident(word)))
}

/// `retry-after = ...`: a key with a hyphen.
pub fn hyphens(tokens: &TokenStream) -> Option<Diagnostic> {
    let tokens: Vec<_> = tokens.clone().into_iter().collect();
    let mut start = 0;
    while let Some(TokenTree::Ident(first)) = tokens.get(start) {
        let mut words = vec![first.to_string()];
        let mut at = start;
        while let (Some(TokenTree::Punct(hyphen)), Some(TokenTree::Ident(word))) = (
            tokens.get(at.saturating_add(1)),
            tokens.get(at.saturating_add(2)),
        ) && hyphen.as_char() == '-'
        {
            words.push(word.to_string());
            at = at.saturating_add(2);
        }
        let key = words.join("_");
        let is_set = matches!(tokens.get(at.saturating_add(1)), Some(TokenTree::Punct(sign)) if sign.as_char() == '=');
        if words.len() > 1 && is_set {
            let known = keys::KEYS.contains(&&*key) || keys::foreign(&key).is_some();
            let place: TokenStream = tokens.get(start..=at)?.iter().cloned().collect();
            return known.then(|| {
                let text = format!("keys are written with `_`; write `{key}`");
                Diagnostic::new(Place::of(&place), RuleId::R15, text)
            });
        }
        let comma = tokens
            .iter()
            .skip(at)
            .position(|token| matches!(token, TokenTree::Punct(sign) if sign.as_char() == ','));
        start = at.saturating_add(comma?).saturating_add(1);
    }
    None
}
