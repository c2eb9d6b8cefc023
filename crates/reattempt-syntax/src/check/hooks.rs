//! Functions of the user beside the signature of theirs: what they take for the error or the value, and what they move.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use reattempt_policy::rules::RuleId;
use syn::{Expr, ExprAsync, ExprClosure, FnArg, Pat, Stmt, Type};

use super::running;
use crate::args::{Args, Code, Filter, Given, Predicate};
use crate::diagnostics::{Diagnostics, Place};
use crate::item::{Answer, Flow, Function, closure_of, is_plain_type, text, type_arguments};
use crate::model::Setting;
use crate::moves::Owned;
use crate::slips;
use crate::tokens::written;

/// What a function certainly cannot take, and a value where a function belongs.
pub(super) fn of_signature(
    args: &Args,
    item: &Function,
    answer: &Answer,
    faults: &mut Diagnostics,
) {
    for (key, filter) in [("on", &args.on), ("except", &args.except)] {
        of_error(key, filter.as_ref(), answer, faults);
    }
    for (key, hook) in [
        ("on_retry", &args.on_retry),
        ("before_retry", &args.before_retry),
    ] {
        of_retry(key, code(hook.as_ref()), answer, faults);
    }
    of_value(code(args.until.as_ref()), answer, faults);
    if let Some(Expr::Path(path)) = code(args.fallback.as_ref())
        && is_value(item, path)
    {
        let said = written(&path.to_token_stream());
        let text = format!("`fallback` takes a function; write `fallback = |_| {said}`");
        faults.push(Place::of(path), RuleId::S9, text);
    }
}

fn code(code: Option<&Code>) -> Option<&Expr> {
    code?.given.as_ref().ok()
}

/// Whether a path is a parameter that is certainly no function.
fn is_value(item: &Function, path: &syn::ExprPath) -> bool {
    item.signature.inputs.iter().any(|input| match input {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(name) => path.path.is_ident(&name.ident) && is_plain_type(&typed.ty),
            _ => false,
        },
        FnArg::Receiver(_) => false,
    })
}

/// The one parameter of a closure with its type, without its reference.
fn typed(closure: &ExprClosure) -> Option<(String, &Type)> {
    let Some(Pat::Type(typed)) = closure.inputs.first() else {
        return None;
    };
    let ty = match &*typed.ty {
        Type::Reference(reference) => &*reference.elem,
        ty => ty,
    };
    Some((written(&typed.pat.to_token_stream()), ty))
}

/// Whether a type is a `Result`, by its last name.
fn is_result(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident.to_string().ends_with("Result")))
}

/// `on = |result: &Result<u8, Fault>| ...`
fn of_error(key: &str, filter: Option<&Filter>, answer: &Answer, faults: &mut Diagnostics) {
    let Some(Given::Literal(Predicate::Code(code), _)) = filter.map(|it| &it.given) else {
        return;
    };
    let Some((name, ty)) = closure_of(code).and_then(typed) else {
        return;
    };
    if !is_result(ty) || answer.error().is_some_and(is_result) {
        return;
    }
    let own = match ty {
        Type::Path(path) => type_arguments(&path.path).nth(1),
        _ => None,
    };
    let error = own.or_else(|| answer.error());
    let error = error.map_or_else(|| name.clone(), |error| format!("{name}: &{}", text(error)));
    faults.push(
        Place::of(ty),
        RuleId::S9,
        format!("`{key}` looks at the error itself, and no `Result` is around it; write `{key} = |{error}| ...`"),
    );
}

