//! What a turn of a loop does before it asks what has become of the attempt.

use syn::{Block, Expr, Stmt};

use super::conditions::Condition;
use super::counters::{Counters, steps};
use super::facts::{Exit, Facts};
use super::macros::{UnknownMacros, may_leave};
use super::names;
use super::tries::Try;
use crate::code::written;
use crate::suggest::keys::integer;

/// What a turn does before the question.
pub(super) struct Turn<'a> {
    /// What the attempt gives.
    pub(super) operation: &'a Expr,
    /// What stands in front of that in the attempt: what it needs, and what leads nowhere else.
    pub(super) before: Vec<&'a Stmt>,
    /// What is done with the result, and is not part of the attempt.
    pub(super) between: Vec<&'a Stmt>,
    /// What is done in front of the attempt, and is not part of it.
    pub(super) first: Vec<&'a Stmt>,
    /// Whether nothing in front of the question can end the loop, or sleeps.
    pub(super) is_whole: bool,
    /// What of the operation may leave the loop, and is not known.
    pub(super) unknown: Vec<String>,
    /// What of the operation can leave the loop.
    pub(super) left: Option<String>,
}

impl<'a> Turn<'a> {
    /// Of an attempt that stands elsewhere, in the condition of a `while`.
    pub(super) const fn none(operation: &'a Expr) -> Self {
        Self {
            operation,
            before: Vec::new(),
            between: Vec::new(),
            first: Vec::new(),
            is_whole: false,
            unknown: Vec::new(),
            left: None,
        }
    }

    /// Up to the question at `place`.
    pub(super) fn of(body: &'a Block, place: usize, tried: &Try<'a>, counters: &Counters) -> Self {
        let operation = tried.operation;
        let mut wanted = names(operation);
        let exit = Exit::of(operation);
        let left = (exit.fails || exit.leaves || exit.goes_on).then(|| "what is tried".to_owned());
        let mut turn = Self {
            is_whole: true,
            unknown: UnknownMacros::of(operation).0,
            left,
            ..Self::none(operation)
        };
        let made = tried.made.map(|(at, _)| at);
        for (at, statement) in body.stmts.iter().enumerate().take(place).rev() {
            let turns_away = turns_away(statement);
            let is_wanted = match statement {
                Stmt::Local(local) => {
                    let own = names(&local.pat);
                    // `let _guard = ..` is there for its end.
                    let is_unnamed = own.iter().all(|it| it.starts_with('_'));
                    is_unnamed || !own.is_disjoint(&wanted)
                }
                _ => Facts::of_statement(statement).counters.all().is_empty(),
            };
            turn.is_whole &= !turns_away;
            if is_wanted && !turns_away {
                wanted.extend(names(statement));
                turn.before.push(statement);
            } else if made.is_some_and(|made| at > made) {
                turn.between.push(statement);
            } else if !is_said(statement, turns_away, counters) {
                turn.first.push(statement);
            }
            if let (Stmt::Local(local), true, true) = (statement, is_wanted, turns_away) {
                turn.left = Some(format!("what makes `{}`", written(&local.pat)));
            }
        }
        for all in [&mut turn.before, &mut turn.between] {
            all.reverse();
        }
        turn.first.reverse();
        // Nothing of the attempt stands behind what is tried: no variable is needed.
        if let Some((at, operation)) = tried.made
            && let Some(set) = body.stmts.get(at)
            && turn.before.last().is_none_or(|it| std::ptr::eq(*it, set))
        {
            let tried = Try::part(operation);
            let Self {
                between, is_whole, ..
            } = turn;
            turn = Self::of(body, at, &tried, counters);
            turn.between = between;
            turn.is_whole &= is_whole;
        }
        turn
    }
}

/// Whether it can end the loop, or sleeps.
fn turns_away(statement: &Stmt) -> bool {
    let exit = Exit::of_statement(statement);
    let is_unknown = matches!(statement, Stmt::Macro(it) if may_leave(&it.mac));
    exit.leaves
        || exit.goes_on
        || exit.fails
        || is_unknown
        || Facts::of_statement(statement).sleep.is_some()
}

/// Whether the keys say it: a step of a count, a limit, or a value that the attempt does not need.
fn is_said(statement: &Stmt, turns_away: bool, counters: &Counters) -> bool {
    match statement {
        Stmt::Local(_) => !turns_away,
        Stmt::Expr(Expr::Assign(it), _) => steps(&it.left, &it.right).is_some(),
        Stmt::Expr(Expr::Binary(it), _) => integer(&it.right) == Some(1),
        Stmt::Expr(Expr::If(it), _) => {
            let none = std::collections::BTreeSet::new();
            let condition = Condition::of(&it.cond, counters, &none);
            let exit = super::facts::block_leaves(&it.then_branch);
            condition.is_limit() && exit && it.else_branch.is_none()
        }
        _ => false,
    }
}
