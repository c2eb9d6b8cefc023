//! What an answer is made of, through variables, patterns and calls: the code in which a borrow of a parameter may begin.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens as _;
use syn::{Expr, Stmt};

use super::apart::{Use, is_used};
use super::variables::{Binding, names_in};
use crate::tokens::is_of;

/// The code that makes a part of the answer of a parameter.
pub(super) struct Made {
    /// The expressions.
    pub(super) code: Vec<TokenStream>,
    /// What they do with the parameter.
    pub(super) uses: Vec<Use>,
}

impl Made {
    /// What successes are made of; a parameter of which a variable has the name `is_hidden` from there on.
    pub(super) fn of(
        source: &Ident,
        statements: &[Stmt],
        successes: &[TokenStream],
        is_hidden: bool,
    ) -> Option<Self> {
        let mut bindings = Binding::in_all(statements);
        let hidden_by =
            |it: &Stmt| matches!(it, Stmt::Local(it) if names_in(&it.pat).contains(source));
        let end = if is_hidden {
            statements.iter().position(hidden_by)?
        } else {
            statements.len()
        };
        let is_direct = |it: &&TokenStream| !is_hidden && is_used(source, it);
        let mut code: Vec<_> = successes.iter().filter(is_direct).cloned().collect();
        let mut uses: Vec<_> = code.iter().flat_map(|it| Use::all(source, it)).collect();
        let mut pending = successes.to_vec();
        while let Some(taken) = pending.pop() {
            let is_held = |it: &Binding<'_>| {
                let mut uses = it
                    .names()
                    .into_iter()
                    .flat_map(|name| Use::all(&name, &taken));
                let is_some = matches!(it.value, Expr::Call(call) if is_of(&call.func, &["Some"]));
                uses.any(|found| found.is_value() || is_some && found.is_taken)
            };
            let (held, rest): (Vec<_>, Vec<_>) = bindings.into_iter().partition(is_held);
            bindings = rest;
            for binding in held {
                let value = binding.value.to_token_stream();
                let mut found = Use::all(source, &value);
                // What a method that may fail makes is mostly a value, such as a number of bytes.
                let is_borrow = !matches!(binding.value, Expr::Try(_) | Expr::Binary(_))
                    || found.iter().any(Use::is_lent);
                if binding.index <= end && is_borrow && !found.is_empty() {
                    // What a pattern takes apart stays where it is.
                    for it in &mut found {
                        if binding.variable().is_none() {
                            it.take_apart();
                        }
                    }
                    uses.append(&mut found);
                    code.push(value.clone());
                }
                pending.push(value);
            }
        }
        Some(Self { code, uses })
    }
}
