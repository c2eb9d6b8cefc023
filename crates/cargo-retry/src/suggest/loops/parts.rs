//! The parts of a loop -> what it tries, what becomes of a failure, and its keys.

use std::collections::BTreeSet;

use syn::visit::Visit as _;
use syn::{Block, Expr, Pat, Stmt};

use super::cases::{self, Retried};
use super::compiled::Conditions;
use super::conditions::{Condition, Join, Time, is_sequence};
use super::counters::has_word;
use super::facts::{Exit, Facts, always_leaves, block_leaves};
use super::failure::Failure;
use super::hooks::{self, Names};
use super::policy::{self, Outside};
use super::tries::{self, By, Try};
use super::walk::Walk;
use super::{Around, patterns};
use crate::code::written;
use crate::suggest::keys::{ASKED, Keys, integer};
use crate::suggest::unique;

/// The words of what counts attempts.
const ATTEMPTS: &[&str] = &["attempt", "retr", "tries"];

/// The parts of a loop.
pub(super) struct Parts<'a> {
    pub(super) body: &'a Block,
    pub(super) turns: Option<(&'a Pat, &'a Expr)>,
    pub(super) condition: Option<&'a Expr>,
    label: Option<&'a syn::Lifetime>,
}

impl<'a> Parts<'a> {
    pub(super) fn of(expr: &'a Expr) -> Option<Self> {
        let (body, turns, condition, label) = match expr {
            Expr::Loop(it) => (&it.body, None, None, &it.label),
            Expr::While(it) => (&it.body, None, Some(&*it.cond), &it.label),
            Expr::ForLoop(it) => (&it.body, Some((&*it.pat, &*it.expr)), None, &it.label),
            _ => return None,
        };
        Some(Self {
            body,
            turns,
            condition,
            label: label.as_ref().map(|it| &it.name),
        })
    }

    pub(super) fn facts(&self) -> Facts {
        let turn = match self.turns {
            Some((name, Expr::Range(_))) => patterns::name(name),
            _ => None,
        };
        Facts::of(self.body, self.condition, turn)
    }

    /// Whether a `break` with this label, or with none, ends this loop.
    pub(super) fn is_own(&self, label: Option<&syn::Lifetime>) -> bool {
        label.is_none() || label == self.label
    }

    /// What leads out of the code around the loop: `break 'all`.
    pub(super) fn elsewhere(&self) -> BTreeSet<String> {
        let mut ways = Exit::of_block(self.body).elsewhere;
        if let Some(own) = self.label {
            ways.retain(|it| !it.ends_with(&format!(" {own}")));
        }
        ways
    }

    pub(super) fn is_counted(&self, facts: &Facts) -> bool {
        facts.is_limited() || matches!(self.turns, Some((_, Expr::Range(_))))
    }

    /// Whether it counts its turns, and calls them attempts.
    pub(super) fn counts_attempts(&self, facts: &Facts) -> bool {
        let limits = facts.limits.iter();
        let mut words: Vec<_> = limits
            .map(|it| format!("{} {}", it.counter, written(&it.with)))
            .collect();
        words.extend(facts.left.clone());
        if let Some((name, turns @ Expr::Range(_))) = self.turns {
            words.push(format!("{} {}", written(name), written(turns)));
        }
        words.iter().any(|it| has_word(it, ATTEMPTS))
    }

    /// Whether it ends behind a turn that has failed as any other.
    fn counts_turns(&self, facts: &Facts) -> bool {
        let none = BTreeSet::new();
        let asked = (self.condition).map(|it| Condition::of(it, &facts.counters, &none));
        asked.is_some_and(|it| {
            it.has_limit() || it.binding().is_some_and(|it| is_sequence(&it.expr))
        }) || self.turns.is_some_and(|(_, it)| !policy::is_endless(it))
    }

    /// What is tried, and where in the body; nothing where something that is not a result ends the loop.
    pub(super) fn find_try(&self, facts: &Facts) -> Option<(Option<usize>, Option<Try<'a>>)> {
        let statements = self.body.stmts.iter().enumerate();
        let found = statements.filter_map(|(place, it)| Some((place, tries::find(it)?)));
        // One that is only asked for a success may stand in front of the attempt.
        let found = found.min_by_key(|(_, it)| matches!(it.by, Some(By::IsOk(_))));
        let found = found.or_else(|| tries::given_on(self.body));
        let found = found.map(|(place, it)| (place, tries::through_variable(self.body, place, it)));
        let found = found.or_else(|| tries::hand_on(self.body, facts));
        match (found, self.condition.and_then(tries::failing)) {
            (Some((place, found)), _) => Some((Some(place), Some(found))),
            (None, Some(operation)) => Some((None, Some(Try::part(operation)))),
            (None, None) if facts.leaves_on_success => Some((None, None)),
            (None, None) => None,
        }
    }

