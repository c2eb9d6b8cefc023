//! What the body of a loop says of its delays and of its end.

use std::collections::BTreeSet;

use syn::spanned::Spanned as _;
use syn::visit::Visit;
use syn::{BinOp, Block, Expr};

use super::conditions::{self, COUNTS};
use crate::code::written;
use crate::suggest::keys::integer;

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

/// Whether a way through it begins the next turn by `continue`.
pub(super) fn goes_on(expr: &Expr) -> bool {
    struct Continues(bool);
    impl<'ast> Visit<'ast> for Continues {
        fn visit_expr_continue(&mut self, _: &'ast syn::ExprContinue) {
            self.0 = true;
        }
        // They have turns of their own.
        fn visit_expr_loop(&mut self, _: &'ast syn::ExprLoop) {}
        fn visit_expr_while(&mut self, _: &'ast syn::ExprWhile) {}
        fn visit_expr_for_loop(&mut self, _: &'ast syn::ExprForLoop) {}
        fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    }
    let mut continues = Continues(false);
    continues.visit_expr(expr);
    continues.0
}

/// Whether each way through it leaves the loop.
pub(super) fn always_leaves(expr: &Expr) -> bool {
    match expr {
        Expr::Return(_) | Expr::Break(_) => true,
        Expr::Paren(it) => always_leaves(&it.expr),
        Expr::Block(it) => block_leaves(&it.block),
        Expr::Unsafe(it) => block_leaves(&it.block),
        Expr::If(it) => {
            let other = it.else_branch.as_ref();
            block_leaves(&it.then_branch) && other.is_some_and(|(_, it)| always_leaves(it))
        }
        Expr::Match(it) => it.arms.iter().all(|arm| always_leaves(&arm.body)),
        Expr::Macro(it) => ends(&it.mac),
        _ => false,
    }
}

pub(super) fn block_leaves(block: &Block) -> bool {
    block.stmts.iter().any(|it| match it {
        syn::Stmt::Expr(expr, _) => always_leaves(expr),
        syn::Stmt::Macro(it) => ends(&it.mac),
        syn::Stmt::Local(_) | syn::Stmt::Item(_) => false,
    })
}

/// A macro that never goes on.
pub(super) fn ends(mac: &syn::Macro) -> bool {
    let name = mac.path.segments.last().map(|it| it.ident.to_string());
    let names = ["bail", "panic", "unreachable", "todo", "unimplemented"];
    name.is_some_and(|it| names.contains(&it.as_str()))
}

/// Whether something leaves the loop.
#[derive(Default)]
pub(super) struct Exit {
    pub(super) leaves: bool,
    /// By `?` or `bail!`, whose error nothing retries.
    pub(super) fails: bool,
    pub(super) awaits: bool,
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
                self.awaits |= matches!(expr, Expr::Await(_));
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
    pub(super) limit: Option<Limit>,
    /// What counts the attempts that are left.
    pub(super) left: Option<String>,
    /// What counts attempts, and where in the file each is counted.
    pub(super) counters: BTreeSet<String>,
    pub(super) counted_at: Vec<(String, usize)>,
    /// What is set, whole or in part.
    pub(super) set: BTreeSet<String>,
    /// What is called, by name.
    pub(super) calls: Vec<String>,
    /// Whether the attempt was counted before that.
    pub(super) is_counted: bool,
    /// Whether an iterator gives the delays, and ends.
    pub(super) is_sequence: bool,
    /// Whether the delays grow.
    pub(super) grows: bool,
    pub(super) jitter: bool,
}

/// What a number of attempts is compared with.
pub(super) struct Limit {
    pub(super) counter: String,
    pub(super) with: Expr,
    /// Attempts that are made beyond it.
    pub(super) more: u64,
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
                Self {
                    limit: left.limit.or(right.limit),
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
            self.calls.push(name.clone());
            if is_sleep(&name) && self.sleep.is_none() {
                self.sleep = call.args.first().cloned();
            }
        }
        syn::visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        self.calls.push(name.clone());
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

    fn visit_expr_assign(&mut self, it: &'ast syn::ExprAssign) {
        self.set.extend(super::names(&it.left));
        syn::visit::visit_expr_assign(self, it);
    }

    fn visit_expr_binary(&mut self, it: &'ast syn::ExprBinary) {
        let name = written(&it.left);
        if is_assignment(it.op) {
            self.set.extend(super::names(&it.left));
        }
        let is_counted = has_word(&name, COUNTS) || self.counters.contains(&name);
        let is_one = integer(&it.right) == Some(1);
        let steps = matches!(it.op, BinOp::AddAssign(_) | BinOp::SubAssign(_));
        if steps && (is_counted || is_one) {
            self.counters.insert(name.clone());
            let at = it.span().byte_range().start;
            self.counted_at.push((name.clone(), at));
        }
        if matches!(it.op, BinOp::AddAssign(_)) {
            self.is_counted |= is_counted || is_one;
        }
        let is_left = is_counted || has_word(&name, &["left", "remain"]);
        if matches!(it.op, BinOp::SubAssign(_)) && is_left {
            self.left = Some(name.clone());
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
        let is_other =
            number == Some(0) || self.limit.is_some() || !conditions::is_number_like(&it.right);
        if let Some(more) = limit.filter(|_| is_counted && !is_other) {
            // What is compared before it is counted is a number of retries.
            self.limit = Some(Limit {
                counter: name,
                with: (*it.right).clone(),
                more: u64::from(!self.is_counted).saturating_add(more),
            });
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

/// `+=` and the like.
const fn is_assignment(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
    )
}

pub(super) fn has_word(name: &str, words: &[&str]) -> bool {
    let name = name.to_lowercase();
    words.iter().any(|word| name.contains(word))
}

pub(super) fn is_sleep(name: &str) -> bool {
    matches!(
        name,
        "sleep" | "sleep_ms" | "boxed_sleep" | "delay_for" | "delay_ms"
    )
}
