//! What a loop tries: the `match` or `if` on a result that leaves the loop after a success.

use quote::ToTokens;
use syn::visit::Visit;
use syn::{Arm, Block, Expr, ExprMatch, Pat, Stmt};

use super::facts::{Facts, always_leaves, block_leaves, block_succeeds, goes_on, succeeds};
use super::names;

/// With what the variable that is asked is set to before.
pub(super) fn through_variable<'a>(body: &'a Block, place: usize, mut found: Try<'a>) -> Try<'a> {
    if let Expr::Reference(it) = found.operation {
        found.operation = &it.expr;
    }
    found.made = variable(body, place, found.operation);
    found
}

/// What a variable of the loop is set to before this place, and where.
fn variable<'a>(body: &'a Block, place: usize, name: &Expr) -> Option<(usize, &'a Expr)> {
    let Expr::Path(name) = name else { return None };
    let name = name.path.get_ident()?;
    let before = body.stmts.iter().enumerate().take(place).rev();
    before.into_iter().find_map(|(place, it)| {
        let (own, init) = given(it)?;
        (own == name).then_some((place, init))
    })
}

/// `let name = value;`, `name = value;`
fn given(statement: &Stmt) -> Option<(&syn::Ident, &Expr)> {
    match statement {
        Stmt::Expr(Expr::Assign(it), _) => match &*it.left {
            Expr::Path(name) => Some((name.path.get_ident()?, &it.right)),
            _ => None,
        },
        statement => set(statement),
    }
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
pub(super) fn hand_on<'a>(body: &'a Block, facts: &Facts) -> Option<(usize, Try<'a>)> {
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
        (count.1 >= enough).then(|| (place, Try::part(operation)))
    })
}

/// What is tried, and what becomes of it.
pub(super) struct Try<'a> {
    pub(super) operation: &'a Expr,
    /// Where in the body a variable is set to it, and to what, if it is one.
    pub(super) made: Option<(usize, &'a Expr)>,
    pub(super) is_plain: bool,
    pub(super) returns: bool,
    /// What says which results are failures; nothing if the loop asks otherwise.
    pub(super) by: Option<By<'a>>,
}

/// How a loop tells failures from successes.
#[derive(Clone, Copy)]
pub(super) enum By<'a> {
    Match(&'a ExprMatch),
    If(&'a syn::ExprIf, &'a Pat),
    /// `if result.is_ok() { return .. }`
    IsOk(&'a syn::ExprIf),
    /// `let Err(error) = result else { return .. };`
    Else(&'a syn::Local, &'a Expr),
    /// `let it = match result { Ok(it) => it, Err(error) => { .. continue } };`
    Given(&'a ExprMatch),
}

impl By<'_> {
    /// Whether what it gives is the error itself: `Err(error) => error`.
    pub(super) fn gives_error(self) -> bool {
        let is_same = |pattern: &Pat, given: Option<String>| {
            let whole = error(pattern).and_then(super::patterns::name);
            whole.is_some() && whole == given
        };
        match self {
            Self::Match(it) => {
                let is_failure = |it: &&Arm| variant(&it.pat).as_deref() == Some("Err");
                let failures = it.arms.iter().filter(is_failure);
                let mut given = failures.filter(|it| !always_leaves(&it.body));
                given.all(|it| is_same(&it.pat, tail(&it.body)))
            }
            Self::If(it, pattern) => is_same(pattern, block_tail(&it.then_branch)),
            Self::IsOk(_) | Self::Else(..) | Self::Given(_) => false,
        }
    }
}

/// The name that an expression gives at its end.
fn tail(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(it) => it.path.get_ident().map(ToString::to_string),
        Expr::Block(it) => block_tail(&it.block),
        _ => None,
    }
}

fn block_tail(block: &Block) -> Option<String> {
    match block.stmts.last()? {
        Stmt::Expr(it, None) => tail(it),
        _ => None,
    }
}

impl<'a> Try<'a> {
    /// The loop does more with its result.
    pub(super) const fn part(operation: &'a Expr) -> Self {
        Self {
            operation,
            made: None,
            is_plain: false,
            returns: false,
            by: None,
        }
    }
}

/// The statement that tries: a `match` or an `if` on its result, which leaves the loop after a success.
pub(super) fn find(statement: &Stmt) -> Option<Try<'_>> {
    match statement {
        Stmt::Expr(expr, _) => try_of(expr),
        Stmt::Local(local) => {
            let init = local.init.as_ref()?;
            let Some((_, other)) = &init.diverge else {
                return try_of(&init.expr);
            };
            let is_error = variant(&local.pat).as_deref() == Some("Err");
            (is_error && succeeds(other)).then(|| Try {
                by: Some(By::Else(local, other)),
                ..Try::part(&init.expr)
            })
        }
        _ => None,
    }
}

