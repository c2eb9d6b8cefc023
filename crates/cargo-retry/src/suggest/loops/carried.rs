//! What a turn leaves behind in variables: for the next turn, and for the code behind the loop.

use std::collections::BTreeSet;

use syn::visit::Visit as _;
use syn::{Block, Expr, Stmt};

use super::facts::{Exit, Facts, Step};
use super::names;
use super::patterns::Bound;

/// What a turn asks, before its attempt, about the failure of the turn before it.
#[derive(Default)]
pub(super) struct Asked<'a> {
    /// The statements that ask, and may leave the loop.
    pub(super) by: Vec<&'a Stmt>,
    /// The variables that hold the failure.
    names: BTreeSet<String>,
}

impl<'a> Asked<'a> {
    /// By the statements that are no part of the attempt.
    pub(super) fn of(first: &[&'a Stmt], facts: &Facts) -> Self {
        let counters = facts.counters.all();
        let mut asked = Self::default();
        for statement in first {
            let exit = Exit::of_statement(statement);
            let mut set = names(*statement);
            set.retain(|it| facts.set.contains(it) && !counters.contains(it));
            if (exit.leaves || exit.fails) && !set.is_empty() {
                asked.by.push(statement);
                asked.names.extend(set);
            }
        }
        asked
    }

    /// What is called to set the variables in front of the loop.
    pub(super) fn calls(&self, named: &dyn Fn(&str) -> Option<Expr>) -> Vec<String> {
        let mut facts = Facts::default();
        for value in self.names.iter().filter_map(|it| named(it)) {
            facts.visit_expr(&value);
        }
        facts.calls
    }
}

/// The variables from outside that a turn sets, but for what it does in these statements.
pub(super) fn changed(
    body: &Block,
    kept: &[&Stmt],
    declared: &BTreeSet<String>,
) -> BTreeSet<String> {
    let mut changed = BTreeSet::new();
    let is_kept = |statement: &Stmt| kept.iter().any(|it| std::ptr::eq(*it, statement));
    for statement in body.stmts.iter().filter(|it| !is_kept(it)) {
        let facts = Facts::of_statement(statement);
        changed.extend(facts.assignments.into_iter().map(|(name, _)| name));
    }
    changed.difference(declared).cloned().collect()
}

/// What each turn of a loop begins anew with: what it declares, and what it sets without what that was.
pub(in crate::suggest) fn fresh(whole: &Expr) -> BTreeSet<String> {
    let (mut bound, mut facts) = (Bound::default(), Facts::default());
    bound.visit_expr(whole);
    facts.visit_expr(whole);
    let set = facts.assignments.into_iter();
    let set = set.filter_map(|(name, step)| match step {
        Step::Value(value) => Some(name).filter(|it| !names(&value).contains(it)),
        Step::Factor(_) | Step::Other => None,
    });
    bound.all().into_iter().chain(set).collect()
}
