//! Loops that retry by hand: they sleep, and a success ends them.

use syn::visit::Visit;
use syn::{Arm, BinOp, Block, Expr, ExprMatch, Pat, Stmt};

use super::keys::{Keys, duration, integer, literal_duration};
use crate::code::written;

/// A loop that retries.
pub(super) struct Loop<'a> {
    /// What is tried, if a `match` or an `if let` says so.
    pub(super) operation: Option<&'a Expr>,
    pub(super) keys: Keys,
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
        Expr::ForLoop(it) => (&it.body, Some(&*it.expr), None),
        _ => return None,
    };
    let mut facts = Facts::default();
    facts.visit_block(body);
    let sleep = facts.sleep.as_ref()?;
    let asked = body.stmts.iter().find_map(asked);
    let while_failing = condition.and_then(failing);
    let asked = match (asked, while_failing) {
        (Some(asked), _) => Some(asked),
        (None, Some(operation)) => Some(Asked {
            operation,
            is_plain: false,
            returns: false,
        }),
        (None, None) if facts.leaves_on_success => None,
        (None, None) => return None,
    };
    let operation = asked.as_ref().map(|it| it.operation);
    Some(Loop {
        operation: operation.map(|it| variable(body, it).unwrap_or(it)),
        keys: keys(turns, &facts, sleep),
        is_plain: asked.as_ref().is_some_and(|it| it.is_plain),
        returns: asked.is_some_and(|it| it.returns),
    })
}

/// What a variable of the loop is set to.
fn variable<'a>(body: &'a Block, name: &Expr) -> Option<&'a Expr> {
    let Expr::Path(name) = name else { return None };
    let name = name.path.get_ident()?;
    body.stmts.iter().rev().find_map(|it| match it {
        Stmt::Local(local) => match (&local.pat, &local.init) {
            (Pat::Ident(pattern), Some(init)) if pattern.ident == *name => Some(&*init.expr),
            _ => None,
        },
        _ => None,
    })
}

/// What is tried, and what becomes of it.
struct Asked<'a> {
    operation: &'a Expr,
    is_plain: bool,
    returns: bool,
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
            leaves.then_some(Asked {
                operation: &condition.expr,
                is_plain: false,
                returns: false,
            })
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
    let pattern = quote::ToTokens::to_token_stream(&arm.pat).to_string();
    quote::ToTokens::to_token_stream(handed).to_string() == pattern
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

fn leaves(block: &Block) -> bool {
    let mut search = Exit(false);
    search.visit_block(block);
    search.0
}

fn exits(expr: &Expr) -> bool {
    let mut search = Exit(false);
    search.visit_expr(expr);
    search.0
}

/// Whether something leaves the loop.
struct Exit(bool);

impl<'ast> Visit<'ast> for Exit {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Return(_) | Expr::Break(_) => self.0 = true,
            // They have a `return` or a `break` of their own.
            Expr::Closure(_)
            | Expr::Async(_)
            | Expr::Loop(_)
            | Expr::While(_)
            | Expr::ForLoop(_) => {}
            expr => syn::visit::visit_expr(self, expr),
        }
    }
}

/// What the body of a loop says.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts")]
struct Facts {
    /// What the first sleep is given.
    sleep: Option<Expr>,
    /// `if result.is_ok() { return .. }`
    leaves_on_success: bool,
    /// What a number of attempts is compared with.
    limit: Option<(String, Option<u64>)>,
    /// Whether the attempt was counted before that.
    is_counted: bool,
    /// Whether the delays grow.
    grows: bool,
    jitter: bool,
}

impl<'ast> Visit<'ast> for Facts {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(path) = &*call.func {
            let last = path.path.segments.last();
            let name = last.map_or_else(String::new, |it| it.ident.to_string());
            if is_sleep(&name) && self.sleep.is_none() {
                self.sleep = call.args.first().cloned();
            }
        }
        syn::visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        if is_sleep(&name) && self.sleep.is_none() && call.args.len() == 1 {
            self.sleep = call.args.first().cloned();
        }
        self.grows |= [
            "pow",
            "powi",
            "powf",
            "saturating_pow",
            "checked_pow",
            "saturating_mul",
        ]
        .contains(&name.as_str());
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_if(&mut self, it: &'ast syn::ExprIf) {
        if let Expr::MethodCall(call) = &*it.cond
            && call.method == "is_ok"
        {
            self.leaves_on_success |= leaves(&it.then_branch);
        }
        syn::visit::visit_expr_if(self, it);
    }

