//! What to write in place of what is no body, and of what stands behind one.

use darling::ast::NestedMeta;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use reattempt_policy::rules::RuleId;
use reattempt_policy::written as words;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Expr, ExprMethodCall, Ident, ItemFn, Lit, ReturnType, Token};

use crate::diagnostics::{Diagnostic, Place};
use crate::item::text;
use crate::keys;
use crate::slips;
use crate::tokens::written;

/// What is wrong with what could not be read, where it is known.
pub(super) fn of(input: TokenStream) -> Option<Diagnostic> {
    let is_first = |input: ParseStream<'_>| {
        let is_field = matches!(input.parse()?, Expr::Field(_) | Expr::MethodCall(_));
        let is_first = is_field && input.peek(Token![,]);
        input.parse::<TokenStream>()?;
        Ok(is_first)
    };
    if is_first.parse2(input.clone()).is_ok_and(|is| is)
        && let Some(slip) = slips::policy_alone(&input)
    {
        return Some(slip);
    }
    let find = |input: ParseStream<'_>| {
        let found = misplaced(input);
        input.parse::<TokenStream>()?;
        Ok(found)
    };
    let tokens = input.clone();
    let found = find.parse2(input).ok().flatten();
    found
        .or_else(|| slips::unreadable(&tokens))
        .or_else(|| statement(&tokens))
}

/// `max = 3; read()`: keys that end as a statement does.
fn statement(tokens: &TokenStream) -> Option<Diagnostic> {
    let is_end =
        |token: &TokenTree| matches!(token, TokenTree::Punct(sign) if sign.as_char() == ';');
    let end = tokens.clone().into_iter().find(is_end)?;
    let keys: TokenStream = (tokens.clone().into_iter())
        .take_while(|token| !is_end(token))
        .collect();
    slips::has_keys(&keys).then(|| {
        let text = format!(
            "a comma ends the keys, and the body stands in braces; write `retry_block!({}, {{ ... }})`",
            written(&keys)
        );
        Diagnostic::new(end.span(), RuleId::S10, text)
    })
}

fn misplaced(input: ParseStream<'_>) -> Option<Diagnostic> {
    loop {
        let ahead = input.fork();
        if let Ok(value) = ahead.parse::<Lit>() {
            let is_key = ahead.peek(Token![,]);
            return is_key.then(|| {
                Diagnostic::new(
                    Place::of(&value),
                    RuleId::Syntax,
                    slips::value_alone(&value),
                )
            });
        }
        let ahead = input.fork();
        if let Ok(function) = ahead.parse::<ItemFn>() {
            let answer = match &function.sig.output {
                ReturnType::Default => String::new(),
                ReturnType::Type(_, ty) => format!("-> {} ", text(ty)),
            };
            let word = function.sig.asyncness.map_or("", |_| "async ");
            let place = Place::of(&function.sig);
            let text = format!(
                "the body is a block or a closure, and no function; write `{word}|| {answer}{{ ... }}`"
            );
            return Some(Diagnostic::new(place, RuleId::S10, text));
        }
        let ahead = input.fork();
        if input.peek(syn::token::Paren)
            && let Ok(TokenTree::Group(keys)) = ahead.parse()
            && ahead.peek(Token![,])
            && let Some(slip) = slips::brackets(&keys)
        {
            return Some(slip);
        }
        let ahead = input.fork();
        let is_item = input.peek(Ident::peek_any)
            && ahead.parse::<NestedMeta>().is_ok()
            && ahead.peek(Token![,]);
        if !is_item {
            return body(input);
        }
        input.parse::<NestedMeta>().ok()?;
        input.parse::<Token![,]>().ok()?;
    }
}