/// `on_retry = |error: &Error| ...`: a type that is certainly no `Retry`. What a second parameter is says another rule.
fn of_retry(key: &str, code: Option<&Expr>, answer: &Answer, faults: &mut Diagnostics) {
    let Some(closure) = code.and_then(closure_of).filter(|it| it.inputs.len() == 1) else {
        return;
    };
    let Some((_, ty)) = typed(closure) else {
        return;
    };
    let said = text(ty);
    let is_error =
        said.ends_with("Error") || answer.error().is_some_and(|error| text(error) == said);
    if is_error || said.ends_with("Duration") || is_result(ty) || slips::is_number_type(ty) {
        faults.push(
            Place::of(ty),
            RuleId::S9,
            format!("`{key}` takes a `Retry`, of which `error()`, `delay()` and `attempt()` tell the rest; write `{key} = |retry| ...`"),
        );
    }
}

/// `until = |result: &Result<u8, Fault>| ...`, `until = Result::is_ok`, and a value where there is an `Option` around it.
fn of_value(code: Option<&Expr>, answer: &Answer, faults: &mut Diagnostics) {
    let Some(code) = code else { return };
    let (whole, value) = match answer {
        Answer::Result(ty) | Answer::RetryError(_, ty) | Answer::Option(ty) => (ty, ok_of(ty)),
        _ => return,
    };
    let Some(value) = value else { return };
    let closure = closure_of(code);
    let fault = if let Answer::Option(_) = answer {
        closure.and_then(typed).and_then(|(name, ty)| {
            let is_inside = ty.to_token_stream().to_string() == value.to_token_stream().to_string();
            is_inside.then(|| {
                (
                    Place::of(ty),
                    format!(
                        "`until` looks at the whole `Option`; write `until = |{name}: &{}| ...`",
                        text(whole)
                    ),
                )
            })
        })
    } else if let Some((name, ty)) = closure.and_then(typed) {
        let is_outside = is_result(ty) && !is_result(value);
        is_outside.then(|| (Place::of(ty), format!("`until` looks at the value, and no `Result` is around it; write `until = |{name}: &{}| ...`", text(value))))
    } else {
        let asks = is_plain_type(value) && asks_result(code);
        asks.then(|| (Place::of(code), "`until` looks at the value, which is there after a success alone, and an error is retried without it; drop `until`".to_owned()))
    };
    if let Some((place, text)) = fault {
        faults.push(place, RuleId::S9, text);
    }
}

fn ok_of(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Path(path) => type_arguments(&path.path).next(),
        _ => None,
    }
}

/// `|result| result.is_ok()`, `Result::is_ok`
fn asks_result(code: &Expr) -> bool {
    match code {
        Expr::Path(path) => {
            let names: Vec<_> = path
                .path
                .segments
                .iter()
                .map(|it| it.ident.to_string())
                .collect();
            matches!(&*names, [.., of, asks] if of == "Result" && (asks == "is_ok" || asks == "is_err"))
        }
        code => match closure_of(code).map(|closure| (closure.inputs.first(), &*closure.body)) {
            Some((Some(Pat::Ident(name)), Expr::MethodCall(call))) => {
                let is_it =
                    matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident(&name.ident));
                is_it && (call.method == "is_ok" || call.method == "is_err")
            }
            _ => false,
        },
    }
}