    /// What becomes of a failed attempt.
    pub(super) fn failure(
        &self,
        facts: &Facts,
        found: Option<&Try<'a>>,
        between: &[&'a Stmt],
        sleeping: &dyn Fn(&str) -> bool,
    ) -> Failure<'a> {
        let mut walk = Walk::new(facts, self.label, sleeping);
        let by = found.and_then(|it| it.by);
        // Where the loop asks what has become of the attempt.
        let asks = |expr: &Expr| match (by, expr) {
            (Some(By::Match(by) | By::Given(by)), Expr::Match(it)) => std::ptr::eq(by, it),
            (Some(By::If(by, _) | By::IsOk(by)), Expr::If(it)) => std::ptr::eq(by, it),
            _ => false,
        };
        let mut statements = self.body.stmts.iter();
        let place = match found {
            Some(found) if by.is_none() => statements.position(|it| match it {
                Stmt::Local(it) => (it.init.as_ref())
                    .is_some_and(|it| std::ptr::eq(&raw const *it.expr, found.operation)),
                _ => false,
            }),
            _ => statements.position(|it| match it {
                Stmt::Local(it) if matches!(by, Some(By::Else(by, _)) if std::ptr::eq(by, it)) => {
                    true
                }
                Stmt::Expr(it, _) => asks(it),
                Stmt::Local(it) => it.init.as_ref().is_some_and(|it| asks(&it.expr)),
                _ => false,
            }),
        };
        let rest = place.and_then(|it| self.body.stmts.get(it.saturating_add(1)..));
        walk.between(between);
        match by {
            Some(By::Match(it)) => walk.arms(&it.arms, is_borrowed(&it.expr)),
            // What stands behind it is there for a success.
            Some(By::Given(it)) => walk.failing_arms(&it.arms, is_borrowed(&it.expr)),
            Some(By::If(it, pattern)) => {
                let error = tries::error(pattern);
                let borrowed = matches!(&*it.cond, Expr::Let(it) if is_borrowed(&it.expr));
                match (error, &it.else_branch) {
                    (Some(error), other) => {
                        walk.branch(Some(error), &it.then_branch, borrowed);
                        walk.success(other.as_ref().is_none_or(|(_, it)| always_leaves(it)));
                    }
                    (None, other) => {
                        walk.success(
                            block_leaves(&it.then_branch) && tries::is_any_success(pattern),
                        );
                        if let Some((_, other)) = other {
                            walk.other(other);
                        }
                    }
                }
            }
            Some(By::IsOk(it)) => {
                walk.success(block_leaves(&it.then_branch));
                if let Some((_, other)) = &it.else_branch {
                    walk.other(other);
                }
            }
            Some(By::Else(_, other)) => walk.success(always_leaves(other)),
            None => {}
        }
        if let (None, Some(Expr::Let(it))) = (by, self.condition) {
            walk.branch(tries::error(&it.pat), self.body, is_borrowed(&it.expr));
        } else if !matches!(by, Some(By::Given(_))) {
            // `let error = match attempt() { Ok(it) => return it, Err(error) => error };`
            let (error, borrowed) = match (by, place.and_then(|it| self.body.stmts.get(it))) {
                (Some(By::Else(it, _)), _) => (
                    tries::error(&it.pat),
                    (it.init.as_ref()).is_some_and(|it| is_borrowed(&it.expr)),
                ),
                (Some(by), Some(Stmt::Local(it))) if by.gives_error() => (Some(&it.pat), false),
                _ => (None, false),
            };
            walk.rest(rest.unwrap_or(&self.body.stmts), error, borrowed);
        }
        let mut own = self.declared();
        own.extend(facts.set.iter().cloned());
        let mut failure = walk.finished(&own, self.counts_turns(facts));
        let after = place.and_then(|it| self.body.stmts.get(it..));
        let conditions = Conditions::of(after.unwrap_or(&self.body.stmts)).0;
        let conditions = conditions.into_iter();
        let conditions = conditions.map(|it| format!("what `{it}` leaves out"));
        failure.unclear.extend(conditions);
        failure
    }

