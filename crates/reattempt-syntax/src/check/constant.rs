//! Which inherited policies can be evaluated when the program is compiled.

use syn::{Expr, Ident};

/// Whether an expression can stand in a constant: a path in capitals, a
/// `Policy` built in place, or a `const` block. Anything else is evaluated when
/// the function is called.
pub(super) fn is_constant(expr: &Expr, parameters: &[(Ident, bool)]) -> bool {
    match expr {
        Expr::Const(_) => true,
        Expr::Path(path) => path.path.segments.last().is_some_and(|segment| {
            let name = segment.ident.to_string();
            !parameters
                .iter()
                .any(|(parameter, _)| *parameter == segment.ident)
                && name.chars().all(|c| !c.is_lowercase())
        }),
        Expr::MethodCall(call) => {
            is_constant(&call.receiver, parameters) && call.args.iter().all(is_constant_argument)
        }
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => {
                let segments = &path.path.segments;
                segments.len() > 1
                    && segments
                        .iter()
                        .rev()
                        .nth(1)
                        .is_some_and(|segment| segment.ident == "Policy")
                    && call.args.iter().all(is_constant_argument)
            }
            _ => false,
        },
        Expr::Group(group) => is_constant(&group.expr, parameters),
        Expr::Paren(paren) => is_constant(&paren.expr, parameters),
        _ => false,
    }
}

/// An argument of the builder: constant unless it mentions a variable.
fn is_constant_argument(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) | Expr::Const(_) => true,
        Expr::Path(path) => match path.path.get_ident() {
            Some(ident) => ident.to_string().chars().all(|c| !c.is_lowercase()),
            None => true,
        },
        Expr::Call(call) => call.args.iter().all(is_constant_argument),
        Expr::Unary(unary) => is_constant_argument(&unary.expr),
        Expr::Binary(binary) => {
            is_constant_argument(&binary.left) && is_constant_argument(&binary.right)
        }
        Expr::Paren(paren) => is_constant_argument(&paren.expr),
        _ => false,
    }
}

/// Whether an expression is made by a function of `kind`, as in `Budget::per_success(0.1)`.
pub(super) fn builds(expr: &Expr, kind: &str) -> bool {
    match expr {
        Expr::MethodCall(call) => builds(&call.receiver, kind),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => {
                let segments = &path.path.segments;
                segments
                    .iter()
                    .rev()
                    .nth(1)
                    .is_some_and(|segment| segment.ident == kind)
            }
            _ => false,
        },
        Expr::Group(group) => builds(&group.expr, kind),
        Expr::Paren(paren) => builds(&paren.expr, kind),
        _ => false,
    }
}

/// Whether an expression is a name in capitals or a reference to one: that of a `static`, or of a constant.
pub(super) fn names_static(expr: &Expr, parameters: &[(Ident, bool)]) -> bool {
    match expr {
        Expr::Reference(reference) if reference.mutability.is_none() => {
            matches!(&*reference.expr, Expr::Path(_)) && is_constant(&reference.expr, parameters)
        }
        Expr::Path(_) => is_constant(expr, parameters),
        Expr::Group(group) => names_static(&group.expr, parameters),
        Expr::Paren(paren) => names_static(&paren.expr, parameters),
        _ => false,
    }
}
