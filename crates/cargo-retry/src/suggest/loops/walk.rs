//! The code behind a failed attempt, statement by statement -> what becomes of it.

mod branches;
mod effects;

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::spanned::Spanned as _;
use syn::visit::Visit as _;
use syn::{Arm, Block, Expr, Pat, Stmt};

use super::cases::taken;
use super::conditions::{Condition, Guard, Join};
use super::facts::{Exit, Facts, always_leaves, goes_on, is_error};
use super::failure::{Case, Failure, Log, Scope};
use super::macros::has_macro;
use super::names;
use super::patterns::{Of, of_result};
use super::tries::is_any_success;
use super::ways::{End, Ways};
use crate::code::written;
use crate::suggest::brief;

/// Reads the code behind a failed attempt.
pub(super) struct Walk<'a, 'n> {
    pub(super) failure: Failure<'a>,
    /// What is known to be done between attempts.
    between: Failure<'a>,
    /// The label of the loop.
    label: Option<String>,
    facts: &'n Facts,
    /// What may be set without doing anything else: the delays and the counts.
    settable: BTreeSet<String>,
    /// What the variables of the failure are set to.
    variables: Vec<(&'a syn::Ident, &'a Expr)>,
    ways: Ways,
    /// Whether a function of this name sleeps.
    sleeping: &'n dyn Fn(&str) -> bool,
}

impl<'a, 'n> Walk<'a, 'n> {
    pub(super) fn new(
        facts: &'n Facts,
        label: Option<&syn::Lifetime>,
        sleeping: &'n dyn Fn(&str) -> bool,
    ) -> Self {
        let delay = facts.sleep.as_ref();
        let mut settable = delay.map(names).unwrap_or_default();
        settable.extend(facts.counters.all());
        Self {
            failure: Failure::default(),
            between: Failure::default(),
            label: label.map(ToString::to_string),
            facts,
            settable,
            variables: Vec::new(),
            ways: Ways::new(),
            sleeping,
        }
    }

