//! Values of keys that take a function.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::Parser as _;
use syn::visit::{Visit, visit_expr};
use syn::{BinOp, Expr, ExprClosure, ExprLit, Item, Lit, Pat, Stmt, Type, UnOp};

use super::values::compared;
use crate::item::closure_of;
use crate::tokens::{names_errors, written};

/// Keys whose function has one parameter at most, and what that is.
const PARAMETERS: &[(&str, &str, &str)] = &[
    ("on", "error", "the error"),
    ("except", "error", "the error"),
    ("until", "value", "the value"),
    ("retry_after", "error", "the error"),
    ("fallback", "error", "the last error"),
    ("verify", "error", "the error"),
    ("backoff", "retry", "the number of the retry, from 1"),
];

/// What is wrong with `backoff = |attempt, delay| ..`.
pub(super) fn parameters(key: &str, value: &Expr) -> Option<String> {
    let (_, name, what) = PARAMETERS.iter().find(|(word, ..)| *word == key)?;
    let closure = closure_of(value)?;
    (closure.inputs.len() > 1).then(|| {
        format!("the function of `{key}` has one parameter, {what}; write `{key} = |{name}| ...`")
    })
}

/// What is wrong with `backoff = |attempt: usize| ..`.
pub(super) fn number(key: &str, value: &Expr) -> Option<String> {
    let Pat::Type(parameter) = closure_of(value)?.inputs.first()? else {
        return None;
    };
    let name = written(&parameter.pat.to_token_stream());
    (key == "backoff" && is_number_type(&parameter.ty) && !is_named(&parameter.ty, &["u32"]))
        .then(|| format!("the number of a retry is a `u32`; write `backoff = |{name}: u32| ...`"))
}

/// Whether a type is a number, by its name.
pub(crate) fn is_number_type(ty: &Type) -> bool {
    is_named(ty, NUMBERS)
}

fn is_named(ty: &Type, names: &[&str]) -> bool {
    matches!(ty, Type::Path(path) if names.iter().any(|name| path.path.is_ident(name)))
}

const NUMBERS: &[&str] = &[
    "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "f32", "f64",
];

/// Keys whose function may be async.
const ASYNC: &[&str] = &["before_retry", "fallback", "verify"];

/// `on_retry = println!("again")`, `until = async |it| ..`, `before_retry = |_| login().await`.
pub(super) fn hook(key: &str, value: &Expr, said: &str) -> Option<String> {
    if let Some(function) = quoted_function(value) {
        return Some(format!(
            "a function has no quotes; write `{key} = {function}`"
        ));
    }
    let may_be_async = ASYNC.contains(&key);
    let asks = ["on", "except", "until"].contains(&key);
    if let Some(inside) = only(value) {
        return hook(key, inside, &written(&inside.to_token_stream()));
    }
    if let Some(text) = asks.then(|| question(key, value, said)).flatten() {
        return Some(text);
    }
    match value {
        Expr::Call(call) if is_word(&call.func, "Some") => {
            let closure = call.args.first().and_then(closure_of)?;
            let function = as_written(closure);
            Some(format!(
                "`{key}` takes the function itself; write `{key} = {function}`"
            ))
        }
        Expr::Await(_) if may_be_async => Some(format!(
            "`{key}` takes a function; write `{key} = async |_| {said}`"
        )),
        // A function of this name waits, and returns none.
        Expr::Call(call) if key == "before_retry" && sleeps(&call.func) => Some(format!(
            "`{key}` takes a function; write `{key} = |_| {said}`"
        )),
        Expr::MethodCall(_) | Expr::Call(_)
            if key == "retry_after" && error_of(value).is_some() =>
        {
            let name = error_of(value)?;
            Some(format!(
                "`{key}` takes a function; write `{key} = |{name}| {said}`"
            ))
        }
        Expr::Async(block) if may_be_async => {
            let body = written(&block.block.to_token_stream());
            Some(format!(
                "`{key}` takes a function; write `{key} = async |_| {body}`"
            ))
        }
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
        Expr::MethodCall(call) if may_be_async || key == "on_retry" => {
            let of_self = matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self"));
            of_self.then(|| format!("`{key}` takes a function; write `{key} = |_| {said}`"))
        }
        Expr::Closure(closure) if key.ends_with("_retry") && fails(&closure.body) => Some(format!(
            "`{key}` returns nothing, so that `?` cannot leave it; write `let _ = ...;` for what may fail, or do it in the body"
        )),
        Expr::Closure(closure) if closure.asyncness.is_none() && awaits(closure) => {
            Some(if may_be_async {
                let function = as_written(closure);
                format!("a closure that awaits is async; write `{key} = async {function}`")
            } else {
                format!(
                    "`{key}` returns at once and cannot await; what takes time belongs to the body, or to `before_retry`"
                )
            })
        }
        _ => None,
    }
}