/// `before_retry = |_| async move { self.refresh().await }`: the first run takes what the next one needs.
pub(super) fn moved(
    hooks: [(&'static str, Option<&Expr>); 3],
    owned: &[Owned],
    flow: &Flow,
    faults: &mut Diagnostics,
) {
    for (key, code) in hooks {
        let Some(closure) = code.and_then(closure_of) else {
            continue;
        };
        let block = moving_block(closure);
        let Some(word) = closure
            .capture
            .or_else(|| block.and_then(|block| block.capture))
        else {
            continue;
        };
        let own: Vec<_> = closure.inputs.iter().map(names_in).collect();
        let taken = owned.iter().find(|owned| {
            owned.is_moved_by_name()
                && !own
                    .iter()
                    .any(|names| names.contains(&owned.name.to_string()))
                && takes(closure.body.to_token_stream(), &owned.name)
        });
        let Some(taken) = taken else { continue };
        let fix = match block {
            // Of an async closure in a sync function another rule speaks.
            Some(_) if matches!(flow, Flow::Sync) => continue,
            Some(block) => {
                let parameters = written(&closure.inputs.to_token_stream());
                let block = written(&block.block.to_token_stream());
                format!("write `{key} = async |{parameters}| {block}`")
            }
            None => "drop `move`".to_owned(),
        };
        let name = &taken.name;
        faults.push(
            word.span,
            RuleId::S9,
            format!(
                "`{key}` runs for each retry, and `move` takes `{name}` into its first run; {fix}"
            ),
        );
    }
}

/// The `async move { .. }` that a closure gives.
fn moving_block(closure: &ExprClosure) -> Option<&ExprAsync> {
    let end = match &*closure.body {
        Expr::Block(body) => match &*body.block.stmts {
            [Stmt::Expr(only, None)] => only,
            _ => return None,
        },
        end => end,
    };
    match end {
        Expr::Async(block) if closure.capture.is_none() => Some(block),
        _ => None,
    }
}

fn names_in(pattern: &Pat) -> Vec<String> {
    let tokens = pattern.to_token_stream().into_iter();
    tokens.map(|token| token.to_string()).collect()
}

/// Whether some code names a variable as a whole, be it in a text that is formatted; a field may be copied.
fn takes(code: TokenStream, name: &Ident) -> bool {
    let tokens: Vec<_> = code.into_iter().collect();
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Group(group) => takes(group.stream(), name),
        TokenTree::Literal(text) => {
            let text = text.to_string();
            text.contains(&format!("{{{name}}}")) || text.contains(&format!("{{{name}:"))
        }
        TokenTree::Ident(word) if word == name => {
            let behind = |count: usize| tokens.get(at.saturating_add(count));
            let before = at.checked_sub(1).and_then(|at| tokens.get(at));
            let is = |token: Option<&TokenTree>, sign| matches!(token, Some(TokenTree::Punct(it)) if it.as_char() == sign);
            let is_field = is(behind(1), '.') && !matches!(behind(3), Some(TokenTree::Group(_)));
            !is(before, '.') && !is_field
        }
        _ => false,
    })
}

/// `backoff = |n| self.step * n`: a closure in a constant that reads what only the running program has.
pub(super) fn constant_backoff(
    expr: &Expr,
    parameters: &[(Ident, bool)],
    settings: &[Setting],
    faults: &mut Diagnostics,
) {
    let Some(closure) = closure_of(expr) else {
        return;
    };
    let own: Vec<_> = closure.inputs.iter().map(names_in).collect();
    let is_own = |name: &Ident| own.iter().any(|names| names.contains(&name.to_string()));
    let others: Vec<_> = (parameters.iter().filter(|(name, _)| !is_own(name)))
        .cloned()
        .collect();
    let Some(read) = running::named(closure.body.to_token_stream(), &others) else {
        return;
    };
    let number = match closure.inputs.first() {
        Some(Pat::Ident(number)) => Some(&number.ident),
        _ => None,
    };
    let delay = written(&numbered(closure.body.to_token_stream(), number));
    // Without a number such a call would have no end.
    let is_bounded = settings
        .iter()
        .any(|it| it.key == reattempt_policy::rules::Key::Max);
    let max = if is_bounded { "" } else { "max = 3, " };
    faults.push(
        Place::of(expr),
        RuleId::Type,
        format!("`backoff` must be a constant, but this closure reads `{read}`, which is known only at run time; write `{max}strategy = |failure| reattempt::strategy::Decision::Retry({delay})`"),
    );
}

/// The body with `failure.retry()` for the parameter.
fn numbered(body: TokenStream, number: Option<&Ident>) -> TokenStream {
    body.into_iter()
        .flat_map(|token| match token {
            TokenTree::Ident(name) if Some(&name) == number => quote::quote!(failure.retry()),
            TokenTree::Group(group) => {
                let inside = numbered(group.stream(), number);
                TokenTree::Group(proc_macro2::Group::new(group.delimiter(), inside)).into()
            }
            token => token.into(),
        })
        .collect()
}
