//! An attribute at what is neither a function nor an `impl` block: what to write there.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::parse::Parser as _;
use syn::{Block, Expr, ExprTry, Item, Stmt};

use super::awaits_in;
use crate::tokens::written;

const PLACES: &str = "`#[retry]` goes on a function, a method or an `impl` block";

/// What people can still read in one line.
const LONGEST: usize = 120;

/// What is said of `#[retry(arguments)]` at `item`.
pub fn misplaced(arguments: &TokenStream, item: &TokenStream) -> String {
    let keys = written(arguments);
    let statements = Block::parse_within.parse2(item.clone()).unwrap_or_default();
    let part = match &*statements {
        [Stmt::Item(item)] => return at_item(item, &keys),
        [Stmt::Local(local)] => local.init.as_ref().map(|init| {
            let (pat, value) = (
                written(&local.pat.to_token_stream()),
                retried(&keys, &init.expr),
            );
            format!("let {pat} = {value};")
        }),
        [Stmt::Expr(Expr::Closure(closure), _)] => {
            let parameters = written(&closure.inputs.to_token_stream());
            let word = closure.asyncness.map_or("", |_| "async ");
            Some(format!(
                "{word}|{parameters}| {}",
                retried(&keys, &closure.body)
            ))
        }
        [Stmt::Expr(value, _)] => Some(retried(&keys, value)),
        _ => None,
    };
    let part = part
        .filter(|part| part.len() <= LONGEST)
        .unwrap_or_else(|| "retry_block!(max = 3, { ... })".to_owned());
    format!("{PLACES}; for a part of a function write `{part}`")
}

/// A block in place of a value, with what takes its answer apart behind it.
fn retried(keys: &str, value: &Expr) -> String {
    let (value, end) = match value {
        Expr::Try(ExprTry { expr, .. }) => (&**expr, "?".to_owned()),
        Expr::MethodCall(call) if call.method == "unwrap" || call.method == "expect" => {
            let (method, args) = (&call.method, written(&call.args.to_token_stream()));
            (&*call.receiver, format!(".{method}({args})"))
        }
        value => (value, String::new()),
    };
    let separate = if keys.is_empty() { "" } else { ", " };
    let tokens = value.to_token_stream();
    let said = written(&tokens);
    let body = match value {
        Expr::Block(_) => said,
        _ => format!("{{ {said} }}"),
    };
    let (word, wait) = if awaits_in(tokens) {
        ("async ", ".await")
    } else {
        ("", "")
    };
    format!("reattempt::retry_block!({keys}{separate}{word}{body}){wait}{end}")
}

fn at_item(item: &Item, keys: &str) -> String {
    let place = match item {
        Item::Struct(_) | Item::Enum(_) if is_verdict(keys) => {
            return format!(
                "a verdict is read by `Classify`, and stands below it; write `#[derive(reattempt::Classify)]` above `#[retry({keys})]`"
            );
        }
        Item::Struct(_) | Item::Enum(_) => {
            "write it above an `impl` block of this type, or `#[derive(reattempt::Classify)]` for an error"
        }
        Item::Trait(_) => {
            "write it above the `impl` block of a type, or above a method here that has a body"
        }
        Item::Mod(_) => "write it above each function in this module that is retried",
        Item::Const(_) | Item::Static(_) => {
            "keys that functions share are a policy: `const POLICY: reattempt::Policy = reattempt::Policy::new().max(3);`, and `#[retry(policy = POLICY)]`"
        }
        _ => {
            "for a part of a function there is `retry_block!`, for an error type `#[derive(Classify)]`"
        }
    };
    format!("{PLACES}; {place}")
}

/// `transient`, `default = permanent`: what `Classify` reads.
fn is_verdict(keys: &str) -> bool {
    const WORDS: &[&str] = &[
        "forbidden",
        "permanent",
        "refused",
        "throttled",
        "transient",
    ];
    let words = keys.strip_prefix("default = ").unwrap_or(keys);
    let first = words.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
    first.take(1).any(|first| WORDS.contains(&first))
}