/// `{ error.is_timeout() }`: what stands alone in braces.
fn only(value: &Expr) -> Option<&Expr> {
    match value {
        Expr::Block(block) if block.label.is_none() => match &*block.block.stmts {
            [Stmt::Expr(only, None)] => Some(only),
            _ => None,
        },
        _ => None,
    }
}

/// `tokio::time::sleep`
pub(super) fn sleeps(function: &Expr) -> bool {
    let Expr::Path(path) = function else {
        return false;
    };
    path.path
        .segments
        .last()
        .is_some_and(|last| last.ident == "sleep")
}

/// A closure as people write it.
fn as_written(closure: &ExprClosure) -> String {
    let parameters = written(&closure.inputs.to_token_stream());
    let body = written(&closure.body.to_token_stream());
    format!("|{parameters}| {body}")
}

/// The function that a text names.
pub(crate) fn quoted_function(value: &Expr) -> Option<String> {
    let Expr::Lit(ExprLit {
        lit: Lit::Str(text),
        ..
    }) = value
    else {
        return None;
    };
    let code: Expr = text.parse().ok()?;
    match &code {
        Expr::Closure(closure) => Some(as_written(closure)),
        code => is_function(code).then(|| written(&code.to_token_stream())),
    }
}

/// The same of keys that ask about an error or a value.
fn question(key: &str, value: &Expr, said: &str) -> Option<String> {
    match value {
        // Of a method's answer alone is it clear that it is no function: `retry_if(...)` may return one.
        Expr::Call(call) if call.args.is_empty() && is_question(&call.func) => {
            let function = written(&call.func.to_token_stream());
            Some(format!(
                "`{key}` takes the function itself; write `{key} = {function}`"
            ))
        }
        Expr::Call(call) if is_word(&call.func, "not") => {
            let errors = call.args.to_token_stream();
            let pattern = Pat::parse_multi.parse2(errors.clone()).ok()?;
            names_errors(&pattern).then(|| opposite_of_pattern(key, &written(&errors)))?
        }
        Expr::Binary(_) if joined(value).is_some() => {
            let (name, asked) = (
                if key == "until" { "value" } else { "error" },
                joined(value)?,
            );
            let asked = asked.replace("(_)", &format!("({name})"));
            Some(format!(
                "`{key}` takes one function; write `{key} = |{name}| {asked}`"
            ))
        }
        Expr::Binary(_) if compared(value).is_some() => {
            let (name, asked) = compared(value)?;
            Some(format!(
                "`{key}` takes a function; write `{key} = |{name}| {asked}`"
            ))
        }
        Expr::Call(_) | Expr::MethodCall(_) | Expr::Binary(_) | Expr::Unary(_)
            if asked(key, value).is_some() =>
        {
            let name = asked(key, value)?;
            let said = said.replace("! ", "!");
            Some(format!(
                "`{key}` takes a function; write `{key} = |{name}| {said}`"
            ))
        }
        Expr::Unary(not) if matches!(not.op, UnOp::Not(_)) => match &*not.expr {
            Expr::Path(function) => {
                let function = written(&function.to_token_stream());
                let answer = format!("{function}(value)");
                Some(negated(key, &format!(" = {function}"), &answer))
            }
            value => {
                let pattern = matched(value)?;
                let answer = format!("matches!(value, {pattern})");
                Some(negated(key, &format!("({pattern})"), &answer))
            }
        },
        Expr::Macro(_) => {
            let pattern = matched(value)?;
            Some(if key == "until" {
                format!(
                    "`until` takes a function; write `until = |value| matches!(value, {pattern})`"
                )
            } else {
                format!("a pattern stands in parentheses; write `{key}({pattern})`")
            })
        }
        Expr::Closure(closure) if closure.asyncness.is_some() => Some(format!(
            "`{key}` decides at once and is not async; drop `async`"
        )),
        _ => None,
    }
}

