//! Loops that ask until something is so or the time is over: nothing fails in them.

use std::collections::BTreeSet;

use syn::visit::Visit;
use syn::{Block, Expr, ExprIf, Pat, Stmt};

use super::conditions::elapsed;
use super::counters::has_word;
use super::facts::{Exit, Facts, block_leaves, block_succeeds, is_sleep, leaves};
use super::parts::Parts;
use super::patterns::Bound;
use super::policy::{self, Outside};
use super::{Around, names, tries};
use crate::code::written;
use crate::suggest::brief;
use crate::suggest::keys::Keys;

/// A loop that polls.
pub(in crate::suggest) struct Poll<'a> {
    /// What each turn does before it asks.
    pub(in crate::suggest) before: Vec<&'a Stmt>,
    /// What it asks, and the pattern that ends it, if that is not a `bool`.
    pub(in crate::suggest) value: &'a Expr,
    pub(in crate::suggest) pattern: Option<&'a Pat>,
    /// What follows when it is so; nothing where the loop is simply left.
    pub(in crate::suggest) then: Option<&'a Block>,
    /// What follows when the time is over.
    pub(in crate::suggest) over: Option<&'a Block>,
    pub(in crate::suggest) keys: Keys,
}

/// What ends a wait that asks for nothing else.
const ENDS: &[&str] = &[
    "abort",
    "cancel",
    "closed",
    "exit",
    "interrupt",
    "shutdown",
    "stop",
];

/// A loop that compares times or counts its turns, asks, and sleeps.
pub(in crate::suggest) fn of<'a>(expr: &'a Expr, around: &Around<'_>) -> Option<Poll<'a>> {
    let parts = Parts::of(expr)?;
    let facts = parts.facts();
    let sleep = facts.sleep.as_ref()?;
    let times = &facts.counters.times;
    let ifs = || {
        let statements = parts.body.stmts.iter().enumerate();
        statements.filter_map(|(place, it)| match it {
            Stmt::Expr(Expr::If(it), _) if leaves(&it.then_branch) => Some((place, it)),
            _ => None,
        })
    };
    let over = ifs().find(|(_, it)| elapsed(&it.cond, times).is_some());
    let has_end = matches!(parts.turns, Some((_, Expr::Range(it))) if it.end.is_some());
    let time = match (parts.time(&facts), over) {
        (Some(time), _) => Some(time),
        (None, Some((_, it))) => Some(elapsed(&it.cond, times)?),
        (None, None) if has_end => None,
        (None, None) => return None,
    };
    // `if let Err(error) = step() { break; }` is not what it waits for.
    let fails = |it: &ExprIf| question(it).1.is_some_and(|it| tries::error(it).is_some());
    let turn = parts.turns.map(|(name, _)| names(name)).unwrap_or_default();
    let asks = |it: &ExprIf| {
        let asked = names(&it.cond);
        let is_other = elapsed(&it.cond, times).is_some() || it.else_branch.is_some();
        let is_it = !is_other && block_succeeds(&it.then_branch);
        is_it && asked.is_disjoint(&turn) && !asked.iter().any(|it| has_word(it, ENDS))
    };
    let (place, it) = ifs().find(|(_, it)| asks(it) && !fails(it))?;
    let declared = parts.declared();
    let mut own = declared.clone();
    own.extend(facts.set.iter().cloned());
    let outside = Outside {
        own: &own,
        declared: &declared,
        named: around.named,
        polls: true,
    };
    let mut keys = policy::keys(parts.turns, &facts, Some(sleep), time, None, &outside);
    keys.missing.extend(parts.besides(&facts));
    let (value, pattern) = question(it);
    if pattern.is_none() {
        keys.hooks.push("until = |is_so| *is_so".to_owned());
    }
    keys.missing.extend(unsaid(it));
    let mut before = Vec::new();
    for (at, statement) in parts.body.stmts.iter().enumerate() {
        let is_known = at == place || over.is_some_and(|(over, _)| at == over);
        if is_known || only_sleeps(statement) {
            continue;
        }
        if at < place && !turns_away(statement) && names(statement).is_disjoint(&turn) {
            before.push(statement);
        } else {
            keys.missing.push(format!(
                "what the loop does besides: `{}`",
                written(statement)
            ));
        }
    }
    let borrowed = pattern.and_then(|_| borrowed(value, &before));
    keys.missing.extend(borrowed.map(|name| {
        format!("whether the value borrows `{name}`, which the turn makes: give an owned one, as `.cloned()` does")
    }));
    if parts.body.stmts.iter().take(place).any(sleeps) {
        keys.differs.push(
            "the loop sleeps before it asks, and here the first question comes at once".to_owned(),
        );
    }
    let then = Some(&it.then_branch).filter(|it| !is_left(it, &parts));
    let blocks = [then, over.map(|(_, it)| &it.then_branch)]
        .into_iter()
        .flatten();
    for block in blocks.clone() {
        let pattern = pattern.filter(|_| Some(block) == then);
        let lost = lost(block, pattern, &declared);
        keys.missing.extend(lost.iter().map(|it| {
            format!("`{it}`, which only a turn of the loop has: what follows the loop names it")
        }));
    }
    if blocks.clone().any(|it| breaks(it, &parts)) {
        keys.missing
            .push("where a `break` of the loop leads to".to_owned());
    }
    Some(Poll {
        before,
        value,
        pattern,
        then,
        over: over.map(|(_, it)| &it.then_branch),
        keys,
    })
}