    fn visit_expr_binary(&mut self, it: &'ast syn::ExprBinary) {
        let is_counted = written(&it.left).to_lowercase();
        let is_counted = ["attempt", "retr", "tries", "count", "fail"]
            .iter()
            .any(|word| is_counted.contains(word));
        if matches!(it.op, BinOp::AddAssign(_)) {
            self.is_counted |= is_counted;
        }
        let limit = match it.op {
            BinOp::Ge(_) | BinOp::Lt(_) | BinOp::Eq(_) => Some(0),
            BinOp::Gt(_) | BinOp::Le(_) => Some(1),
            BinOp::MulAssign(_) | BinOp::Shl(_) | BinOp::ShlAssign(_) => {
                self.grows = true;
                None
            }
            _ => None,
        };
        if let Some(more) = limit.filter(|_| is_counted && self.limit.is_none()) {
            // What is compared before it is counted is a number of retries.
            let more = u64::from(!self.is_counted).saturating_add(more);
            let number = integer(&it.right).map(|it| it.saturating_add(more));
            self.limit = Some((written(&it.right), number));
        }
        syn::visit::visit_expr_binary(self, it);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|it| it.ident.to_string());
        self.jitter |= names
            .into_iter()
            .any(|it| it.contains("rand") || it.contains("jitter"));
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        for statement in crate::code::loose::statements(&mac.tokens) {
            let mut inside = Self::default();
            inside.visit_stmt(&statement);
            self.sleep = self.sleep.take().or(inside.sleep);
        }
    }

    // They run elsewhere, or later.
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

fn is_sleep(name: &str) -> bool {
    matches!(
        name,
        "sleep" | "sleep_ms" | "boxed_sleep" | "delay_for" | "delay_ms"
    )
}

fn keys(turns: Option<&Expr>, facts: &Facts, sleep: &Expr) -> Keys {
    let mut keys = Keys {
        jitter: Some("\"none\"".to_owned()),
        ..Keys::default()
    };
    match turns.map(count) {
        Some(Some(max)) => keys.max = Some(max),
        Some(None) => keys.unknown.push(
            "the loop is over a sequence: write its length as `max`; if its elements are delays, `backoff` takes a closure from the number of the retry to its delay".to_owned(),
        ),
        None => match &facts.limit {
            Some((_, Some(number))) => {
                keys.max = Some(number.to_string());
                keys.unknown.push(
                    "what the counter begins with: `max` is right where that is 0".to_owned(),
                );
            }
            Some((limit, None)) => {
                keys.unknown.push(format!("the loop compares with `{limit}`: write it as `max`, plus one if it counts retries"));
            }
            None => {
                keys.unlimited();
                keys.unknown.push("no count ends the loop: `max = \"unlimited\"`; a `deadline` or a `max` would".to_owned());
            }
        },
    }
    match literal_duration(sleep) {
        Some(base) => keys.base = Some(base),
        None if facts.grows => keys.unknown.push(format!(
            "the first delay of `{}`: write it as `base`, and its bound as `cap`",
            written(sleep)
        )),
        None => keys.unknown.push(format!(
            "how long `{}` is: write it as `base`",
            duration(sleep)
        )),
    }
    if !facts.grows && keys.base.is_some() {
        keys.backoff = Some("fixed");
    }
    if facts.jitter || facts.grows {
        keys.jitter = None;
    }
    // What would hammer here is made to grow.
    if keys.backoff == Some("fixed") && !keys.broken().is_empty() {
        keys.differs.extend(keys.broken());
        keys.differs.push(
            "the delays grow here, up to `cap`, with full jitter: that of the loop is the first"
                .to_owned(),
        );
        keys.backoff = None;
        keys.jitter = None;
    } else if keys.jitter.is_some() {
        keys.differs.push("the loop has no jitter; `jitter = \"full\"`, the default, spreads clients that failed together".to_owned());
    }
    keys.differs.push(
        "after the last attempt nothing sleeps, and a `deadline` can bound the whole".to_owned(),
    );
    keys
}

/// How many turns `0..n` are.
fn count(range: &Expr) -> Option<String> {
    let Expr::Range(range) = range else {
        return None;
    };
    let start = range.start.as_deref().map_or(Some(0), integer)?;
    let end = range.end.as_deref()?;
    let more = u64::from(matches!(range.limits, syn::RangeLimits::Closed(_)));
    Some(match (integer(end), start, more) {
        (Some(end), ..) => end.saturating_sub(start).saturating_add(more).to_string(),
        (None, 0, 0) | (None, 1, 1) => written(end),
        (None, 0, 1) => format!("{} + 1", written(end)),
        (None, ..) => return None,
    })
}
