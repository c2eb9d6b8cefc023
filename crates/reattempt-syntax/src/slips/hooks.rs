//! Values of keys that take a function.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Expr, ExprClosure};

use crate::tokens::written;

/// Keys whose function may be async.
const ASYNC: &[&str] = &["before_retry", "fallback", "verify"];

/// `on_retry = println!("again")`, `until = async |it| ..`, `before_retry = |_| login().await`.
pub(super) fn hook(key: &str, value: &Expr, said: &str) -> Option<String> {
    let may_be_async = ASYNC.contains(&key);
    match value {
        Expr::Macro(mac) => {
            let name = &mac.mac.path.segments.last()?.ident;
            let prints = [
                "println", "eprintln", "print", "eprint", "dbg", "trace", "debug", "info", "warn",
                "error", "event", "log",
            ];
            prints
                .iter()
                .any(|it| name == it)
                .then(|| format!("`{key}` takes a function; write `{key} = |_| {said}`"))
        }
        Expr::MethodCall(call) if key.ends_with("_retry") => {
            let of_self = matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self"));
            of_self.then(|| format!("`{key}` takes a function; write `{key} = |_| {said}`"))
        }
        Expr::Closure(closure)
            if closure.asyncness.is_some() && ["on", "except", "until"].contains(&key) =>
        {
            Some(format!(
                "`{key}` decides at once and is not async; drop `async`"
            ))
        }
        Expr::Closure(closure) if closure.asyncness.is_none() && awaits(closure) => {
            let parameters = written(&closure.inputs.to_token_stream());
            let body = written(&closure.body.to_token_stream());
            Some(if may_be_async {
                format!(
                    "a closure that awaits is async; write `{key} = async |{parameters}| {body}`"
                )
            } else {
                format!(
                    "`{key}` returns at once and cannot await; what takes time belongs to the body, or to `before_retry`"
                )
            })
        }
        _ => None,
    }
}

/// Whether the body of a closure awaits itself, not in an async block of its own.
fn awaits(closure: &ExprClosure) -> bool {
    awaits_in(closure.body.to_token_stream())
}

/// Whether `.await` stands in code that is not inside another `async`.
pub fn awaits_in(code: TokenStream) -> bool {
    let mut before: [Option<String>; 2] = [None, None];
    for token in code {
        let word = match &token {
            TokenTree::Ident(word) => Some(word.to_string()),
            TokenTree::Punct(sign) => Some(sign.as_char().to_string()),
            TokenTree::Group(_) | TokenTree::Literal(_) => None,
        };
        if word.as_deref() == Some("await") && before[1].as_deref() == Some(".") {
            return true;
        }
        if let TokenTree::Group(group) = token {
            let is_apart = before
                .iter()
                .flatten()
                .any(|it| it == "async" || it == "|" || it == "!");
            if !is_apart && awaits_in(group.stream()) {
                return true;
            }
        }
        before = [before[1].take(), word];
    }
    false
}
