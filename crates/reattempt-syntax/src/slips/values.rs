//! Values and comparisons where a key takes a function.

use quote::ToTokens as _;
use syn::{BinOp, Expr, ExprBinary, ExprPath, ExprTry, Pat, RangeLimits};

use super::is_word;
use crate::tokens::written;

/// What is wrong with `fallback = vec![]`, which is `said`.
pub(super) fn fallback(value: &Expr, said: &str) -> Option<String> {
    let write = |function: String| {
        Some(format!(
            "`fallback` takes a function; write `fallback = {function}`"
        ))
    };
    match value {
        // Of which type, only the answer says.
        _ if said.trim_end_matches("()") == "Default::default" => {
            write("|_| Ok(Default::default())".to_owned())
        }
        Expr::Path(path) if makes_empty(path) => write(format!("|_| {said}()")),
        Expr::Await(_) => write(format!("async |_| {said}")),
        Expr::Try(ExprTry { expr, .. }) => {
            let said = written(&expr.to_token_stream());
            match &**expr {
                Expr::Await(_) => write(format!("async |_| {said}")),
                Expr::Call(_) | Expr::MethodCall(_) => write(format!("|_| {said}")),
                _ => None,
            }
        }
        value => is_answer(value).then(|| write(format!("|_| {said}")))?,
    }
}

/// `Vec::new`, `u32::default`: functions without a parameter.
fn makes_empty(path: &ExprPath) -> bool {
    const EMPTY: &[&str] = &[
        "BTreeMap", "BTreeSet", "HashMap", "HashSet", "String", "Vec", "VecDeque",
    ];
    let mut segments = path.path.segments.iter().rev();
    match (segments.next(), segments.next()) {
        (Some(function), Some(owner)) if function.ident == "new" => {
            EMPTY.iter().any(|name| owner.ident == name)
        }
        (Some(function), Some(_)) => function.ident == "default",
        _ => false,
    }
}

/// Whether a value is what a function may answer, and no function.
fn is_answer(value: &Expr) -> bool {
    match value {
        Expr::Lit(_)
        | Expr::Unary(_)
        | Expr::Binary(_)
        | Expr::Struct(_)
        | Expr::Array(_)
        | Expr::Repeat(_)
        | Expr::Tuple(_) => true,
        Expr::Reference(borrow) => matches!(&*borrow.expr, Expr::Lit(_) | Expr::Array(_)),
        Expr::Macro(made) => is_one_of(&made.mac.path, &["format", "vec"]),
        Expr::Path(_) => is_word(value, &["None"]),
        Expr::Call(call) => {
            let makes = |path: &syn::Path| {
                let last = path.segments.last();
                last.is_some_and(|it| it.ident == "default" || it.ident == "new")
            };
            is_word(&call.func, &["Ok", "Some", "Err"])
                || matches!(&*call.func, Expr::Path(it) if makes(&it.path))
        }
        _ => false,
    }
}

fn is_one_of(path: &syn::Path, names: &[&str]) -> bool {
    names.iter().any(|name| path.is_ident(name))
}

/// `value == 3`: what is compared, and the comparison as a function says it, which gets a reference.
pub(super) fn compared(value: &Expr) -> Option<(String, String)> {
    let Expr::Binary(ExprBinary {
        left, op, right, ..
    }) = value
    else {
        return None;
    };
    let compares = matches!(
        op,
        BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_)
    );
    let name = root(left).or_else(|| root(right)).filter(|_| compares)?;
    let side = |side: &Expr, other: &Expr| {
        let said = written(&side.to_token_stream());
        let is_by_reference = matches!(other, Expr::Reference(_)) || is_text(other);
        if said == name && !is_by_reference {
            format!("*{said}")
        } else {
            said
        }
    };
    let (left, right) = (side(left, right), side(right, left));
    let op = written(&op.to_token_stream());
    Some((name, format!("{left} {op} {right}")))
}

fn is_text(value: &Expr) -> bool {
    matches!(value, Expr::Lit(literal) if matches!(literal.lit, syn::Lit::Str(_)))
}

/// The variable in front of methods and fields.
fn root(value: &Expr) -> Option<String> {
    match value {
        Expr::MethodCall(call) => root(&call.receiver),
        Expr::Field(field) => root(&field.base),
        Expr::Path(path) => {
            let name = path.path.get_ident()?.to_string();
            (name != "self" && !name.contains(char::is_uppercase)).then_some(name)
        }
        _ => None,
    }
}

/// What is wrong with `on = 500..=599` and `on = StatusCode::BAD_GATEWAY`.
pub(super) fn status(key: &str, value: &Expr) -> Option<String> {
    let said = written(&value.to_token_stream());
    let asked = match value {
        Expr::Range(range) => {
            let is_number =
                |end: &Option<Box<Expr>>| matches!(end.as_deref(), None | Some(Expr::Lit(_)));
            let has_end = range.start.is_some() || matches!(range.limits, RangeLimits::Closed(_));
            (has_end && is_number(&range.start) && is_number(&range.end)).then(|| {
                format!("error.status().is_some_and(|status| ({said}).contains(&status.as_u16()))")
            })?
        }
        Expr::Path(path) if is_status(&path.path) => format!("error.status() == Some({said})"),
        _ => return None,
    };
    Some(format!(
        "`{key}` takes a function of the error, which has a status; write `{key} = |error| {asked}`"
    ))
}

/// The same of a pattern, where the error is no status itself.
pub fn test_of_status(pattern: &Pat) -> Option<String> {
    let said = written(&pattern.to_token_stream());
    match pattern {
        Pat::Path(path) if is_status(&path.path) => Some(format!("error.status() == Some({said})")),
        Pat::Or(or)
            if or
                .cases
                .iter()
                .all(|it| matches!(it, Pat::Path(path) if is_status(&path.path))) =>
        {
            Some(format!("matches!(error.status(), Some({said}))"))
        }
        Pat::Range(_) => Some(format!(
            "error.status().is_some_and(|status| ({said}).contains(&status.as_u16()))"
        )),
        numbers => is_number(numbers).then(|| {
            format!("error.status().is_some_and(|status| matches!(status.as_u16(), {said}))")
        }),
    }
}

/// `503`, `503 | 500..=599`
pub fn is_number(pattern: &Pat) -> bool {
    match pattern {
        Pat::Lit(literal) => matches!(literal.lit, syn::Lit::Int(_)),
        Pat::Range(_) => true,
        Pat::Or(or) => or.cases.iter().all(is_number),
        _ => false,
    }
}

/// `reqwest::StatusCode::BAD_GATEWAY`
fn is_status(path: &syn::Path) -> bool {
    let mut segments = path.segments.iter().rev();
    let is_constant = segments
        .next()
        .is_some_and(|last| !last.ident.to_string().contains(char::is_lowercase));
    is_constant && segments.next().is_some_and(|of| of.ident == "StatusCode")
}
