//! What methods and calls hand on, by their names and their shape.

use proc_macro2::Ident;
use syn::{Expr, ExprClosure, ExprMethodCall, Stmt};

/// How an answer borrows a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// By `&mut`.
    Uniquely,
    /// As `self`, which is a reference by its type or none.
    ByType,
    /// As a field, which is a mutable reference by its type or none.
    Field,
    /// By `&`, while the attempt may need it by `&mut`.
    Shared,
    /// In another way, which may be a shared one.
    Perhaps,
}

/// The values that an expression may end with, if those are others than its own.
pub(super) fn ends(expr: &Expr) -> Option<Vec<&Expr>> {
    fn last(block: &syn::Block) -> Option<&Expr> {
        match block.stmts.last() {
            Some(Stmt::Expr(expr, None)) => Some(expr),
            _ => None,
        }
    }
    Some(match expr {
        Expr::Block(block) => last(&block.block).into_iter().collect(),
        Expr::Unsafe(block) => last(&block.block).into_iter().collect(),
        Expr::If(chosen) => {
            let other = chosen.else_branch.iter().map(|(_, other)| &**other);
            last(&chosen.then_branch).into_iter().chain(other).collect()
        }
        Expr::Match(chosen) => chosen.arms.iter().map(|arm| &*arm.body).collect(),
        _ => return None,
    })
}

/// Whether an expression is a value that borrows nothing.
pub(super) const fn is_value(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(_) | Expr::Binary(_) | Expr::Cast(_))
}

/// How a method borrows what it is called on, by its name.
pub(super) fn how_of(call: &ExprMethodCall) -> How {
    const NAMES: &[&str] = &[
        "as_bytes",
        "as_deref",
        "as_os_str",
        "as_path",
        "as_ref",
        "as_slice",
        "as_str",
        "back",
        "buffer",
        "chars",
        "first",
        "front",
        "get",
        "get_ref",
        "iter",
        "keys",
        "last",
        "lines",
        "trim",
        "trim_end",
        "trim_start",
        "values",
    ];
    let is_shared = match passed_on(&call.receiver) {
        Expr::MethodCall(first) => how_of(first) == How::Shared,
        Expr::Call(_) => false,
        _ => true,
    };
    let method = call.method.to_string();
    if is_shared && (NAMES.contains(&&*method) || passes_on(&method, true)) {
        How::Shared
    } else {
        How::Perhaps
    }
}

/// The chain of methods of which a place is a part.
pub(super) fn chain_in(place: &Expr) -> Option<&ExprMethodCall> {
    match place {
        Expr::MethodCall(call) => Some(call),
        Expr::Field(field) => chain_in(&field.base),
        Expr::Index(index) => chain_in(&index.expr),
        Expr::Paren(paren) => chain_in(&paren.expr),
        Expr::Try(tried) => chain_in(&tried.expr),
        _ => None,
    }
}

/// The variable of which a place is a part.
pub(super) fn base(place: &Expr) -> Option<&Ident> {
    match place {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Field(field) => base(&field.base),
        Expr::Index(index) => base(&index.expr),
        _ => None,
    }
}

/// What methods such as `unwrap` are called on.
pub(super) fn passed_on(expr: &Expr) -> &Expr {
    match expr {
        Expr::MethodCall(call) if passes_on(&call.method.to_string(), true) => {
            passed_on(&call.receiver)
        }
        Expr::Try(tried) => passed_on(&tried.expr),
        _ => expr,
    }
}

/// Whether a method hands on the success of its receiver, or what is made of it.
pub(super) fn passes_on(method: &str, may_be_owned: bool) -> bool {
    const NAMES: &[&str] = &[
        "and_then",
        "context",
        "expect",
        "map",
        "map_err",
        "ok_or",
        "ok_or_else",
        "or_else",
        "unwrap",
        "unwrap_or",
        "unwrap_or_default",
        "unwrap_or_else",
        "with_context",
    ];
    // A `Cow` may be made of what another one borrows.
    NAMES.contains(&method) && !(may_be_owned && matches!(method, "and_then" | "map"))
}

/// The closure that makes the success of such a method.
pub(super) fn made_by(call: &ExprMethodCall) -> Option<&ExprClosure> {
    const NAMES: &[&str] = &["and_then", "map", "or_else"];
    match call.args.first()? {
        Expr::Closure(closure) if NAMES.iter().any(|name| call.method == name) => Some(closure),
        _ => None,
    }
}

/// What the first method of a chain is called on.
pub(super) fn start_of_chain(receiver: &Expr) -> &Expr {
    match receiver {
        Expr::MethodCall(call) => start_of_chain(&call.receiver),
        Expr::Await(awaited) => start_of_chain(&awaited.base),
        Expr::Try(tried) => start_of_chain(&tried.expr),
        Expr::Field(field) if !is_place(&field.base) => start_of_chain(&field.base),
        _ => receiver,
    }
}

/// Whether a call makes a tuple struct or a variant of its arguments.
pub(super) fn is_constructor(function: &Expr) -> bool {
    let is_name = |last: &syn::PathSegment| last.ident.to_string().starts_with(char::is_uppercase);
    matches!(function, Expr::Path(path) if path.path.segments.last().is_some_and(is_name))
}

fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Field(field) => is_place(&field.base),
        Expr::MethodCall(_) | Expr::Await(_) | Expr::Try(_) => false,
        _ => true,
    }
}
