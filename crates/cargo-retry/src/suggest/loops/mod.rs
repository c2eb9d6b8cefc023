//! Loops that retry by hand: they sleep, wait in what they call, or count attempts, and a success
//! ends them.
//!
//! What is tried is the question whose success leaves the loop, with something that is no error:
//! `return Err(..)` behind an `Ok` looks for what went wrong. Macros are read as far as they look
//! like code: a `return` in a `select!` leaves the loop.

mod carried;
mod cases;
mod compiled;
mod conditions;
mod counters;
mod facts;
mod failure;
mod hooks;
mod macros;
mod parts;
mod patterns;
mod policy;
pub(super) mod poll;
mod power;
mod render;
mod touched;
mod tries;
mod turn;
mod waits;
mod walk;
mod ways;

use std::collections::BTreeSet;

use syn::visit::Visit as _;
use syn::{Expr, Pat, Stmt};

pub(super) use self::carried::fresh;
use self::carried::{Asked, changed};
use self::facts::Facts;
use self::failure::Exits;
pub(super) use self::macros::logs;
use self::parts::Parts;
pub(super) use self::patterns::{Bound, tells_no_error};
pub(super) use self::render::{names, names_behind, rendered};
use self::tries::{By, Try};
use self::turn::Turn;
use self::waits::Waits;
use super::brief;
use super::keys::{Keys, integer};
use crate::code::written;

/// What the code around a loop says of names.
pub(super) struct Around<'a> {
    /// What a variable or a constant is set to.
    pub(super) named: &'a dyn Fn(&str) -> Option<Expr>,
    /// Whether a function of this name in the same crate sleeps.
    pub(super) sleeping: &'a dyn Fn(&str) -> bool,
}

/// `sleep_backoff`, wherever it is.
fn is_sleep_of(name: &str) -> bool {
    name.starts_with("sleep_") && name != "sleep_until"
}

/// A loop that retries.
#[expect(clippy::struct_excessive_bools, reason = "facts")]
pub(super) struct Loop<'a> {
    /// What is tried, if a `match` or an `if let` says so.
    pub(super) operation: Option<&'a Expr>,
    /// What each turn does before it.
    pub(super) before: Vec<&'a Stmt>,
    /// What the code in front of the loop calls for what the first turn asks.
    pub(super) in_front: Vec<String>,
    /// The variables from outside that it sets, and the block does not.
    pub(super) changed: BTreeSet<String>,
    /// Those of them that count or are delays.
    pub(super) steps: BTreeSet<String>,
    /// What makes the number of the turn, if one of them needs it.
    pub(super) turn: Option<String>,
    pub(super) keys: Keys,
    /// Whether it asks for a success and for nothing of the error.
    pub(super) is_asked: bool,
    /// Whether the keys say why there is no operation.
    pub(super) is_explained: bool,
    /// Whether the whole of it gives what the operation gives.
    pub(super) is_plain: bool,
    /// Whether it ends the function.
    pub(super) returns: bool,
    /// Whether what follows it is never reached.
    pub(super) is_statement: bool,
    /// Whether each way out converts the error.
    pub(super) converts: bool,
}

/// `loop`, `while` and `for` as a retry.
pub(super) fn of<'a>(expr: &'a Expr, around: &Around<'_>) -> Option<Loop<'a>> {
    let parts = Parts::of(expr)?;
    let mut facts = parts.facts();
    let sleeping = |it: &str| (around.sleeping)(it) || is_sleep_of(it);
    let waits = Waits::of(&parts, &facts, &sleeping)?;
    facts.is_immediate = waits.is_immediate();
    let facts = facts;
    let sleep = facts.sleep.as_ref();
    let (place, asked) = parts.find_try(&facts)?;
    if !waits.is_clear(place, asked.as_ref()) {
        return None;
    }
    let turn = asked.as_ref().map(|it| match place {
        Some(place) => Turn::of(parts.body, place, it, &facts.counters),
        None => Turn::none(it.operation),
    });
    let between = turn.as_ref().map(|it| &*it.between).unwrap_or_default();
    let first = turn.as_ref().map(|it| &*it.first).unwrap_or_default();
    let before = Asked::of(first, &facts);
    let mut failure = parts.failure(&facts, asked.as_ref(), between, &sleeping);
    if facts.is_immediate && !failure.cases.iter().any(|it| it.again) {
        return None;
    }
    failure.is_asked_by(&before.by);
    let tried = asked.as_ref();
    let tried = tried.map(|it| it.made.map_or(it.operation, |(_, it)| it));
    let mut keys = parts.keys(&facts, &failure, tried, around);
    for what in turn.iter().flat_map(|it| &it.unknown) {
        keys.missing.push(format!(
            "whether `{}` leaves the loop: here it can end the attempt alone",
            brief(what)
        ));
    }
    for what in first {
        keys.missing.push(format!(
            "what each turn does first: `{}`; keep that, or do it in the block",
            brief(&written(what))
        ));
    }
    let unsaid = waits.missing(&facts, &failure, turn.as_ref(), tried);
    keys.missing.extend(unsaid);
    let elsewhere = parts.elsewhere();
    for way in &elsewhere {
        keys.missing.push(format!(
            "where `{way}` leads: that is around the loop; do it with what the block gives"
        ));
    }
    let refused = asked.as_ref().zip(turn.as_ref());
    let refused = refused.and_then(|(asked, turn)| refused_of(asked, turn, &facts));
    let mut found = Loop {
        turn: None,
        operation: turn.as_ref().map(|it| it.operation),
        is_plain: turn.as_ref().is_some_and(|it| it.is_whole)
            && asked.as_ref().is_some_and(|it| it.is_plain),
        is_asked: (asked.as_ref()).is_some_and(|it| matches!(it.by, Some(By::IsOk(_)))),
        returns: asked.is_some_and(|it| it.returns),
        is_statement: !matches!(expr, Expr::Loop(_)),
        converts: failure.exits == Exits::Converted,
        is_explained: false,
        keys: Keys::default(),
        in_front: before.calls(around.named),
        changed: BTreeSet::new(),
        steps: BTreeSet::new(),
        before: turn.map(|it| it.before).unwrap_or_default(),
    };
    found.changed = changed(parts.body, &found.before, &parts.declared());
    let delay = sleep.map(names).unwrap_or_default();
    let is_step = |it: &&String| delay.contains(*it) || facts.counters.has(it);
    found.steps = found.changed.iter().filter(is_step).cloned().collect();
    found.is_plain &= matches!(failure.exits, Exits::Same | Exits::Converted);
    found.is_plain &= elsewhere.is_empty();
    if let Some((name, turns)) = parts.turns {
        found.in_turns(name, turns, &mut keys);
        if facts.is_immediate && (found.turn.is_some() || found.operation.is_none()) {
            return None;
        }
    } else {
        found.counts(&facts, &mut keys);
    }
    if let Some(why) = refused {
        found.operation = None;
        found.is_explained = true;
        keys.only_missing(why);
    }
    found.keys = keys;
    Some(found)
}