/// A `match` that gives a success to the code behind it, which leaves the loop.
pub(super) fn given_on(body: &Block) -> Option<(usize, Try<'_>)> {
    let mut statements = body.stmts.iter().enumerate();
    statements.find_map(|(place, it)| {
        let Stmt::Local(local) = it else { return None };
        let Expr::Match(asked) = &*local.init.as_ref()?.expr else {
            return None;
        };
        let is = |arm: &Arm, name| variant(&arm.pat).as_deref() == Some(name);
        let is_again = |arm: &Arm| is(arm, "Err") && goes_on(&arm.body);
        let rest = body.stmts.get(place.saturating_add(1)..)?.to_vec();
        let rest = Block {
            stmts: rest,
            ..body.clone()
        };
        let arms = &asked.arms;
        let is_try = arms.iter().any(|it| is(it, "Ok")) && arms.iter().any(is_again);
        let found = is_try && block_leaves(&rest) && block_succeeds(&rest);
        found.then(|| {
            let by = Some(By::Given(asked));
            let tried = Try::part(&asked.expr);
            (place, Try { by, ..tried })
        })
    })
}

/// The enum in `Answer::Err(_)`, which is no `Result`.
pub(super) fn other_enum(asked: &ExprMatch) -> Option<String> {
    asked.arms.iter().find_map(|arm| {
        let pattern = match &arm.pat {
            Pat::Guard(it) => &*it.pat,
            pattern => pattern,
        };
        let Pat::TupleStruct(it) = pattern else {
            return None;
        };
        let mut names = it.path.segments.iter().rev().map(|it| it.ident.to_string());
        let is_variant = names.next().is_some_and(|it| it == "Ok" || it == "Err");
        names.next().filter(|it| is_variant && it != "Result")
    })
}

fn try_of(expr: &Expr) -> Option<Try<'_>> {
    match expr {
        Expr::Match(it) => of_match(it),
        Expr::If(it) => {
            let condition = match &*it.cond {
                Expr::Let(condition) => condition,
                Expr::MethodCall(call)
                    if call.method == "is_ok" && block_succeeds(&it.then_branch) =>
                {
                    return Some(Try {
                        by: Some(By::IsOk(it)),
                        ..Try::part(&call.receiver)
                    });
                }
                _ => return None,
            };
            let leaves = match variant(&condition.pat)?.as_str() {
                "Ok" => block_succeeds(&it.then_branch),
                "Err" => it
                    .else_branch
                    .as_ref()
                    .is_some_and(|(_, other)| succeeds(other)),
                _ => false,
            };
            leaves.then(|| Try {
                by: Some(By::If(it, &condition.pat)),
                ..Try::part(&condition.expr)
            })
        }
        _ => None,
    }
}

fn of_match(it: &ExprMatch) -> Option<Try<'_>> {
    let is_result = it
        .arms
        .iter()
        .any(|arm| matches!(variant(&arm.pat).as_deref(), Some("Ok" | "Err")));
    let is_success = |arm: &&Arm| variant(&arm.pat).as_deref() != Some("Err");
    // `Ok(Err(error)) => break`
    let is_failure = |arm: &Arm| matches!(&arm.pat, Pat::TupleStruct(it) if it.elems.first().and_then(variant).as_deref() == Some("Err"));
    let mut successes = it.arms.iter().filter(is_success).peekable();
    let leaves =
        successes.peek().is_some() && successes.any(|arm| succeeds(&arm.body) && !is_failure(arm));
    if !(is_result && leaves) {
        return None;
    }
    Some(Try {
        operation: &it.expr,
        made: None,
        is_plain: it.arms.iter().filter(is_success).all(hands_on),
        returns: (it.arms.iter().filter(is_success)).any(|it| matches!(*it.body, Expr::Return(_))),
        by: Some(By::Match(it)),
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
pub(super) fn variant(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::TupleStruct(it) => it.path.segments.last().map(|it| it.ident.to_string()),
        Pat::Or(it) => it.cases.first().and_then(variant),
        Pat::Guard(it) => variant(&it.pat),
        _ => None,
    }
}

/// The pattern of the error in `Err(pattern)`.
pub(super) fn error(pattern: &Pat) -> Option<&Pat> {
    super::patterns::of_result(pattern)
        .into_iter()
        .find_map(|it| match it {
            super::patterns::Of::Error(pattern) => Some(pattern),
            _ => None,
        })
}

/// `Ok(name)`: no success is left out.
pub(super) fn is_any_success(pattern: &Pat) -> bool {
    match pattern {
        Pat::TupleStruct(it) => it.elems.iter().all(super::patterns::is_any),
        _ => false,
    }
}

/// `while let Err(_) = operation`, `while operation.is_err()`.
pub(super) fn failing(condition: &Expr) -> Option<&Expr> {
    match condition {
        Expr::Let(it) if variant(&it.pat).as_deref() == Some("Err") => Some(&it.expr),
        Expr::MethodCall(it) if it.method == "is_err" => Some(&it.receiver),
        _ => None,
    }
}
