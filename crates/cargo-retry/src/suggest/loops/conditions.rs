//! The condition under which a loop ends or goes on: what of it is a limit, and what is about the error.

use std::collections::BTreeSet;

use syn::{BinOp, Expr, UnOp};

use super::counters::{Counters, has_word, unparenthesized};
use super::names;
use super::patterns::shown;
use super::render::{negated, rendered};
use crate::code::written;
use crate::suggest::keys::integer;

/// The words of what counts attempts.
const COUNTS: &[&str] = &["attempt", "retr", "tries", "count", "fail"];

/// What each part is joined with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    And,
    Or,
}

impl Join {
    const fn other(self) -> Self {
        match self {
            Self::And => Self::Or,
            Self::Or => Self::And,
        }
    }

    const fn sign(self) -> &'static str {
        match self {
            Self::And => " && ",
            Self::Or => " || ",
        }
    }
}

/// How a loop compares the time that it has.
#[derive(Debug, Clone, Copy)]
pub(super) enum Time<'a> {
    /// `start.elapsed()` with this.
    Length(&'a Expr),
    /// In another way.
    Other,
}

/// A condition in its parts.
pub(super) struct Condition<'a> {
    pub(super) join: Join,
    /// Those that are no limit.
    parts: Vec<(&'a Expr, bool)>,
    /// How often a number of attempts or the time is compared.
    limits: usize,
    /// The time that a loop has.
    pub(super) time: Option<Time<'a>>,
    /// A comparison of what may count attempts, and nothing in the loop counts.
    pub(super) uncounted: Option<&'a Expr>,
}

impl<'a> Condition<'a> {
    /// Of `condition`; `counters` is what the loop counts, `errors` are names of the error.
    pub(super) fn of(condition: &'a Expr, counters: &Counters, errors: &BTreeSet<String>) -> Self {
        let join = match condition {
            Expr::Paren(it) => return Self::of(&it.expr, counters, errors),
            Expr::Binary(it) if matches!(it.op, BinOp::Or(_)) => Join::Or,
            Expr::Unary(it) if matches!(it.op, UnOp::Not(_)) => match unparenthesized(&it.expr) {
                Expr::Binary(it) if matches!(it.op, BinOp::Or(_)) => Join::And,
                Expr::Binary(it) if matches!(it.op, BinOp::And(_)) => Join::Or,
                _ => Join::And,
            },
            _ => Join::And,
        };
        let mut all = Vec::new();
        parts(condition, false, join, &mut all);
        let is_one_of_several = all.len() > 1;
        let (mut found, mut limits, mut time, mut uncounted) = (Vec::new(), 0_usize, None, None);
        for (part, is_not) in all {
            if !names(part).is_disjoint(errors) {
                found.push((part, is_not));
            } else if let Some(limit) = elapsed(part, &counters.times) {
                limits = limits.saturating_add(1);
                time = time.or(Some(limit));
            } else if is_count(part, counters) || (is_one_of_several && asks_next(part)) {
                limits = limits.saturating_add(1);
            } else {
                uncounted = uncounted.or_else(|| counts_elsewhere(part).then_some(part));
                found.push((part, is_not));
            }
        }
        Self {
            join,
            parts: found,
            limits,
            time,
            uncounted,
        }
    }

    /// Whether a number of attempts or the time is compared.
    pub(super) const fn has_limit(&self) -> bool {
        self.limits > 0
    }

    /// Whether a loop that goes `over` where it is so needs each of several limits for that.
    pub(super) fn needs_each(&self, over: bool) -> bool {
        self.limits > 1 && (self.join == Join::And) == over
    }

    /// Whether nothing but limits is asked.
    pub(super) const fn is_limit(&self) -> bool {
        self.parts.is_empty()
    }

    /// `if let pattern = value` that stands alone.
    pub(super) fn binding(&self) -> Option<&'a syn::ExprLet> {
        match self.parts.as_slice() {
            [(Expr::Let(it), false)] => Some(it),
            _ => None,
        }
    }

    /// What is neither a limit nor asked for the next delay.
    pub(super) fn others(&self) -> impl Iterator<Item = &'a Expr> {
        let parts = self.parts.iter().map(|(part, _)| *part);
        parts.filter(|part| match part {
            Expr::Let(it) => !is_sequence(&it.expr),
            part => written(*part) != "true",
        })
    }

    /// What is not a limit, if that can be asked about an error by itself.
    pub(super) fn guard(&self, references: &BTreeSet<String>) -> Guard {
        let parts = self.parts.iter().map(|(part, is_not)| {
            let text = as_bool(part, references);
            let opposite = match part {
                Expr::Let(_) => format!("!{text}"),
                part => negated(part, &text),
            };
            if *is_not {
                (opposite, text)
            } else {
                (text, opposite)
            }
        });
        let (texts, opposites): (Vec<_>, Vec<_>) = parts.unzip();
        let names = self.parts.iter().flat_map(|(part, _)| names(*part));
        Guard {
            names: names.collect(),
            text: joined(&texts, self.join),
            opposite: joined(&opposites, self.join.other()),
        }
    }
}

/// A condition, rendered.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    pub(super) text: String,
    pub(super) opposite: String,
    pub(super) names: BTreeSet<String>,
}

fn joined(texts: &[String], join: Join) -> String {
    let text = texts.join(join.sign());
    if texts.len() > 1 && join == Join::Or {
        return format!("({text})");
    }
    text
}