/// The pattern of `matches!(error, Error::Busy)`.
fn matched(value: &Expr) -> Option<String> {
    let Expr::Macro(mac) = value else { return None };
    let is_comma = |it: &TokenTree| matches!(it, TokenTree::Punct(sign) if sign.as_char() == ',');
    let tokens = mac.mac.tokens.clone().into_iter();
    let pattern: TokenStream = tokens.skip_while(|it| !is_comma(it)).skip(1).collect();
    (mac.mac.path.is_ident("matches")).then(|| written(&pattern))
}

/// How the opposite of a pattern is written.
pub(super) fn opposite_of_pattern(key: &str, errors: &str) -> Option<String> {
    let fix = match key {
        "on" => format!("on(_), except({errors})"),
        "except" => format!("on({errors})"),
        _ => return None,
    };
    Some(format!("a pattern has no opposite; write `{fix}`"))
}

/// The name of what a value asks, and no function: the error, or any variable that has a method such as `is_done`.
fn asked(key: &str, value: &Expr) -> Option<String> {
    match value {
        Expr::MethodCall(call) if is_asked(&call.method.to_string()) => match &*call.receiver {
            Expr::Path(path) if !path.path.is_ident("self") => {
                path.path.get_ident().map(ToString::to_string)
            }
            _ => None,
        },
        value => error_of(value).filter(|_| key != "until"),
    }
}

/// Functions between `||` and `&&`, each called.
fn joined(value: &Expr) -> Option<String> {
    match value {
        Expr::Binary(both) => {
            let sign = match both.op {
                BinOp::And(_) => "&&",
                BinOp::Or(_) => "||",
                _ => return None,
            };
            Some(format!(
                "{} {sign} {}",
                joined(&both.left)?,
                joined(&both.right)?
            ))
        }
        Expr::Paren(paren) => Some(format!("({})", joined(&paren.expr)?)),
        Expr::Unary(not) if matches!(not.op, UnOp::Not(_)) => {
            Some(format!("!{}", joined(&not.expr)?))
        }
        Expr::Path(path) if is_function(value) => {
            Some(format!("{}(_)", written(&path.to_token_stream())))
        }
        _ => None,
    }
}

/// Whether it is a path to a function, by its name.
fn is_function(value: &Expr) -> bool {
    let Expr::Path(path) = value else {
        return false;
    };
    let last = path.path.segments.last();
    last.is_some_and(|last| !last.ident.to_string().contains(char::is_uppercase))
}

/// The name by which people call the error, where a value is it or a part of it.
pub(super) fn error_of(value: &Expr) -> Option<String> {
    match value {
        Expr::MethodCall(call) => error_of(&call.receiver),
        Expr::Field(field) => error_of(&field.base),
        Expr::Binary(both) => error_of(&both.left).or_else(|| error_of(&both.right)),
        Expr::Unary(not) => error_of(&not.expr),
        Expr::Reference(borrow) => error_of(&borrow.expr),
        Expr::Call(call) if is_function(&call.func) => call.args.iter().find_map(error_of),
        Expr::Path(path) => {
            let name = path.path.get_ident()?.to_string();
            ["e", "err", "error"].contains(&&*name).then_some(name)
        }
        _ => None,
    }
}

/// How an opposite is written; `answer` is what `until` negates.
fn negated(key: &str, errors: &str, answer: &str) -> String {
    let fix = match key {
        "on" => format!("except{errors}"),
        "except" => format!("on{errors}"),
        _ => format!("until = |value| !{answer}"),
    };
    format!("a function has no opposite; write `{fix}`")
}

/// `is_transient`: the name of a function that asks about a value.
fn is_question(function: &Expr) -> bool {
    let Expr::Path(path) = function else {
        return false;
    };
    (path.path.segments.last()).is_some_and(|it| is_asked(&it.ident.to_string()))
}

fn is_asked(name: &str) -> bool {
    let asks = ["is_", "has_", "can_", "should_"];
    asks.iter().any(|start| name.starts_with(start))
}

fn is_word(function: &Expr, word: &str) -> bool {
    matches!(function, Expr::Path(path) if path.path.is_ident(word))
}

/// Whether `?` leaves the body of a closure, and not one inside it.
pub(crate) fn fails(body: &Expr) -> bool {
    struct Tries(bool);
    impl<'a> Visit<'a> for Tries {
        fn visit_expr(&mut self, code: &'a Expr) {
            match code {
                Expr::Try(_) => self.0 = true,
                Expr::Closure(_) | Expr::Async(_) | Expr::TryBlock(_) => {}
                code => visit_expr(self, code),
            }
        }
        fn visit_item(&mut self, _: &'a Item) {}
    }
    let mut tries = Tries(false);
    tries.visit_expr(body);
    tries.0
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
