//! What is retried: the closure of another library as the body of a block of ours.

use syn::{Expr, Stmt};

/// What an attempt runs.
pub(super) struct Body {
    /// What stands in the braces.
    pub(super) statements: String,
}

/// The text of a piece of the file.
pub(super) type Source<'a> = dyn Fn(&dyn quote::ToTokens) -> String + 'a;

impl Body {
    /// Of `|| async { .. }`, `|| client.ask()` or `fetch`, whose futures are awaited where `is_async`.
    pub(super) fn of(operation: &Expr, is_async: bool, source: &Source<'_>) -> Self {
        let statements = match operation {
            Expr::Paren(it) => return Self::of(&it.expr, is_async, source),
            Expr::Block(it) if it.block.stmts.len() == 1 => match it.block.stmts.as_slice() {
                [Stmt::Expr(expr, None)] => return Self::of(expr, is_async, source),
                _ => called(operation, is_async, source),
            },
            Expr::Closure(closure) if closure.inputs.is_empty() => inlined(
                &closure.body,
                is_async || closure.asyncness.is_some(),
                closure.asyncness.is_some(),
                source,
            ),
            _ => called(operation, is_async, source),
        };
        Self { statements }
    }
}

/// The body of a closure; its last expression is a future, unless the closure is async.
fn inlined(body: &Expr, is_async: bool, is_awaited: bool, source: &Source<'_>) -> String {
    if !is_async || is_awaited {
        return without_braces(body, source);
    }
    match body {
        Expr::Async(it) if it.capture.is_none() => inside(&it.block, source),
        Expr::Block(it) => match it.block.stmts.split_last() {
            Some((Stmt::Expr(last, None), before)) => {
                let mut lines: Vec<_> = before.iter().map(|it| source(it)).collect();
                lines.push(awaited(last, source));
                lines.join(
                    "
",
                )
            }
            _ => awaited(body, source),
        },
        body => awaited(body, source),
    }
}

fn awaited(expr: &Expr, source: &Source<'_>) -> String {
    format!("{}.await", source(expr))
}

fn without_braces(body: &Expr, source: &Source<'_>) -> String {
    match body {
        Expr::Block(it) if it.label.is_none() && it.attrs.is_empty() => inside(&it.block, source),
        body => source(body),
    }
}

fn inside(block: &syn::Block, source: &Source<'_>) -> String {
    let text = source(block);
    let inner = text.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    inner.unwrap_or(&text).trim().to_owned()
}

/// A function, or a closure in a variable.
fn called(operation: &Expr, is_async: bool, source: &Source<'_>) -> String {
    let text = source(operation);
    let function = match operation {
        Expr::Path(_) => text,
        _ => format!("({text})"),
    };
    let awaited = if is_async { ".await" } else { "" };
    format!("{function}(){awaited}")
}