/// As an expression that is a `bool`.
fn as_bool(part: &Expr, references: &BTreeSet<String>) -> String {
    match part {
        Expr::Let(it) => {
            // What it binds, nothing uses.
            let pattern = shown(&it.pat, &BTreeSet::new());
            format!("matches!({}, {pattern})", rendered(&it.expr, references))
        }
        part => rendered(part, references),
    }
}

fn parts<'a>(condition: &'a Expr, is_not: bool, join: Join, all: &mut Vec<(&'a Expr, bool)>) {
    match condition {
        Expr::Paren(it) => parts(&it.expr, is_not, join, all),
        Expr::Unary(it)
            if matches!(it.op, UnOp::Not(_))
                && matches!(unparenthesized(&it.expr), Expr::Binary(_)) =>
        {
            parts(&it.expr, !is_not, join, all);
        }
        Expr::Binary(it) => {
            let own = match it.op {
                BinOp::And(_) => Some(if is_not { Join::Or } else { Join::And }),
                BinOp::Or(_) => Some(if is_not { Join::And } else { Join::Or }),
                _ => None,
            };
            if own == Some(join) {
                parts(&it.left, is_not, join, all);
                parts(&it.right, is_not, join, all);
            } else {
                all.push((condition, is_not));
            }
        }
        _ => all.push((condition, is_not)),
    }
}

const fn is_comparison(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) | BinOp::Eq(_) | BinOp::Ne(_)
    )
}

/// A comparison of what a loop counts.
pub(super) struct Comparison<'a> {
    pub(super) counter: String,
    /// What it adds to the counter.
    pub(super) added: i64,
    pub(super) with: &'a Expr,
    /// Whether what is equal is on this side.
    pub(super) is_beyond: bool,
}

/// `attempts >= most`, `most < attempts`, if the loop counts that.
pub(super) fn comparison<'a>(
    it: &'a syn::ExprBinary,
    counters: &Counters,
) -> Option<Comparison<'a>> {
    if !is_comparison(it.op) {
        return None;
    }
    let is_beyond = matches!(it.op, BinOp::Gt(_) | BinOp::Le(_));
    let is_within = matches!(it.op, BinOp::Lt(_) | BinOp::Ge(_));
    if let Some((counter, added)) = counter(&it.left, counters) {
        let with = &*it.right;
        return Some(Comparison {
            counter,
            added,
            with,
            is_beyond,
        });
    }
    let (counter, added) = counter(&it.right, counters)?;
    Some(Comparison {
        counter,
        added,
        with: &it.left,
        is_beyond: is_within,
    })
}

/// The counter, and what is added to it.
fn counter(side: &Expr, counters: &Counters) -> Option<(String, i64)> {
    match side {
        Expr::Paren(it) => counter(&it.expr, counters),
        Expr::Cast(it) => counter(&it.expr, counters),
        Expr::Path(_) | Expr::Field(_) | Expr::Unary(_) => {
            let name = written(side);
            counters.has(&name).then_some((name, 0))
        }
        Expr::Binary(it) => {
            let (name, added) = counter(&it.left, counters)?;
            let number = i64::try_from(integer(&it.right)?).ok()?;
            match it.op {
                BinOp::Add(_) => Some((name, added.checked_add(number)?)),
                BinOp::Sub(_) => Some((name, added.checked_sub(number)?)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a number of attempts is compared.
fn is_count(part: &Expr, counters: &Counters) -> bool {
    match part {
        Expr::Paren(it) => is_count(&it.expr, counters),
        Expr::Binary(it) if matches!(it.op, BinOp::And(_) | BinOp::Or(_)) => {
            is_count(&it.left, counters) && is_count(&it.right, counters)
        }
        Expr::Binary(it) => comparison(it, counters).is_some(),
        _ => false,
    }
}

/// Whether it compares what something else may count: a field of this name.
fn counts_elsewhere(part: &Expr) -> bool {
    let Expr::Binary(it) = unparenthesized(part) else {
        return false;
    };
    let is_name = |side: &Expr| matches!(side, Expr::Field(_) | Expr::MethodCall(_));
    is_comparison(it.op)
        && [&it.left, &it.right]
            .into_iter()
            .any(|side| is_name(side) && has_word(&written(side), COUNTS))
}

/// `let Some(delay) = delays.next()`.
fn asks_next(part: &Expr) -> bool {
    matches!(part, Expr::Let(it) if is_sequence(&it.expr))
}

/// `delays.next()`.
pub(super) fn is_sequence(expr: &Expr) -> bool {
    match unparenthesized(expr) {
        Expr::MethodCall(it) => {
            let name = it.method.to_string();
            it.args.is_empty() && (name == "next" || name.starts_with("next_"))
        }
        _ => false,
    }
}

/// `start.elapsed() >= limit` with the limit, or another comparison of times without one.
pub(super) fn elapsed<'a>(part: &'a Expr, times: &BTreeSet<String>) -> Option<Time<'a>> {
    let Expr::Binary(it) = unparenthesized(part) else {
        return None;
    };
    if !is_comparison(it.op) {
        return None;
    }
    let is_elapsed = |side: &Expr| match unparenthesized(side) {
        Expr::MethodCall(it) => it.method == "elapsed" && it.args.is_empty(),
        Expr::Path(_) => times.contains(&written(side)),
        _ => false,
    };
    if is_elapsed(&it.left) {
        return Some(Time::Length(&it.right));
    }
    if is_elapsed(&it.right) {
        return Some(Time::Length(&it.left));
    }
    let all = names(part);
    let is_time = !times.is_disjoint(&all)
        || ["elapsed", "now", "deadline"]
            .iter()
            .any(|it| all.contains(*it));
    is_time.then_some(Time::Other)
}
