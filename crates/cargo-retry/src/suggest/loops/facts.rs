//! What the body of a loop says of its delays and of its end.

use syn::visit::Visit;
use syn::{BinOp, Block, Expr};

use crate::code::written;
use crate::suggest::keys::{Keys, duration, integer, literal_duration};

pub(super) fn leaves(block: &Block) -> bool {
    let mut search = Exit::default();
    search.visit_block(block);
    search.leaves
}

pub(super) fn exits(expr: &Expr) -> bool {
    let mut search = Exit::default();
    search.visit_expr(expr);
    search.leaves
}

/// Whether something leaves the loop.
#[derive(Default)]
pub(super) struct Exit {
    pub(super) leaves: bool,
    /// By `?` or `bail!`, whose error nothing retries.
    pub(super) fails: bool,
}

impl<'ast> Visit<'ast> for Exit {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Return(_) | Expr::Break(_) => self.leaves = true,
            // They have a `return` or a `break` of their own.
            Expr::Closure(_)
            | Expr::Async(_)
            | Expr::Loop(_)
            | Expr::While(_)
            | Expr::ForLoop(_) => {}
            expr => {
                self.fails |= matches!(expr, Expr::Try(_));
                syn::visit::visit_expr(self, expr);
            }
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let name = mac.path.segments.last();
        self.fails |= name.is_some_and(|it| it.ident == "bail" || it.ident == "ensure");
    }
}

/// What the body of a loop says.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts")]
pub(super) struct Facts {
    /// What the first sleep is given.
    pub(super) sleep: Option<Expr>,
    /// `if result.is_ok() { return .. }`
    pub(super) leaves_on_success: bool,
    /// What a number of attempts is compared with.
    limit: Option<(String, Option<u64>)>,
    /// What counts the attempts that are left.
    left: Option<String>,
    /// Whether the attempt was counted before that.
    pub(super) is_counted: bool,
    /// Whether an iterator gives the delays, and ends.
    is_sequence: bool,
    /// Whether the delays grow.
    grows: bool,
    jitter: bool,
}

impl Facts {
    /// Whether a number of attempts ends the loop.
    pub(super) fn is_limited(&self) -> bool {
        self.limit.is_some() || self.left.is_some()
    }

    /// What the condition of a `while` says: it is asked before each attempt, also before the first.
    pub(super) fn of_condition(condition: &Expr) -> Self {
        match condition {
            Expr::Binary(it) if matches!(it.op, BinOp::And(_)) => {
                let (left, right) = (Self::of_condition(&it.left), Self::of_condition(&it.right));
                let limit = left.limit.or(right.limit);
                Self {
                    limit,
                    ..Self::default()
                }
            }
            Expr::Binary(it) if matches!(it.op, BinOp::Lt(_) | BinOp::Le(_)) => {
                let mut facts = Self {
                    is_counted: true,
                    ..Self::default()
                };
                facts.visit_expr_binary(it);
                facts.is_counted = false;
                facts
            }
            _ => Self::default(),
        }
    }
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
        self.is_sequence |= name == "next" && call.args.is_empty();
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
        let name = written(&it.left);
        let is_counted = has_word(&name, &["attempt", "retr", "tries", "count", "fail"]);
        if matches!(it.op, BinOp::AddAssign(_)) {
            self.is_counted |= is_counted;
        }
        let is_left = is_counted || has_word(&name, &["left", "remain"]);
        if matches!(it.op, BinOp::SubAssign(_)) && is_left {
            self.left = Some(name);
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
        let number = integer(&it.right);
        // How many are left, or whether it is the first.
        let is_other = number == Some(0) || self.limit.is_some();
        if let Some(more) = limit.filter(|_| is_counted && !is_other) {
            // What is compared before it is counted is a number of retries.
            let more = u64::from(!self.is_counted).saturating_add(more);
            let number = number.map(|it| it.saturating_add(more));
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

fn has_word(name: &str, words: &[&str]) -> bool {
    let name = name.to_lowercase();
    words.iter().any(|word| name.contains(word))
}

fn is_sleep(name: &str) -> bool {
    matches!(
        name,
        "sleep" | "sleep_ms" | "boxed_sleep" | "delay_for" | "delay_ms"
    )
}

pub(super) fn keys(turns: Option<&Expr>, facts: &Facts, sleep: &Expr) -> Keys {
    let mut keys = Keys {
        jitter: Some("\"none\"".to_owned()),
        ..Keys::default()
    };
    let sequence = "the loop is over a sequence: write its length as `max`; if its elements are delays, `backoff` takes a closure from the number of the retry to its delay".to_owned();
    match turns.map(count) {
        Some(Some(max)) => keys.max = Some(max),
        Some(None) => keys.unknown.push(sequence),
        None if facts.is_sequence && facts.limit.is_none() => keys.unknown.push(sequence),
        None => {
            match (&facts.limit, &facts.left) {
                (Some((_, Some(number))), _) => {
                    keys.max = Some(number.to_string());
                    keys.unknown.push(
                        "what the counter begins with: `max` is right where that is 0".to_owned(),
                    );
                }
                (Some((limit, None)), _) => {
                    keys.unknown.push(format!("the loop compares with `{limit}`: write it as `max`, plus one if it counts retries"));
                }
                (None, Some(left)) => {
                    keys.unknown.push(format!("what `{left}` begins with: write it as `max`, plus one if it counts retries"));
                }
                (None, None) => {
                    keys.unlimited();
                    keys.unknown.push("what ends the loop when nothing succeeds: it compares no count, so `max` is `\"unlimited\"`; write a number or a `deadline`".to_owned());
                }
            }
        }
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
    keys.accept();
    if keys.jitter.is_some() {
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