    /// What is done with the result before anything is asked about it.
    pub(super) fn between(&mut self, statements: &[&'a Stmt]) {
        for statement in statements {
            self.block(std::slice::from_ref(*statement), &Scope::default());
        }
    }

    /// The arms of a `match` on the result that have an error.
    pub(super) fn failing_arms(&mut self, arms: &'a [Arm], is_borrowed: bool) {
        self.arms(arms, is_borrowed);
        let of_value = arms.iter().filter(|arm| !goes_on(&arm.body));
        let of_value: BTreeSet<_> = of_value.map(|arm| written(&arm.pat)).collect();
        self.failure.not_final.retain(|it| !of_value.contains(it));
    }

    /// The arms of a `match` on the result.
    pub(super) fn arms(&mut self, arms: &'a [Arm], is_borrowed: bool) {
        // Whether an arm above takes every success.
        let mut is_taken = false;
        let mut fork = self.ways.fork();
        let mut above = Vec::new();
        for arm in arms {
            let goes_on = !always_leaves(&arm.body) || goes_on(&arm.body);
            for of in of_result(&arm.pat) {
                let is_success = matches!(of, Of::Success);
                if goes_on && (is_success || (matches!(of, Of::Any) && !is_taken)) {
                    self.failure.not_final.push(written(&arm.pat));
                }
                let mut scope = match of {
                    Of::Success => {
                        is_taken |= is_any_success(&arm.pat);
                        continue;
                    }
                    Of::Error(pattern) => Scope::of(Some(pattern), is_borrowed),
                    Of::Any => Scope::default(),
                    Of::Other => {
                        let what = format!("what `{}` is", written(&arm.pat));
                        self.failure.unclear.push(what);
                        self.ways.end(&mut fork, End::Falls);
                        continue;
                    }
                };
                scope.not.clone_from(&above);
                let end = self.arm(arm, scope);
                self.ways.end(&mut fork, end);
                above.extend(self.taken(end));
            }
        }
        self.ways.join(fork);
    }

    /// What the arm that was read last takes of the errors that are tried again.
    fn taken(&self, end: End) -> Option<Guard> {
        let last = self.failure.cases.last().filter(|_| end != End::Leaves);
        last.and_then(taken)
    }

    /// The branch of an `if let Err(pattern)`, or what comes after one of `Ok`.
    pub(super) fn branch(&mut self, pattern: Option<&'a Pat>, block: &'a Block, is_borrowed: bool) {
        let scope = Scope::of(pattern, is_borrowed);
        let end = self.only_way(|this| this.block(&block.stmts, &scope));
        self.case(scope, end);
    }

    /// Code that every failure comes to.
    fn only_way(&mut self, walk: impl FnOnce(&mut Self) -> End) -> End {
        let mut fork = self.ways.fork();
        let end = walk(self);
        self.ways.end(&mut fork, end);
        self.ways.join(fork);
        end
    }

    /// What follows in the body of the loop, for the errors that come there, by this name if they have one.
    pub(super) fn rest(
        &mut self,
        statements: &'a [Stmt],
        error: Option<&'a Pat>,
        is_borrowed: bool,
    ) {
        let met = std::mem::take(&mut self.failure.cases);
        let scope = Scope::of(error, is_borrowed);
        let end = self.only_way(|this| this.block(statements, &scope));
        self.case(scope, end);
        let rest = std::mem::take(&mut self.failure.cases);
        if met.is_empty() {
            self.failure.cases = rest;
            return;
        }
        for case in met {
            if !case.falls {
                self.failure.cases.push(case);
                continue;
            }
            for after in &rest {
                if case.scope.is_any() {
                    self.failure.cases.push(after.clone());
                    continue;
                }
                let mut scope = case.scope.clone();
                scope.guards.extend(after.scope.guards.iter().cloned());
                self.failure.cases.push(Case { scope, ..*after });
            }
        }
    }

    /// The way of a success, which leaves the loop in any case or not.
    pub(super) fn success(&mut self, leaves: bool) {
        if !leaves {
            self.failure.not_final.push("Ok(_)".to_owned());
        }
    }

    /// What stands behind `else` of an `if let Ok(..)`.
    pub(super) fn other(&mut self, other: &'a Expr) {
        let scope = Scope::default();
        let end = self.only_way(|this| this.body(other, &scope));
        self.case(scope, end);
    }

    /// What was found. A guard that names something of the loop, which declares `own`, can be asked nowhere else.
    pub(super) fn finished(mut self, own: &BTreeSet<String>, counts_turns: bool) -> Failure<'a> {
        let end = self.failure.cases.iter().position(|it| it.scope.is_any());
        self.failure
            .cases
            .truncate(end.map_or(usize::MAX, |it| it.saturating_add(1)));
        let cases = self.failure.cases.iter();
        let guards = cases.flat_map(|it| it.scope.guards.iter().map(|guard| (&it.scope, guard)));
        let foreign = guards.filter(|(scope, guard)| {
            let names = guard.names.iter();
            let mut own = names.filter(|it| own.contains(*it) && !scope.bound.contains(*it));
            own.next().is_some() || guard.text.contains(".await") || guard.text.contains('?')
        });
        let unclear: Vec<_> = foreign
            .map(|(_, it)| format!("what `{}` decides", brief(&it.text)))
            .collect();
        self.failure.unclear.extend(unclear);
        self.between.move_since([0; 3], &mut self.failure);
        let place = |it: &Log<'_>| it.line.span().byte_range().start;
        self.failure.logs.sort_by_key(place);
        let besides = self.failure.besides.iter();
        let ends = besides.filter(|(_, ends)| *ends);
        let ends: Vec<_> = ends.map(|(it, _)| format!("what `{it}` decides")).collect();
        self.failure.unclear.extend(ends);
        self.failure.delays = self.ways.delays();
        self.failure.partial_steps = self.ways.partial_steps();
        self.failure.last_logs = self.ways.last_logs(counts_turns);
        self.failure
    }

