//! What a loop does with a failed attempt: which errors end it, what it logs, how long it sleeps, and what it does
//! besides.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use syn::{Expr, Pat, Stmt};

use super::conditions::{Guard, Time};
use super::names;
use super::patterns::{Bound, is_any};
use crate::code::written;
use crate::suggest::brief;

/// Where in a failure something stands: the pattern of the error, and what was asked about it.
#[derive(Clone, Default)]
pub(super) struct Scope<'a> {
    pub(super) pattern: Option<&'a Pat>,
    pub(super) guards: Vec<Guard>,
    /// What arms above take: each a pattern of the error, with its guard.
    pub(super) not: Vec<Guard>,
    /// What takes the way of another branch.
    pub(super) unless: Vec<Guard>,
    /// What is bound to the error, or a part of it.
    pub(super) bound: BTreeSet<String>,
    /// What of that is there by value.
    pub(super) values: BTreeSet<String>,
    /// A name for what an expression may say: `Some(after) = error.retry_after()`.
    pub(super) given: Option<(String, String)>,
}

impl<'a> Scope<'a> {
    /// Of the error behind this pattern; `is_borrowed` if it binds references.
    pub(super) fn of(pattern: Option<&'a Pat>, is_borrowed: bool) -> Self {
        let bound = pattern.map(Bound::of).unwrap_or_default();
        let all = bound.all();
        let values = if is_borrowed {
            BTreeSet::new()
        } else {
            bound.values
        };
        Self {
            pattern,
            bound: all,
            values,
            ..Self::default()
        }
    }

    pub(super) fn with(&self, guard: Guard) -> Self {
        let mut scope = self.clone();
        scope.guards.push(guard);
        scope
    }

    /// Whether every error is meant.
    pub(super) fn is_any(&self) -> bool {
        self.guards.is_empty() && self.pattern.is_none_or(is_any)
    }
}

/// An error that ends the loop, or one that does not.
#[derive(Clone)]
pub(super) struct Case<'a> {
    pub(super) scope: Scope<'a>,
    pub(super) again: bool,
    /// Whether what follows in the body of the loop decides.
    pub(super) falls: bool,
}

impl<'a> Case<'a> {
    /// One that is tried again.
    pub(super) const fn again(scope: Scope<'a>) -> Self {
        Self {
            scope,
            again: true,
            falls: false,
        }
    }
}

/// A line of a log: a macro, or the call of a function that logs.
pub(super) struct Log<'a> {
    pub(super) scope: Scope<'a>,
    pub(super) line: TokenStream,
    /// Whether it takes values of any type, as macros that format do.
    pub(super) formats: bool,
}

/// What becomes of a failed attempt.
#[derive(Default)]
pub(super) struct Failure<'a> {
    /// The first that is met decides.
    pub(super) cases: Vec<Case<'a>>,
    pub(super) logs: Vec<Log<'a>>,
    /// What it logs on the way out.
    pub(super) last_logs: Vec<String>,
    /// What it sleeps for, with the variables of the loop in place of their names.
    pub(super) sleeps: Vec<(Scope<'a>, &'a Expr)>,
    /// What it sleeps for on each way to the next attempt, where no error says it.
    pub(super) delays: BTreeSet<Vec<String>>,
    /// What it sets of delays and counts after some failures only.
    pub(super) partial_steps: BTreeSet<String>,
    /// The numbers of attempts that it asks for and goes on.
    pub(super) counts: Vec<String>,
    /// What else it does, and whether that may end it.
    pub(super) besides: Vec<(String, bool)>,
    /// What decides, and cannot be asked about an error.
    pub(super) unclear: Vec<String>,
    /// How long the loop goes on.
    pub(super) time: Option<Time<'a>>,
    /// Limits of which one alone does not end it.
    pub(super) together: Vec<String>,
    /// Results that are a success and do not end it.
    pub(super) not_final: Vec<String>,
    pub(super) exits: Exits,
}

/// What the loop ends with after a failure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Exits {
    /// It does not end, or elsewhere.
    #[default]
    None,
    /// The error of the attempt.
    Same,
    /// The same as an error of another type, by `into`.
    Converted,
    /// Something else.
    Other,
}

impl Failure<'_> {
    /// Moves what it has done since then into another one.
    pub(super) fn move_since(&mut self, done: [usize; 3], into: &mut Self) {
        let [logs, sleeps, besides] = done;
        into.logs.extend(self.logs.drain(logs..));
        into.sleeps.extend(self.sleeps.drain(sleeps..));
        into.besides.extend(self.besides.drain(besides..));
    }
}

impl Failure<'_> {
    /// The next turn asks what has failed.
    pub(super) fn is_asked_by(&mut self, next: &[&Stmt]) {
        let asks = next.iter().map(|it| brief(&written(it)));
        self.unclear
            .extend(asks.map(|it| format!("what `{it}` decides")));
    }

    /// What tells its delays apart, if it has more than one.
    pub(super) fn different_delays(&self) -> Option<String> {
        let texts = self.delays.iter().rev().map(|it| match it.as_slice() {
            [] => "not at all".to_owned(),
            all => format!("`{}`", all.join("` and `")),
        });
        let all: Vec<_> = texts.collect();
        (all.len() > 1).then(|| format!(
            "how long the loop sleeps after which failure: {}; `base` is one delay for all, and `retry_after` sets that of an error",
            all.join(", or ")
        ))
    }

    /// Whether the next attempt follows each failure at once.
    pub(super) fn never_sleeps(&self) -> bool {
        !self.delays.is_empty() && self.delays.iter().all(Vec::is_empty)
    }

    /// Whether each delay is one that the error says.
    pub(super) fn always_asked(&self) -> bool {
        let of_error = |(scope, time): &(Scope<'_>, &Expr)| !names(*time).is_disjoint(&scope.bound);
        !self.sleeps.is_empty() && self.sleeps.iter().all(of_error)
    }

    /// The first delay that no error says.
    pub(super) fn own_delay(&self) -> Option<&Expr> {
        let of_error = |(scope, time): &&(Scope<'_>, &Expr)| names(*time).is_disjoint(&scope.bound);
        self.sleeps.iter().find(of_error).map(|(_, time)| *time)
    }

    /// How much there is of what it does.
    pub(super) const fn done(&self) -> [usize; 3] {
        [self.logs.len(), self.sleeps.len(), self.besides.len()]
    }

    pub(super) fn exit(&mut self, exit: Exits) {
        self.exits = match (self.exits, exit) {
            (Exits::None, exit) => exit,
            (known, exit) if known == exit => known,
            _ => Exits::Other,
        };
    }
}