/// What is wrong with an expression where the body belongs.
fn body(input: ParseStream<'_>) -> Option<Diagnostic> {
    let value: Expr = input.parse().ok()?;
    let fault = |text: String| Some(Diagnostic::new(Place::of(&value), RuleId::S10, text));
    input.parse::<Option<Token![,]>>().ok()?;
    if !input.is_empty() {
        return None;
    }
    if let Expr::Closure(closure) = &value {
        return match &*closure.body {
            Expr::MethodCall(call) => fault(before_the_body(&keys_of(call)?)),
            _ => None,
        };
    }
    let (inner, behind) = without_end(&value);
    if is_body(inner) {
        return match behind {
            Some(behind) => {
                let place = Place::of(&behind_of(inner, &value));
                let text =
                    format!("`{behind}` stands after the macro; write `retry_block!(...){behind}`");
                Some(Diagnostic::new(place, RuleId::S10, text))
            }
            None => match inner {
                Expr::MethodCall(call) => fault(before_the_body(&keys_of(call)?)),
                _ => None,
            },
        };
    }
    if let Expr::Paren(paren) = inner {
        let inside = written(&paren.expr.to_token_stream()).replace("| |", "||");
        return fault(format!(
            "the body stands without parentheses; write `{inside}`"
        ));
    }
    let (said, end) = match &value {
        Expr::Try(tried) => (&*tried.expr, "?"),
        value => (value, ""),
    };
    let written = written(&said.to_token_stream());
    let text = match said {
        Expr::Assign(_) | Expr::Lit(_) | Expr::Reference(_) | Expr::Range(_) => return None,
        Expr::Path(path) => {
            let name = path.path.segments.last()?.ident.to_string();
            if is_key(&name) || name.starts_with(char::is_uppercase) {
                return None;
            }
            format!(
                "the body is a block or a closure; write `{{ {written}() }}`, or `async {{ {written}().await }}` where it is async"
            )
        }
        Expr::Call(call) if matches!(&*call.func, Expr::Path(path) if path.path.get_ident().is_some_and(|it| is_key(&it.to_string()))) =>
        {
            return None;
        }
        _ if slips::awaits_in(said.to_token_stream()) => format!(
            "an attempt that awaits is async; write `async {{ {written} }}`, and `.await{end}` after the macro"
        ),
        _ if end.is_empty() => format!(
            "the body is a block or a closure; write `{{ {written} }}`, or `async {{ {written}.await }}` where it is async"
        ),
        _ => format!(
            "the body is a block or a closure; write `{{ {written} }}`, and `{end}` after the macro"
        ),
    };
    fault(text)
}

fn is_key(name: &str) -> bool {
    keys::is_one_of(name, keys::KEYS) || words::foreign(name).is_some()
}

/// A value without `.await`, `.await?` or `?` behind it, and what that is.
fn without_end(value: &Expr) -> (&Expr, Option<&'static str>) {
    match value {
        Expr::Await(awaited) => (&awaited.base, Some(".await")),
        Expr::Try(tried) => match &*tried.expr {
            Expr::Await(awaited) => (&awaited.base, Some(".await?")),
            inner => (inner, Some("?")),
        },
        value => (value, None),
    }
}

/// The tokens of a value that stand behind its beginning.
fn behind_of(beginning: &Expr, value: &Expr) -> TokenStream {
    let count = beginning.to_token_stream().into_iter().count();
    value.to_token_stream().into_iter().skip(count).collect()
}

/// Whether it is a block, or begins with one.
fn is_body(value: &Expr) -> bool {
    match value {
        Expr::Block(_) | Expr::Async(_) | Expr::Closure(_) => true,
        value => is_called(value),
    }
}

/// `{ ... }.max(3)`: whether keys stand behind a block.
pub(super) fn is_called(value: &Expr) -> bool {
    match value {
        Expr::MethodCall(call) => keys_of(call).is_some() && is_body(&call.receiver),
        _ => false,
    }
}

/// The keys that methods behind a body stand for.
fn keys_of(call: &ExprMethodCall) -> Option<String> {
    let word = call.method.to_string();
    let key = if keys::is_one_of(&word, keys::KEYS) {
        word
    } else {
        words::foreign(&word)?.0.to_owned()
    };
    let key = format!("{key} = {}", written(&call.args.to_token_stream()));
    match &*call.receiver {
        Expr::MethodCall(before) => Some(format!("{}, {key}", keys_of(before)?)),
        _ => Some(key),
    }
}

fn before_the_body(keys: &str) -> String {
    format!("the keys stand before the body; write `retry_block!({keys}, ...)`")
}
