//! Loops that retry by hand: they sleep, and a success ends them.

mod facts;

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::Visit;
use syn::{Arm, Block, Expr, ExprMatch, Pat, Stmt};

use self::facts::{Exit, Facts, exits, keys, leaves};
use super::keys::{Keys, integer};
use crate::code::written;

/// A loop that retries.
pub(super) struct Loop<'a> {
    /// What is tried, if a `match` or an `if let` says so.
    pub(super) operation: Option<&'a Expr>,
    /// What each turn does before it.
    pub(super) before: Vec<&'a Stmt>,
    /// What makes the number of the turn, if one of them needs it.
    pub(super) turn: Option<String>,
    pub(super) keys: Keys,
    /// Whether the keys say why there is no operation.
    pub(super) is_explained: bool,
    /// Whether the whole of it gives what the operation gives.
    pub(super) is_plain: bool,
    /// Whether it ends the function.
    pub(super) returns: bool,
}

/// `loop`, `while` and `for` as a retry.
pub(super) fn of(expr: &Expr) -> Option<Loop<'_>> {
    let (body, turns, condition) = match expr {
        Expr::Loop(it) => (&it.body, None, None),
        Expr::While(it) => (&it.body, None, Some(&*it.cond)),
        Expr::ForLoop(it) => (&it.body, Some((&*it.pat, &*it.expr)), None),
        _ => return None,
    };
    let mut facts = condition.map_or_else(Facts::default, Facts::of_condition);
    facts.visit_block(body);
    let sleep = facts.sleep.as_ref()?;
    let mut statements = body.stmts.iter().enumerate();
    let asked = statements.find_map(|(place, it)| Some((place, asked(it)?)));
    let asked = asked.map(|(place, it)| through_variable(body, place, it));
    let asked = asked.or_else(|| handed_on(body, &facts));
    let (asked, turn, is_whole) = match (asked, condition.and_then(failing)) {
        (Some((place, asked)), _) => {
            let turn = before(body, place, asked.operation);
            let is_whole = turn.is_whole && !does_more(body, place, sleep);
            (Some(asked), turn, is_whole)
        }
        (None, Some(operation)) => (Some(Asked::part(operation)), Turn::default(), false),
        (None, None) if facts.leaves_on_success => (None, Turn::default(), false),
        (None, None) => return None,
    };
    let mut keys = keys(turns.map(|(_, turns)| turns), &facts, sleep);
    let mut found = Loop {
        operation: asked.as_ref().map(|it| it.operation),
        before: turn.before,
        turn: None,
        is_plain: is_whole && asked.as_ref().is_some_and(|it| it.is_plain),
        returns: asked.is_some_and(|it| it.returns),
        is_explained: false,
        keys: Keys::default(),
    };
    if let Some((name, turns)) = turns {
        found.in_turns(name, turns, &mut keys);
    }
    if let Some(what) = turn.left {
        found.operation = None;
        found.is_explained = true;
        keys.unknown.push(format!(
            "{what} can leave the loop: move an attempt to a function that returns a `Result`, and retry that"
        ));
    }
    found.keys = keys;
    Some(found)
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
            keys.unknown.push(format!(
                "each turn tries another `{name}`, and a retry tries the same again: keep the loop, and retry inside of it"
            ));
        }
    }
}

/// Every name in a piece of code, those of fields and methods, too.
fn names(code: &(impl ToTokens + ?Sized)) -> BTreeSet<String> {
    fn add(tokens: TokenStream, names: &mut BTreeSet<String>) {
        for token in tokens {
            match token {
                TokenTree::Ident(name) => _ = names.insert(name.to_string()),
                TokenTree::Group(group) => add(group.stream(), names),
                _ => {}
            }
        }
    }
    let mut names = BTreeSet::new();
    add(code.to_token_stream(), &mut names);
    names
}

/// What a turn does before the operation.
#[derive(Default)]
struct Turn<'a> {
    /// What the operation needs, and what only logs.
    before: Vec<&'a Stmt>,
    /// Whether that is all.
    is_whole: bool,
    /// What of the operation can leave the loop.
    left: Option<String>,
}