/// Why what is tried cannot be retried as it stands.
fn refused_of(asked: &Try<'_>, turn: &Turn<'_>, facts: &Facts) -> Option<String> {
    if let Some(what) = &turn.left {
        return Some(format!(
            "{what} can leave the loop: move an attempt to a function that returns a `Result`, and retry that"
        ));
    }
    let other = match asked.by {
        Some(By::Match(by)) => tries::other_enum(by),
        _ => None,
    };
    if let Some(name) = other {
        return Some(format!(
            "what is tried: `{}` gives `{name}`, which is not a `Result`: move an attempt to a function that returns one, and retry that",
            brief(&written(turn.operation))
        ));
    }
    let Expr::Path(name) = asked.operation else {
        return None;
    };
    let name = name.path.get_ident()?.to_string();
    let sets = facts.assignments.iter().filter(|(it, _)| *it == name);
    let is_set_again = match asked.made {
        Some(_) => sets.count() > 1,
        None => facts.set.contains(&name),
    };
    is_set_again.then(|| format!(
        "what is tried: the loop sets `{name}` in another place: move an attempt to a function, and retry that"
    ))
}

/// Whether code sleeps, and what it calls.
pub(super) fn calls(statements: &[Stmt]) -> (bool, Vec<String>) {
    let mut facts = Facts::default();
    for statement in statements {
        facts.visit_stmt(statement);
    }
    let sleeps = facts.sleep.is_some() || facts.calls.iter().any(|it| it == "sleep_until");
    (sleeps, facts.calls)
}

/// Whether a closure changes what it captures, itself or in a closure of its own.
pub(super) fn changes(closure: &syn::ExprClosure) -> bool {
    let (mut own, mut closures) = (Bound::default(), Closures(Vec::new()));
    own.visit_expr_closure(closure);
    closures.visit_expr_closure(closure);
    let mut facts = Facts::default();
    for body in &closures.0 {
        facts.visit_expr(body);
    }
    !facts.set.is_subset(&own.all())
}

/// The bodies of a closure and of those in it.
struct Closures(Vec<Expr>);

impl<'ast> syn::visit::Visit<'ast> for Closures {
    fn visit_expr_closure(&mut self, it: &'ast syn::ExprClosure) {
        self.0.push((*it.body).clone());
        syn::visit::visit_expr_closure(self, it);
    }
}

impl Loop<'_> {
    /// Where the operation uses what the loop counts, or goes through.
    fn in_turns(&mut self, name: &Pat, turns: &Expr, keys: &mut Keys) {
        let own = names(name);
        let mut used = self.operation.map(names).unwrap_or_default();
        used.extend(self.before.iter().flat_map(names));
        if own.is_disjoint(&used) {
            return;
        }
        self.is_plain = false;
        let name = written(name);
        let first = match turns {
            Expr::Range(range) => range.start.as_deref().map_or(Some(0), integer),
            _ => None,
        };
        if let Some(first) = first.filter(|it| *it <= 1) {
            let less = if first == 0 { " - 1" } else { "" };
            self.turn = Some(format!("let {name} = {name}.number(){less};"));
            keys.hooks.push(format!("context = {name}"));
        } else {
            self.operation = None;
            self.is_explained = true;
            keys.only_missing(format!(
                "each turn tries another `{name}`, and a retry tries the same again: keep the loop, and retry inside of it"
            ));
        }
    }

    /// Where the operation uses what the loop counts by itself.
    fn counts(&mut self, facts: &Facts, keys: &mut Keys) {
        let mut used = self.operation.map(names).unwrap_or_default();
        used.extend(self.before.iter().flat_map(names));
        if let Some(name) = facts
            .counters
            .all()
            .into_iter()
            .find(|it| used.contains(it))
        {
            self.is_plain = false;
            keys.missing.push(format!(
                "the number of the attempt: what is tried uses `{name}`; with `context = attempt` that is `attempt.number()`, from 1"
            ));
        }
    }
}
