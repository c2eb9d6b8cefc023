//! The condition under which a loop ends or goes on: what of it is a limit, and what is about the error.

use std::collections::BTreeSet;

use syn::{BinOp, Expr, UnOp};

use super::facts::has_word;
use super::names;
use super::patterns::shown;
use super::render::{mentioned, negated, rendered};
use crate::code::written;

/// The words of what counts attempts.
pub(super) const COUNTS: &[&str] = &["attempt", "retr", "tries", "count", "fail"];

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
    /// Whether a number of attempts or the time is compared.
    pub(super) has_limit: bool,
    /// The time that a loop has.
    pub(super) time: Option<Time<'a>>,
}

impl<'a> Condition<'a> {
    /// Of `condition`; `counters` count attempts, `errors` are names of the error.
    pub(super) fn of(
        condition: &'a Expr,
        counters: &BTreeSet<String>,
        errors: &BTreeSet<String>,
    ) -> Self {
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
        let (mut found, mut has_limit, mut time) = (Vec::new(), false, None);
        for (part, is_not) in all {
            if !names(part).is_disjoint(errors) {
                found.push((part, is_not));
            } else if let Some(limit) = elapsed(part) {
                (has_limit, time) = (true, time.or(Some(limit)));
            } else if is_count(part, counters) {
                has_limit = true;
            } else {
                found.push((part, is_not));
            }
        }
        Self {
            join,
            parts: found,
            has_limit,
            time,
        }
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
        let names = self.parts.iter().flat_map(|(part, _)| mentioned(part));
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

pub(super) fn unparenthesized(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(it) => unparenthesized(&it.expr),
        expr => expr,
    }
}

const fn is_comparison(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) | BinOp::Eq(_) | BinOp::Ne(_)
    )
}

/// Whether it may be a number: not `Kind::Variant`.
pub(super) fn is_number_like(expr: &Expr) -> bool {
    match unparenthesized(expr) {
        Expr::Path(it) => it.path.segments.last().is_some_and(|it| {
            let name = it.ident.to_string();
            !name.starts_with(char::is_uppercase) || !name.contains(char::is_lowercase)
        }),
        Expr::Call(_) | Expr::Struct(_) => false,
        _ => true,
    }
}

/// Whether a number of attempts is compared.
fn is_count(part: &Expr, counters: &BTreeSet<String>) -> bool {
    match part {
        Expr::Paren(it) => is_count(&it.expr, counters),
        Expr::Binary(it) if matches!(it.op, BinOp::And(_) | BinOp::Or(_)) => {
            is_count(&it.left, counters) && is_count(&it.right, counters)
        }
        Expr::Binary(it) if is_comparison(it.op) && !is_number_like(&it.right) => false,
        Expr::Binary(it) if is_comparison(it.op) => [&it.left, &it.right].into_iter().any(|side| {
            !names(side).is_disjoint(counters)
                || (matches!(**side, Expr::Path(_) | Expr::Field(_) | Expr::Binary(_))
                    && has_word(&written(side), COUNTS))
        }),
        _ => false,
    }
}

/// `start.elapsed() >= limit` with the limit, or another comparison of times without one.
pub(super) fn elapsed(part: &Expr) -> Option<Time<'_>> {
    let Expr::Binary(it) = unparenthesized(part) else {
        return None;
    };
    if !is_comparison(it.op) {
        return None;
    }
    let is_elapsed = |side: &Expr| match unparenthesized(side) {
        Expr::MethodCall(it) => it.method == "elapsed" && it.args.is_empty(),
        _ => false,
    };
    if is_elapsed(&it.left) {
        return Some(Time::Length(&it.right));
    }
    if is_elapsed(&it.right) {
        return Some(Time::Length(&it.left));
    }
    let all = names(part);
    let is_time = ["elapsed", "now", "deadline"]
        .iter()
        .any(|it| all.contains(*it));
    is_time.then_some(Time::Other)
}
