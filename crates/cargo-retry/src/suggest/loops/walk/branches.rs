//! Where an `if` or a `match` leads to after a failure.

use std::collections::BTreeSet;

use syn::{Arm, Expr, ExprIf, ExprMatch, Pat};

use super::effects::is_error;
use super::{End, Walk};
use crate::suggest::loops::cases::taken;
use crate::suggest::loops::conditions::{Condition, Guard, Join};
use crate::suggest::loops::counters::Counters;
use crate::suggest::loops::failure::{Case, Scope};
use crate::suggest::loops::names;
use crate::suggest::loops::patterns::{Bound, is_any, name, shown};
use crate::suggest::loops::render::rendered;

impl<'a> Walk<'a, '_> {
    /// Where an `if` goes, and whether that is for a limit.
    pub(super) fn condition(&mut self, it: &'a ExprIf, scope: &Scope<'a>) -> (End, bool) {
        let condition = Condition::of(&it.cond, &self.facts.counters, &scope.bound);
        let time = self.failure.time;
        self.limited(&condition);
        let other = it.else_branch.as_ref().map(|(_, it)| &**it);
        let is_sequence = condition
            .binding()
            .is_some_and(|it| self.facts.may_end(&it.expr));
        if condition.is_limit() || is_sequence {
            if let (true, Some(it)) = (is_sequence, condition.binding()) {
                self.settable.extend(names(&it.pat));
            }
            let mut fork = self.ways.fork();
            let then = self.behind_limit(|this| this.block(&it.then_branch.stmts, scope));
            self.ways.end(&mut fork, then);
            self.together(&it.cond, &condition, then == End::Leaves);
            let other =
                self.behind_limit(|this| other.map_or(End::Falls, |it| this.body(it, scope)));
            self.ways.end(&mut fork, other);
            self.ways.join_of_limit(fork);
            if (then, other) == (End::Falls, End::Falls) {
                // It ends nothing.
                self.failure.time = time;
            }
            return match (then, other) {
                (End::Leaves, end) | (end, End::Leaves) => (end, true),
                (End::Again, _) | (_, End::Again) => (End::Again, true),
                _ => (End::Falls, true),
            };
        }
        let inner = Self::inner(&condition, scope);
        let mut fork = self.ways.fork();
        let then = self.block(&it.then_branch.stmts, &inner);
        self.ways.end(&mut fork, then);
        let behind = self.failure.cases.len();
        let outside = Self::outside(&condition, scope).filter(|_| then != End::Leaves);
        let outside = outside.as_ref().unwrap_or(scope);
        let other_end = other.map_or(End::Falls, |it| self.body(it, outside));
        self.ways.end(&mut fork, other_end);
        self.ways.join(fork);
        // With a limit beside it, one way alone says what is so of the error.
        let says = |end: End| {
            !condition.has_limit() || (condition.join == Join::Or) == (end == End::Leaves)
        };
        let end = match (then, other_end) {
            (End::Falls, End::Falls | End::Again) => return (End::Falls, false),
            (End::Falls | End::Again, End::Leaves) => {
                self.case(scope.clone(), End::Leaves);
                then
            }
            (End::Leaves | End::Again, end) => end,
        };
        let (again, falls) = (then != End::Leaves, then == End::Falls);
        self.failure.cases.insert(
            behind,
            Case {
                scope: inner,
                again,
                falls,
            },
        );
        if !says(then) {
            self.unclear(&it.cond);
        }
        (end, false)
    }

    /// What is asked on the way out, once a limit is reached, says nothing of the errors before.
    pub(super) fn behind_limit(&mut self, walk: impl FnOnce(&mut Self) -> End) -> End {
        let known = (self.failure.cases.len(), self.failure.unclear.len());
        let end = walk(self);
        if end == End::Leaves {
            self.failure.cases.truncate(known.0);
            self.failure.unclear.truncate(known.1);
        }
        end
    }

    /// The scope of the branch of a condition.
    fn inner(condition: &Condition<'a>, scope: &Scope<'a>) -> Scope<'a> {
        if let Some(it) = condition.binding()
            && is_error(&it.expr, scope)
        {
            let is_borrowed = scope.values.is_empty() || matches!(&*it.expr, Expr::Reference(_));
            let mut inner = Scope::of(Some(&it.pat), is_borrowed);
            inner.guards.clone_from(&scope.guards);
            return inner;
        }
        let mut inner = scope.with(condition.guard(&scope.values));
        if let Some(it) = condition.binding()
            && !names(&it.expr).is_disjoint(&scope.bound)
        {
            let bound = Bound::of(&it.pat).all();
            inner.given = some(&it.pat).map(|name| (name, rendered(&it.expr, &scope.values)));
            inner.bound.extend(bound);
        }
        inner
    }

    /// The scope of its `else`.
    fn outside(condition: &Condition<'a>, scope: &Scope<'a>) -> Option<Scope<'a>> {
        let mut outside = scope.clone();
        match condition.binding() {
            Some(it) if is_error(&it.expr, scope) => {
                let inner = Scope::of(Some(&it.pat), true);
                outside.not.extend(taken(&Case::again(inner)));
            }
            _ => outside.unless.push(condition.guard(&scope.values)),
        }
        (!condition.has_limit()).then_some(outside)
    }

    /// A `match` on the error, on what it says, or on the next delay.
    pub(super) fn matching(&mut self, it: &'a ExprMatch, scope: &Scope<'a>) -> End {
        let mut fork = self.ways.fork();
        if self.facts.may_end(&it.expr) {
            let mut end = End::Leaves;
            for arm in &it.arms {
                self.settable.extend(names(&arm.pat));
                let arm = self.body(&arm.body, scope);
                self.ways.end(&mut fork, arm);
                end = if end == End::Leaves { arm } else { end };
            }
            self.ways.join(fork);
            return end;
        }
        let is_of_error = is_error(&it.expr, scope);
        if !is_of_error && names(&it.expr).is_disjoint(&scope.bound) {
            self.besides(it);
            return End::Falls;
        }
        let is_borrowed = scope.values.is_empty() || matches!(&*it.expr, Expr::Reference(_));
        let asked = rendered(&it.expr, &scope.values);
        let mut end = End::Leaves;
        let mut above = scope.clone();
        for arm in &it.arms {
            let pattern = match &arm.pat {
                Pat::Guard(it) => &*it.pat,
                pattern => pattern,
            };
            let inner = if is_of_error {
                let mut inner = Scope::of(Some(pattern), is_borrowed);
                inner.guards.clone_from(&scope.guards);
                inner.not.clone_from(&above.not);
                inner
            } else if is_any(pattern) {
                above.clone()
            } else {
                above.with(matched(&asked, arm, &self.facts.counters))
            };
            let way = if is_of_error || is_any(pattern) {
                let way = self.arm(arm, inner);
                above.not.extend(self.taken(way).filter(|_| is_of_error));
                way
            } else {
                let way = self.body(&arm.body, &inner);
                let taken = inner.guards.last().cloned();
                above.unless.extend(taken.filter(|_| way != End::Leaves));
                self.case(inner, way);
                way
            };
            self.ways.end(&mut fork, way);
            end = match (end, way) {
                (End::Falls, _) | (_, End::Falls) => End::Falls,
                (End::Again, _) | (_, End::Again) => End::Again,
                _ => End::Leaves,
            };
        }
        self.ways.join(fork);
        end
    }
}