    /// The time that the condition of a `while` gives it.
    pub(super) fn time(&self, facts: &Facts) -> Option<Time<'a>> {
        let none = BTreeSet::new();
        Condition::of(self.condition?, &facts.counters, &none).time
    }

    /// The time that an `if` in front of the attempt gives it.
    fn over(&self, facts: &Facts) -> Option<Time<'a>> {
        let none = BTreeSet::new();
        self.body.stmts.iter().find_map(|it| match it {
            Stmt::Expr(Expr::If(it), _) if block_leaves(&it.then_branch) => {
                Condition::of(&it.cond, &facts.counters, &none).time
            }
            _ => None,
        })
    }

    /// What the condition of a `while` asks besides what the keys say.
    pub(super) fn besides(&self, facts: &Facts) -> Option<String> {
        let condition = self.condition.filter(|it| tries::failing(it).is_none())?;
        let none = BTreeSet::new();
        let parts = Condition::of(condition, &facts.counters, &none);
        let others: Vec<_> = parts.others().map(written).collect();
        let asked = match others.as_slice() {
            [] if parts.join == Join::And => return None,
            // One of several that are enough.
            _ if parts.join == Join::Or => written(condition),
            all => all.join(" && "),
        };
        Some(format!(
            "what ends the loop besides: the `while` asks `{asked}` before each attempt"
        ))
    }

    /// What the loop declares.
    pub(super) fn declared(&self) -> BTreeSet<String> {
        let mut bound = patterns::Bound::default();
        bound.visit_block(self.body);
        if let Some((name, _)) = self.turns {
            bound.visit_pat(name);
        }
        bound.all()
    }

    pub(super) fn keys(
        &self,
        facts: &Facts,
        failure: &Failure<'a>,
        tried: Option<&Expr>,
        around: &Around<'_>,
    ) -> Keys {
        let declared = self.declared();
        let mut own = declared.clone();
        own.extend(facts.set.iter().cloned());
        let range = match self.turns {
            Some((name, Expr::Range(range))) => patterns::name(name).zip(Some(range)),
            _ => None,
        };
        let named = |name: &str| (around.named)(name);
        let outside = Outside {
            own: &own,
            declared: &declared,
            named: &named,
            polls: false,
        };
        let start = |name: &str| match &range {
            Some((own, range)) if own == name => range.start.as_deref().map_or(Some(0), integer),
            _ => outside.start(name),
        };
        let delay = match &facts.sleep {
            Some(Expr::Path(path)) if !facts.is_millis => {
                path.path.get_ident().map(ToString::to_string)
            }
            _ => None,
        };
        let mut changing = declared.clone();
        changing.extend(facts.assignments.iter().map(|(name, _)| name.clone()));
        let known = Names {
            facts,
            own: &changing,
            delay,
            start: &start,
        };
        let after = hooks::retry_after(failure, &known);
        let sleep = failure.own_delay().or(facts.sleep.as_ref());
        let sleep = sleep.filter(|_| !failure.always_asked());
        let mut keys = policy::keys(
            self.turns,
            facts,
            sleep,
            self.time(facts).or(failure.time).or(self.over(facts)),
            tried,
            &outside,
        );
        on(failure, &mut keys);
        let log = hooks::on_retry(failure, &known);
        if after.key.is_some() {
            keys.differs.push(ASKED.to_owned());
        }
        for hook in [after, log] {
            keys.hooks.extend(hook.key);
            keys.missing.extend(hook.missing);
        }
        for line in &failure.last_logs {
            keys.differs.push(format!(
                "the loop logs `{line}` where an error ends it: log the error that the block gives"
            ));
        }
        for what in &failure.not_final {
            keys.missing.push(format!(
                "`until`: the loop goes on after `{what}`; say which values are final, and keep what it does with the others"
            ));
        }
        keys.missing.extend(failure.different_delays());
        for step in &failure.partial_steps {
            keys.missing.push(format!(
                "where the loop does `{step}`: that is after some failures only, and a policy counts and grows after each"
            ));
        }
        keys.missing.extend(self.besides(facts));
        for what in failure.counts.iter().filter(|_| failure.counts.len() > 1) {
            keys.missing.push(policy::by_number(what));
        }
        for what in &failure.together {
            keys.missing.push(format!(
                "`{what}`: the loop ends only where each limit is reached, and a policy where one is"
            ));
        }
        for (what, _) in &failure.besides {
            keys.missing.push(format!(
                "what the loop does between attempts: `{what}`; `before_retry = ...` does that here"
            ));
        }
        keys
    }
}

/// The key `on`.
fn on(failure: &Failure<'_>, keys: &mut Keys) {
    let missing = match cases::retried(&failure.cases) {
        _ if !failure.unclear.is_empty() => unique(&failure.unclear).join("; "),
        Retried::None => return keys.hooks.push("on = |_| false".to_owned()),
        Retried::Some(key) => return keys.hooks.push(key),
        Retried::All => {
            keys.hooks.push("on(_)".to_owned());
            keys.unknown.push(
                "which errors are worth a retry: the loop retries all, and `on(_)` does; write the patterns or a predicate".to_owned(),
            );
            return;
        }
    };
    keys.hooks.push("on = ...".to_owned());
    keys.missing.push(format!(
        "`on`, the errors that are worth a retry: the loop tells them apart, and not by the error alone ({missing})"
    ));
}

/// `&result`, `result.as_ref()`: patterns bind references.
fn is_borrowed(expr: &Expr) -> bool {
    match expr {
        Expr::Reference(_) => true,
        Expr::MethodCall(it) => it.method == "as_ref" || it.method == "as_mut",
        _ => false,
    }
}