    fn case(&mut self, scope: Scope<'a>, end: End) {
        let (again, falls) = (end != End::Leaves, end == End::Falls);
        let case = Case {
            scope,
            again,
            falls,
        };
        self.failure.cases.push(case);
    }

    /// An arm whose pattern the scope has, but for its guard.
    fn arm(&mut self, arm: &'a Arm, scope: Scope<'a>) -> End {
        let Pat::Guard(it) = &arm.pat else {
            let end = self.body(&arm.body, &scope);
            self.case(scope, end);
            return end;
        };
        let condition = Condition::of(&it.guard, &self.facts.counters, &scope.bound);
        self.limited(&condition);
        let scope = if condition.is_limit() {
            scope
        } else {
            scope.with(condition.guard(&scope.values))
        };
        let end = if condition.is_limit() {
            self.behind_limit(|this| this.body(&arm.body, &scope))
        } else {
            self.body(&arm.body, &scope)
        };
        let is_over = end == End::Leaves;
        self.together(&it.guard, &condition, is_over);
        if condition.is_limit() {
            // A count that is over says nothing of the error; one that is not is as if it were not asked.
            if !is_over {
                self.failure.counts.push(brief(&written(&it.guard)));
                self.case(scope, end);
            }
            return end;
        }
        if condition.has_limit() && (condition.join == Join::Or) != is_over {
            self.unclear(&it.guard);
        }
        self.case(scope, end);
        end
    }

    fn limited(&mut self, condition: &Condition<'a>) {
        self.failure.time = condition.time.or(self.failure.time);
        if let Some(it) = condition.uncounted {
            self.unclear(it);
        }
        for part in condition.others() {
            if Exit::of(part).may_leave {
                self.unclear(part);
            }
        }
    }

    /// A policy ends where one limit is reached.
    fn together(&mut self, asked: &Expr, condition: &Condition<'_>, is_over: bool) {
        if condition.needs_each(is_over) {
            self.failure.together.push(brief(&written(asked)));
        }
    }

    fn unclear(&mut self, condition: &Expr) {
        let what = format!("what `{}` decides", brief(&written(condition)));
        self.failure.unclear.push(what);
    }

    /// What is done on the way out of the loop is not done between attempts.
    fn block(&mut self, statements: &'a [Stmt], scope: &Scope<'a>) -> End {
        let done = self.failure.done();
        let end = self.statements(statements, scope);
        match end {
            End::Falls => {}
            End::Again => self.failure.move_since(done, &mut self.between),
            End::Leaves => {
                self.failure.move_since(done, &mut Failure::default());
            }
        }
        end
    }

    fn statements(&mut self, statements: &'a [Stmt], scope: &Scope<'a>) -> End {
        let mut is_again = false;
        for statement in statements {
            let end = match statement {
                Stmt::Local(local) => {
                    self.local(local, scope);
                    End::Falls
                }
                Stmt::Item(_) => End::Falls,
                Stmt::Macro(it) => self.of_macro(&it.attrs, &it.mac, scope),
                // A count that is not over goes on, and what follows ends the loop.
                Stmt::Expr(Expr::If(it), _) => match self.condition(it, scope) {
                    (End::Again, true) => {
                        is_again = true;
                        End::Falls
                    }
                    (end, _) => end,
                },
                Stmt::Expr(expr, _) => self.body(expr, scope),
            };
            match end {
                End::Falls => {}
                End::Leaves if is_again => {
                    self.ways.leave();
                    return End::Again;
                }
                end => return end,
            }
        }
        if is_again { End::Again } else { End::Falls }
    }

    /// Something else that it does. What of that may end the loop says which errors do.
    fn besides(&mut self, code: &impl ToTokens) {
        let text = brief(&written(code));
        let code = code.to_token_stream();
        let statement = syn::parse2::<Stmt>(code.clone());
        let statement = statement
            .or_else(|_| syn::parse2::<Expr>(code).map(|it| Stmt::Expr(it, None)))
            .ok();
        let exit = statement.as_ref().map(Exit::of_statement);
        let exit = exit.unwrap_or_default();
        let sleep = statement.as_ref().map(Facts::of_statement);
        if let Some(it) = sleep.and_then(|it| it.sleep) {
            self.ways.sleeps(&written(&it));
        }
        let ends = exit.fails || exit.leaves || exit.may_leave;
        self.failure.besides.push((text, ends));
    }