/// `matches!(error.kind(), pattern if guard)`.
fn matched(asked: &str, arm: &Arm, counters: &Counters) -> Guard {
    let (pattern, guard) = match &arm.pat {
        Pat::Guard(it) => (&*it.pat, Some(&*it.guard)),
        pattern => (pattern, None),
    };
    let bound = Bound::of(pattern).all();
    let guard = guard.map(|it| Condition::of(it, counters, &bound));
    let guard = guard.filter(|it| !it.is_limit());
    let guard = guard.map(|it| it.guard(&BTreeSet::new()));
    let mut names = names(&arm.pat);
    let used = guard
        .as_ref()
        .map(|it| it.names.clone())
        .unwrap_or_default();
    let text = match &guard {
        Some(guard) => format!(
            "matches!({asked}, {} if {})",
            shown(pattern, &used),
            guard.text
        ),
        None => format!("matches!({asked}, {})", shown(pattern, &used)),
    };
    names.extend(used);
    // What the pattern binds itself is known there.
    names.retain(|it| !bound.contains(it));
    // Of the error are the names in what is asked.
    let words = asked.split(|it: char| !it.is_alphanumeric() && it != '_');
    names.extend(words.map(ToOwned::to_owned));
    Guard {
        opposite: format!("!{text}"),
        text,
        names,
    }
}

/// The name in `Some(name)`.
fn some(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::TupleStruct(it) if it.path.is_ident("Some") => it.elems.first().and_then(name),
        _ => None,
    }
}