/// What a turn does before the operation at `place`.
fn before<'a>(body: &'a Block, place: usize, operation: &Expr) -> Turn<'a> {
    let mut wanted = names(operation);
    let mut exit = Exit::default();
    exit.visit_expr(operation);
    let own = exit.fails.then(|| "what is tried".to_owned());
    let (mut all, mut is_whole, mut left) = (Vec::new(), true, own);
    for statement in body.stmts.iter().take(place).rev() {
        let mut exit = Exit::default();
        exit.visit_stmt(statement);
        let mut facts = Facts::default();
        facts.visit_stmt(statement);
        let turns_away = exit.leaves || exit.fails || facts.sleep.is_some();
        let is_wanted = match statement {
            Stmt::Local(local) => !names(&local.pat).is_disjoint(&wanted),
            _ => !turns_away && !facts.is_counted,
        };
        if is_wanted && !turns_away {
            wanted.extend(names(statement));
            all.push(statement);
        } else if turns_away {
            is_whole = false;
            if let (Stmt::Local(local), true) = (statement, is_wanted) {
                left = Some(format!("what makes `{}`", written(&local.pat)));
            }
        }
    }
    all.reverse();
    Turn {
        before: all,
        is_whole,
        left,
    }
}

/// Whether a failure does more than to sleep, to log and to leave: it sets variables, or asks something else.
fn does_more(body: &Block, place: usize, sleep: &Expr) -> bool {
    struct More {
        delays: BTreeSet<String>,
        found: bool,
    }
    impl<'ast> Visit<'ast> for More {
        fn visit_expr_assign(&mut self, it: &'ast syn::ExprAssign) {
            let target = written(&it.left).to_lowercase();
            let is_error = target.contains("err") || target.contains("last");
            self.found |= !is_error && names(&it.left).is_disjoint(&self.delays);
        }
        fn visit_expr_try(&mut self, _: &'ast syn::ExprTry) {
            self.found = true;
        }
        fn visit_arm(&mut self, arm: &'ast Arm) {
            if variant(&arm.pat).as_deref() != Some("Ok") {
                syn::visit::visit_arm(self, arm);
            }
        }
        // The operation itself may do that.
        fn visit_expr_match(&mut self, it: &'ast ExprMatch) {
            it.arms.iter().for_each(|arm| self.visit_arm(arm));
        }
    }
    let mut more = More {
        delays: names(sleep),
        found: false,
    };
    let after = body.stmts.iter().skip(place);
    after.for_each(|it| more.visit_stmt(it));
    more.found
}

/// The variable that is asked, and what it is set to before.
fn through_variable<'a>(body: &'a Block, place: usize, mut asked: Asked<'a>) -> (usize, Asked<'a>) {
    if let Expr::Reference(it) = asked.operation {
        asked.operation = &it.expr;
    }
    match variable(body, place, asked.operation) {
        Some((place, operation)) => (place, Asked { operation, ..asked }),
        None => (place, asked),
    }
}

/// What a variable of the loop is set to before this place, and where.
fn variable<'a>(body: &'a Block, place: usize, name: &Expr) -> Option<(usize, &'a Expr)> {
    let Expr::Path(name) = name else { return None };
    let name = name.path.get_ident()?;
    let before = body.stmts.iter().enumerate().take(place).rev();
    before.into_iter().find_map(|(place, it)| {
        let (own, init) = set(it)?;
        (own == name).then_some((place, init))
    })
}

/// `let name = value;`
fn set(statement: &Stmt) -> Option<(&syn::Ident, &Expr)> {
    let Stmt::Local(local) = statement else {
        return None;
    };
    match (&local.pat, &local.init) {
        (Pat::Ident(name), Some(init)) => Some((&name.ident, &init.expr)),
        _ => None,
    }
}

