//! The walk over what a body answers.

use proc_macro2::Ident;
use quote::ToTokens as _;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Expr, ExprReturn, Item, Stmt, Token};

use super::{Borrowed, Escape};

/// The names that a body binds: they may hide a parameter.
pub(super) struct Bound(pub(super) Vec<Ident>);

impl<'ast> Visit<'ast> for Bound {
    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        self.0.push(pat.ident.clone());
        visit::visit_pat_ident(self, pat);
    }
}

/// A walk over what a body answers.
pub(super) struct Walk<'a> {
    pub(super) borrowed: &'a [Borrowed],
    /// Whether the answer holds a `&mut`.
    pub(super) unique: bool,
    pub(super) found: Vec<Escape>,
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_expr_return(&mut self, returned: &'ast ExprReturn) {
        if let Some(expr) = &returned.expr {
            self.answer(expr);
        }
    }

    // What leaves these is no answer of the body.
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {}
    fn visit_item(&mut self, _: &'ast Item) {}
}

impl Walk<'_> {
    pub(super) fn answer_of(&mut self, statements: &[Stmt]) {
        if let Some(Stmt::Expr(expr, None)) = statements.last() {
            self.answer(expr);
        }
    }

    /// What is answered: `Ok(..)`, or a call that answers itself.
    fn answer(&mut self, expr: &Expr) {
        match expr {
            Expr::Block(block) => self.answer_of(&block.block.stmts),
            Expr::Unsafe(block) => self.answer_of(&block.block.stmts),
            Expr::If(chosen) => {
                self.answer_of(&chosen.then_branch.stmts);
                if let Some((_, other)) = &chosen.else_branch {
                    self.answer(other);
                }
            }
            Expr::Match(chosen) => {
                for arm in &chosen.arms {
                    self.answer(&arm.body);
                }
            }
            Expr::Paren(paren) => self.answer(&paren.expr),
            Expr::Call(call) => match (&*call.func, call.args.first()) {
                (Expr::Path(path), Some(value))
                    if path.path.is_ident("Ok") || path.path.is_ident("Some") =>
                {
                    self.value(value);
                }
                _ => self.value(expr),
            },
            Expr::MethodCall(_) => self.value(expr),
            _ => {}
        }
    }

    /// The value in an answer.
    fn value(&mut self, expr: &Expr) {
        match expr {
            Expr::Paren(paren) => self.value(&paren.expr),
            Expr::Try(tried) => self.value(&tried.expr),
            Expr::Await(awaited) => self.value(&awaited.base),
            // Where a shared reference is expected this is one.
            Expr::Path(_) if self.unique => self.certain(expr, expr),
            Expr::MethodCall(call) if passes_on(&call.method.to_string()) => {
                self.value(&call.receiver);
            }
            Expr::MethodCall(call)
                if self.unique
                    && call.method.to_string().ends_with("_mut")
                    && self.root(&call.receiver).is_some() =>
            {
                self.certain(&call.receiver, expr);
            }
            Expr::MethodCall(call) => self.arguments(expr, &call.args),
            Expr::Call(call) => self.arguments(expr, &call.args),
            _ => self.part(expr),
        }
    }

    /// A part of that value.
    fn part(&mut self, expr: &Expr) {
        match expr {
            Expr::Paren(paren) => self.part(&paren.expr),
            Expr::Tuple(tuple) => tuple.elems.iter().for_each(|it| self.part(it)),
            Expr::Struct(built) => built.fields.iter().for_each(|it| self.part(&it.expr)),
            Expr::Reference(borrow) if borrow.mutability.is_some() => {
                self.certain(&borrow.expr, expr);
            }
            _ => {}
        }
    }

    /// Scratch space that a call gets, and probably returns a part of.
    fn arguments(&mut self, call: &Expr, arguments: &Punctuated<Expr, Token![,]>) {
        let is_named = |name: &Ident| {
            self.borrowed
                .iter()
                .any(|it| it.is_named && it.name == *name)
        };
        let names = arguments.iter().filter_map(|argument| match argument {
            Expr::Path(_) => self.root(argument).filter(is_named),
            _ => None,
        });
        if let Some(name) = names.into_iter().find(|name| name != "self") {
            let place = call.to_token_stream();
            self.found.push(Escape {
                name,
                place,
                is_certain: false,
            });
        }
    }

    fn certain(&mut self, place: &Expr, borrow: &Expr) {
        if let Some(name) = self.root(place) {
            let place = borrow.to_token_stream();
            self.found.push(Escape {
                name,
                place,
                is_certain: true,
            });
        }
    }

    /// The borrowed parameter that a place is a part of, if nothing but the parameter itself is dereferenced.
    fn root(&self, place: &Expr) -> Option<Ident> {
        match place {
            Expr::Path(path) => {
                let name = path.path.get_ident()?;
                (self.borrowed.iter().any(|it| it.name == *name)).then(|| name.clone())
            }
            Expr::Field(field) => self.root(&field.base),
            Expr::Index(index) => self.root(&index.expr),
            Expr::Paren(paren) => self.root(&paren.expr),
            Expr::Unary(unary) => match (&unary.op, &*unary.expr) {
                (syn::UnOp::Deref(_), base @ Expr::Path(_)) => self.root(base),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether a method hands on the success of its receiver.
fn passes_on(method: &str) -> bool {
    const NAMES: &[&str] = &[
        "context",
        "expect",
        "map_err",
        "ok_or",
        "ok_or_else",
        "or_else",
        "unwrap",
        "with_context",
    ];
    NAMES.contains(&method)
}
