//! What a loop may change without setting it: a method of it is called, or it is handed out by `&mut`.

use std::collections::BTreeSet;

use syn::Expr;
use syn::visit::Visit;

use crate::code::written;

/// The calls that may change something, each with what that is.
#[derive(Default)]
pub(super) struct Touched(BTreeSet<(String, String)>);

impl Touched {
    pub(super) fn add(&mut self, what: &Expr, by: &Expr) {
        if let Some(place) = place(what) {
            self.0.insert((place, written(by)));
        }
    }

    /// Whether this says something else after such a call, but for those that it makes itself.
    pub(super) fn changes(&self, value: &Expr, own: &Self) -> bool {
        let mut places = Places::default();
        places.visit_expr(value);
        let mut others = self.0.difference(&own.0);
        others.any(|(place, _)| places.0.contains(place))
    }
}

/// A variable or a field of `self`, which a longer path begins with.
fn place(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(it) => {
            let name = it.path.get_ident()?.to_string();
            (name != "self").then_some(name)
        }
        Expr::Field(it) => match &*it.base {
            Expr::Path(base) if base.path.is_ident("self") => Some(written(expr)),
            base => place(base),
        },
        Expr::MethodCall(it) => place(&it.receiver),
        Expr::Await(it) => place(&it.base),
        Expr::Paren(it) => place(&it.expr),
        Expr::Reference(it) => place(&it.expr),
        Expr::Index(it) => place(&it.expr),
        _ => None,
    }
}

/// The places that an expression names.
#[derive(Default)]
struct Places(BTreeSet<String>);

impl<'ast> Visit<'ast> for Places {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        self.0.extend(place(expr));
        syn::visit::visit_expr(self, expr);
    }
}
