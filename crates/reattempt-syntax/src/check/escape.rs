//! An answer that takes a unique borrow of a parameter out of the attempt.

use proc_macro2::{Group, Ident, Span, TokenStream};
use quote::ToTokens as _;
use reattempt_policy::rules::RuleId;
use syn::parse::Parser as _;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::visit_mut::VisitMut;
use syn::{Block, Expr, FnArg, Pat, PatType, Stmt, Token, Type};

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
    let mut this = None;
    let body = match flow {
        Flow::Future { boxed } => {
            let tokens: Vec<_> = body.stream().into_iter().collect();
            match (
                async_trait::body(body),
                AsyncBlock::retried(&tokens, *boxed),
            ) {
                (Some(wrapped), _) => self_in(wrapped.stream()),
                (None, Some(retried)) => {
                    let mut statements = retried.statements();
                    statements.retain(|it| name_of_self(it).is_some());
                    this = statements.first().and_then(name_of_self).cloned();
                    let names = escape::with_any_lifetime(quote::quote!(#(#statements)*));
                    let block = retried.block.stream();
                    quote::quote!(#names #block)
                }
                (None, None) => awaited(body.stream())?,
            }
        }
        Flow::Sync | Flow::Async => body.stream(),
    };
    let mut found = escape::find(&function.signature, ty, &body)?;
    if let Some(name) = &this {
        found.call_self(name);
    }
    if matches!(found.proof, Proof::Certain) {
        faults.push(found.span(), RuleId::S12, found.message());
        return None;
    }
    Some(found)
}

/// The other name that a statement in front of an async block gives `self`.
fn name_of_self(statement: &Stmt) -> Option<&Ident> {
    let Stmt::Local(local) = statement else {
        return None;
    };
    let (name, value) = escape::plain(local)?;
    let value = value.to_token_stream().to_string().replace(' ', "");
    matches!(&*value, "self" | "&mut*self").then_some(name)
}

/// The body of a function that makes a future, as one that waits for it.
fn awaited(body: TokenStream) -> Option<TokenStream> {
    struct Returns(bool);
    impl VisitMut for Returns {
        fn visit_expr_return_mut(&mut self, returned: &mut syn::ExprReturn) {
            self.0 &= returned
                .expr
                .as_mut()
                .is_some_and(|it| wait_for(it).is_some());
        }
        fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
        fn visit_expr_async_mut(&mut self, _: &mut syn::ExprAsync) {}
        fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    }
    let mut statements = Block::parse_within.parse2(body).ok()?;
    let mut all_wait = Returns(true);
    for statement in &mut statements {
        all_wait.visit_stmt_mut(statement);
    }
    match statements.last_mut()? {
        Stmt::Expr(made, None) if all_wait.0 => wait_for(made)?,
        _ => return None,
    }
    Some(quote::quote!(#(#statements)*))
}

/// Waits for a future, unless a type gives it a box.
fn wait_for(made: &mut Expr) -> Option<()> {
    let future = match made {
        Expr::Call(call) if call.func.to_token_stream().to_string().ends_with("pin") => {
            call.args.first()?
        }
        Expr::MethodCall(call) if call.method.to_string().starts_with("boxed") => &call.receiver,
        Expr::Call(_) | Expr::MethodCall(_) | Expr::Path(_) => made,
        _ => return None,
    };
    // What a block moves is the next attempt's, too, and one error is enough.
    if matches!(future, Expr::Async(block) if block.capture.is_some()) {
        return None;
    }
    let waits = syn::ExprAwait {
        attrs: Vec::new(),
        dot_token: <Token![.]>::default(),
        await_token: Token![await](future.span()),
        base: Box::new(future.clone()),
    };
    *made = Expr::Await(waits);
    Some(())
}

/// Refuses an attempt that lets a mutable reference point to another place: only its own attempt has that one.
pub(super) fn advanced(function: &Function, flow: &Flow, faults: &mut Diagnostics) {
    let Some(body) = function.body.as_ref().map(Group::stream) else {
        return;
    };
    let inputs = function.signature.inputs.iter();
    let typed = inputs.filter_map(|input| match input {
        FnArg::Typed(typed) => movable(typed),
        FnArg::Receiver(_) => None,
    });
    let mut names: Vec<_> = typed.cloned().collect();
    let tokens: Vec<_> = body.clone().into_iter().collect();
    let block = match flow {
        Flow::Future { boxed } => AsyncBlock::retried(&tokens, *boxed),
        Flow::Sync | Flow::Async => None,
    };
    // What stands in front of an async block runs once.
    for statement in block.iter().flat_map(AsyncBlock::statements) {
        if let Stmt::Local(local) = statement {
            let bound = escape::names_in(&local.pat);
            names.retain(|it| !bound.contains(it));
            if let Pat::Type(typed) = &local.pat {
                names.extend(movable(typed).cloned());
            }
        }
    }
    let body = block.map_or(body, |it| it.block.stream());
    // What is taken out of a reference leaves an empty one, which each attempt may have.
    if names.is_empty() || has_word(&body, "take") || has_word(&body, "replace") {
        return;
    }
    let Ok(statements) = Block::parse_within.parse2(body) else {
        return;
    };
    for name in &names {
        let mut found = Assigned {
            name,
            place: None,
            is_bound: false,
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

/// The name that is a mutable reference by its type, and `mut`.
fn movable(typed: &PatType) -> Option<&Ident> {
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
}

impl<'ast> Visit<'ast> for Assigned<'_> {
    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        let is_it = matches!(&*assign.left, Expr::Path(path) if path.path.is_ident(self.name));
        if is_it {
            self.place.get_or_insert(assign.left.span());
        }
        visit::visit_expr_assign(self, assign);
    }

    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        self.is_bound |= pat.ident == *self.name;
        visit::visit_pat_ident(self, pat);
    }
}