    fn local(&mut self, local: &'a syn::Local, scope: &Scope<'a>) {
        let Some(init) = &local.init else { return };
        self.settable.extend(names(&local.pat));
        if let Pat::Ident(name) = &local.pat {
            self.variables.push((&name.ident, &init.expr));
        }
        match &*init.expr {
            Expr::Match(_) | Expr::If(_) if is_value(&init.expr) => {}
            Expr::Match(it) => _ = self.matching(it, scope),
            Expr::If(it) => _ = self.condition(it, scope),
            expr => {
                let exit = Exit::of(expr);
                let is_more = exit.fails || exit.may_leave || exit.awaits || borrows_mut(expr);
                if is_more || init.diverge.is_some() {
                    self.besides(local);
                }
            }
        }
    }

    fn body(&mut self, expr: &'a Expr, scope: &Scope<'a>) -> End {
        match expr {
            Expr::Return(it) => self.leaves(it.expr.as_deref(), scope),
            Expr::Break(it) => self.leaves(it.expr.as_deref(), scope),
            Expr::Try(it) if is_error(&it.expr) => self.leaves(Some(expr), scope),
            Expr::Continue(it) => match &it.label {
                // Of a loop around this one.
                Some(label) if self.label != Some(label.to_string()) => self.leaves(None, scope),
                _ => End::Again,
            },
            Expr::Block(it) => self.block(&it.block.stmts, scope),
            Expr::Unsafe(it) => self.block(&it.block.stmts, scope),
            Expr::Paren(it) => self.body(&it.expr, scope),
            Expr::Await(it) => self.body(&it.base, scope),
            Expr::If(it) => self.condition(it, scope).0,
            Expr::Match(it) => self.matching(it, scope),
            Expr::Macro(it) => self.of_macro(&it.attrs, &it.mac, scope),
            Expr::Assign(it) => {
                let target = written(&it.left).to_lowercase();
                let is_error = target.contains("err") || target.contains("last");
                let is_step = !names(&it.left).is_disjoint(&self.settable);
                if is_step {
                    self.ways.sets(&written(expr));
                } else if !is_error && written(&it.left) != "_" {
                    self.besides(expr);
                }
                End::Falls
            }
            Expr::Binary(it) => {
                if names(&it.left).is_disjoint(&self.settable) {
                    self.besides(expr);
                } else {
                    self.ways.sets(&written(expr));
                }
                End::Falls
            }
            Expr::Call(_) | Expr::MethodCall(_) => self.call(expr, scope),
            Expr::Path(_) | Expr::Lit(_) | Expr::Tuple(_) => End::Falls,
            other => {
                self.besides(other);
                End::Falls
            }
        }
    }
}

/// Whether it borrows something to change it: `&mut name`.
fn borrows_mut(expr: &Expr) -> bool {
    struct Borrows(bool);
    impl<'ast> syn::visit::Visit<'ast> for Borrows {
        fn visit_expr_reference(&mut self, it: &'ast syn::ExprReference) {
            self.0 |= it.mutability.is_some();
            syn::visit::visit_expr_reference(self, it);
        }
    }
    let mut borrows = Borrows(false);
    borrows.visit_expr(expr);
    borrows.0
}

/// Whether a `match` or an `if` does nothing but give a value.
fn is_value(expr: &Expr) -> bool {
    let (exit, mut facts) = (Exit::of(expr), Facts::default());
    facts.visit_expr(expr);
    let leads = exit.leaves || exit.goes_on || exit.fails || exit.may_leave || exit.awaits;
    !(leads || facts.sleep.is_some() || !facts.set.is_empty() || has_macro(expr))
}
