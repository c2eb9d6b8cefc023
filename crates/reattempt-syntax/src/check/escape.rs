//! An answer that takes a unique borrow of a parameter out of the attempt.

use proc_macro2::{Group, Ident, Span};
use reattempt_policy::rules::RuleId;
use syn::parse::Parser as _;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Block, Expr, FnArg, Pat, Type};

use crate::async_block::AsyncBlock;
use crate::async_trait;
use crate::diagnostics::Diagnostics;
use crate::escape::{self, Escape, Proof};
use crate::item::{Answer, Flow, Function, has_word};
use crate::rename::self_in;

/// Refuses such an answer, and returns one that only the compiler can judge.
pub(super) fn borrowed(
    function: &Function,
    answer: &Answer,
    flow: &Flow,
    faults: &mut Diagnostics,
) -> Option<Escape> {
    let (Some(body), Some(ty)) = (&function.body, answer.ty()) else {
        return None;
    };
    let body = match flow {
        Flow::Future { boxed } => {
            let tokens: Vec<_> = body.stream().into_iter().collect();
            match AsyncBlock::retried(&tokens, *boxed) {
                Some(retried) if async_trait::body(body).is_none() => retried.block.stream(),
                _ => self_in(async_trait::body(body)?.stream()),
            }
        }
        Flow::Sync | Flow::Async => body.stream(),
    };
    let found = escape::find(&function.signature, ty, &body)?;
    if matches!(found.proof, Proof::Certain) {
        faults.push(found.span(), RuleId::S12, found.message());
        return None;
    }
    Some(found)
}

/// Refuses an attempt that lets a mutable reference point to another place: only its own attempt has that one.
pub(super) fn advanced(function: &Function, flow: &Flow, faults: &mut Diagnostics) {
    let Some(body) = function.body.as_ref().map(Group::stream) else {
        return;
    };
    // What is taken out of a reference leaves an empty one, which each attempt may have.
    if has_word(&body, "take") || has_word(&body, "replace") {
        return;
    }
    for name in function.signature.inputs.iter().filter_map(movable) {
        let Ok(statements) = Block::parse_within.parse2(body.clone()) else {
            return;
        };
        let mut found = Assigned {
            name,
            place: None,
            is_bound: false,
            // What stands in front of an async block runs once.
            is_retried: !matches!(flow, Flow::Future { .. }),
        };
        for statement in &statements {
            found.visit_stmt(statement);
        }
        if let Some(place) = found.place.filter(|_| !found.is_bound) {
            faults.push(
                place,
                RuleId::S6,
                format!("the body lets `{name}` point to another place, and the next attempt needs the first one; declare it without `mut`, and write `let mut {name} = &mut *{name};` at the start of the body"),
            );
        }
    }
}

/// The name of a parameter that is a mutable reference and `mut`.
fn movable(input: &FnArg) -> Option<&Ident> {
    let FnArg::Typed(typed) = input else {
        return None;
    };
    match (&*typed.pat, &*typed.ty) {
        (Pat::Ident(pat), Type::Reference(ty)) => {
            (pat.mutability.is_some() && ty.mutability.is_some()).then_some(&pat.ident)
        }
        _ => None,
    }
}

/// Where a variable is assigned, and whether a body binds its name anew.
struct Assigned<'n> {
    name: &'n Ident,
    place: Option<Span>,
    is_bound: bool,
    is_retried: bool,
}

impl<'ast> Visit<'ast> for Assigned<'_> {
    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        let is_it = matches!(&*assign.left, Expr::Path(path) if path.path.is_ident(self.name));
        if is_it && self.is_retried {
            self.place.get_or_insert(assign.left.span());
        }
        visit::visit_expr_assign(self, assign);
    }

    fn visit_expr_async(&mut self, block: &'ast syn::ExprAsync) {
        let is_outside = !std::mem::replace(&mut self.is_retried, true);
        visit::visit_expr_async(self, block);
        self.is_retried = !is_outside;
    }

    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        self.is_bound |= pat.ident == *self.name;
        visit::visit_pat_ident(self, pat);
    }
}