/// What a question does not say as one value.
fn unsaid(it: &ExprIf) -> Vec<String> {
    let (value, pattern) = question(it);
    let mut missing = Vec::new();
    if pattern.is_none() && has_let(value) {
        missing.push("what is asked, as one value: a condition with `let` is none; move it to a function that returns a `bool`".to_owned());
    }
    if Exit::of(value).fails {
        missing.push("what is asked can leave the loop: move it to a function that returns a `Result`, and say with `on` which errors are asked again".to_owned());
    }
    if !block_leaves(&it.then_branch) {
        missing.push(format!(
            "`until`: the loop goes on where the block behind `{}` does not leave it; say when it does",
            brief(&written(&it.cond))
        ));
    }
    missing
}

/// The value that is asked for, and the pattern that it has to have.
fn question(it: &ExprIf) -> (&Expr, Option<&Pat>) {
    match &*it.cond {
        Expr::Let(it) => (&it.expr, Some(&it.pat)),
        condition => (condition, None),
    }
}

/// What a turn declares and a block behind the loop names, but for what the block and this pattern bind.
fn lost(block: &Block, pattern: Option<&Pat>, declared: &BTreeSet<String>) -> Vec<String> {
    let mut known = Bound::default();
    known.visit_block(block);
    if let Some(it) = pattern {
        known.visit_pat(it);
    }
    let (used, known) = (names(block), known.all());
    let lost = used
        .intersection(declared)
        .filter(|it| !known.contains(*it));
    lost.cloned().collect()
}

/// What a value may borrow of what the turn makes before it.
fn borrowed(value: &Expr, before: &[&Stmt]) -> Option<String> {
    let mut of_turn = Bound::default();
    for statement in before {
        of_turn.visit_stmt(statement);
    }
    let used = names(value);
    let mut borrowed = used
        .intersection(&of_turn.all())
        .cloned()
        .collect::<Vec<_>>();
    borrowed.pop().filter(|_| !is_owned(value))
}

/// Whether the last method of a value makes a copy.
fn is_owned(value: &Expr) -> bool {
    let copies = ["clone", "cloned", "copied", "to_owned", "to_string"];
    matches!(value, Expr::MethodCall(it) if copies.iter().any(|name| it.method == name))
}

fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(it) => has_let(&it.left) || has_let(&it.right),
        Expr::Paren(it) => has_let(&it.expr),
        _ => false,
    }
}

fn sleeps(statement: &Stmt) -> bool {
    let mut facts = Facts::default();
    facts.visit_stmt(statement);
    facts.sleep.is_some()
}

/// Whether it sleeps, under a condition or not, and does nothing else; the keys say what else a
/// `select!` waits for.
fn only_sleeps(statement: &Stmt) -> bool {
    match statement {
        Stmt::Expr(Expr::If(it), _) if it.else_branch.is_none() => {
            matches!(it.then_branch.stmts.as_slice(), [it] if only_sleeps(it))
        }
        Stmt::Expr(it, _) => calls_sleep(it),
        Stmt::Macro(_) => sleeps(statement),
        _ => false,
    }
}

fn calls_sleep(expr: &Expr) -> bool {
    match expr {
        Expr::Await(it) => calls_sleep(&it.base),
        Expr::Macro(it) => sleeps(&Stmt::Expr(Expr::Macro(it.clone()), None)),
        Expr::Call(it) => match &*it.func {
            Expr::Path(it) => {
                (it.path.segments.last()).is_some_and(|it| is_sleep(&it.ident.to_string()))
            }
            _ => false,
        },
        Expr::MethodCall(it) => is_sleep(&it.method.to_string()) || calls_sleep(&it.receiver),
        _ => false,
    }
}

fn turns_away(statement: &Stmt) -> bool {
    let exit = Exit::of_statement(statement);
    exit.leaves || exit.goes_on || exit.fails
}

/// Whether it ends the loop and does nothing else.
fn is_left(block: &Block, parts: &Parts<'_>) -> bool {
    match block.stmts.as_slice() {
        [Stmt::Expr(Expr::Break(it), _)] => it.expr.is_none() && parts.is_own(it.label.as_ref()),
        _ => false,
    }
}

/// Whether it ends the loop, or goes on with its next turn.
fn breaks(block: &Block, parts: &Parts<'_>) -> bool {
    struct Breaks<'p>(&'p Parts<'p>, bool);
    impl<'ast> Visit<'ast> for Breaks<'_> {
        fn visit_expr_break(&mut self, it: &'ast syn::ExprBreak) {
            self.1 |= self.0.is_own(it.label.as_ref());
        }
        fn visit_expr_continue(&mut self, it: &'ast syn::ExprContinue) {
            self.1 |= self.0.is_own(it.label.as_ref());
        }
    }
    let mut breaks = Breaks(parts, false);
    breaks.visit_block(block);
    breaks.1
}