/// A result that the loop returns in more than one place: after a success, and when it gives up; or in one, where it
/// counts and tells successes from failures. A loop that polls returns what it asked for in one.
fn handed_on<'a>(body: &'a Block, facts: &Facts) -> Option<(usize, Asked<'a>)> {
    struct Count<'a>(&'a syn::Ident, u32);
    impl<'ast> Visit<'ast> for Count<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            let handed = match expr {
                Expr::Return(it) => it.expr.as_deref(),
                Expr::Break(it) => it.expr.as_deref(),
                Expr::Closure(_) | Expr::Async(_) => return,
                _ => None,
            };
            if let Some(Expr::Path(path)) = handed {
                self.1 = self.1.saturating_add(u32::from(path.path.is_ident(self.0)));
            }
            syn::visit::visit_expr(self, expr);
        }
    }
    let words = names(body);
    let is_result = ["Ok", "Err", "is_ok", "is_err"]
        .iter()
        .any(|it| words.contains(*it));
    let enough = if facts.is_limited() && is_result {
        1
    } else {
        2
    };
    let mut statements = body.stmts.iter().enumerate();
    statements.find_map(|(place, it)| {
        let (name, operation) = set(it)?;
        let mut count = Count(name, 0);
        count.visit_block(body);
        (count.1 >= enough).then(|| (place, Asked::part(operation)))
    })
}

/// What is tried, and what becomes of it.
struct Asked<'a> {
    operation: &'a Expr,
    is_plain: bool,
    returns: bool,
}

impl<'a> Asked<'a> {
    /// The loop does more with its result.
    const fn part(operation: &'a Expr) -> Self {
        Self {
            operation,
            is_plain: false,
            returns: false,
        }
    }
}

/// The statement that tries: a `match` or an `if` on its result, which leaves the loop after a success.
fn asked(statement: &Stmt) -> Option<Asked<'_>> {
    match statement {
        Stmt::Expr(expr, _) => asked_by(expr),
        Stmt::Local(local) => local.init.as_ref().and_then(|init| asked_by(&init.expr)),
        _ => None,
    }
}

fn asked_by(expr: &Expr) -> Option<Asked<'_>> {
    match expr {
        Expr::Match(it) => matched(it),
        Expr::If(it) => {
            let Expr::Let(condition) = &*it.cond else {
                return None;
            };
            let leaves = match variant(&condition.pat)?.as_str() {
                "Ok" => leaves(&it.then_branch),
                "Err" => it
                    .else_branch
                    .as_ref()
                    .is_some_and(|(_, other)| exits(other)),
                _ => false,
            };
            leaves.then(|| Asked::part(&condition.expr))
        }
        _ => None,
    }
}

fn matched(it: &ExprMatch) -> Option<Asked<'_>> {
    let is_result = it
        .arms
        .iter()
        .any(|arm| matches!(variant(&arm.pat).as_deref(), Some("Ok" | "Err")));
    let is_success = |arm: &&Arm| variant(&arm.pat).as_deref() != Some("Err");
    let mut successes = it.arms.iter().filter(is_success).peekable();
    let leaves = successes.peek().is_some() && successes.any(|arm| exits(&arm.body));
    if !(is_result && leaves) {
        return None;
    }
    Some(Asked {
        operation: &it.expr,
        is_plain: it.arms.iter().filter(is_success).all(hands_on),
        returns: (it.arms.iter().filter(is_success)).any(|it| matches!(*it.body, Expr::Return(_))),
    })
}

/// `Ok(value) => return Ok(value)`, `result => return result`.
fn hands_on(arm: &Arm) -> bool {
    let handed = match &*arm.body {
        Expr::Return(it) => it.expr.as_ref(),
        Expr::Break(it) => it.expr.as_ref(),
        _ => None,
    };
    let Some(handed) = handed else { return false };
    let pattern = ToTokens::to_token_stream(&arm.pat).to_string();
    ToTokens::to_token_stream(handed).to_string() == pattern
}

/// The name of the variant, with any that it is below.
fn variant(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::TupleStruct(it) => it.path.segments.last().map(|it| it.ident.to_string()),
        Pat::Or(it) => it.cases.first().and_then(variant),
        Pat::Guard(it) => variant(&it.pat),
        _ => None,
    }
}

/// `while let Err(_) = operation`, `while operation.is_err()`.
fn failing(condition: &Expr) -> Option<&Expr> {
    match condition {
        Expr::Let(it) if variant(&it.pat).as_deref() == Some("Err") => Some(&it.expr),
        Expr::MethodCall(it) if it.method == "is_err" => Some(&it.receiver),
        _ => None,
    }
}
