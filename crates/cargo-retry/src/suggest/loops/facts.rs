//! What the body of a loop says of its delays and of its end.

use std::collections::BTreeSet;

use syn::spanned::Spanned as _;
use syn::visit::Visit;
use syn::{BinOp, Block, Expr};

use super::conditions;
use super::counters::{Counters, steps};
use super::macros::{self, ends};
use super::patterns;
use super::touched::Touched;
use crate::code::written;
use crate::suggest::keys::integer;

pub(super) fn leaves(block: &Block) -> bool {
    Exit::of_block(block).leaves
}

/// Whether a way through it leaves the loop with something that is no error.
pub(super) fn succeeds(expr: &Expr) -> bool {
    Exit::of(expr).succeeds
}

pub(super) fn block_succeeds(block: &Block) -> bool {
    Exit::of_block(block).succeeds
}

/// Whether a way through it begins the next turn by `continue`.
pub(super) fn goes_on(expr: &Expr) -> bool {
    Exit::of(expr).goes_on
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
        Expr::Try(it) => is_error(&it.expr),
        _ => false,
    }
}

/// `Err(error)`
pub(super) fn is_error(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(it) if written(&it.func) == "Err")
}

/// The same on each way through it.
fn gives_error(expr: &Expr) -> bool {
    let of_block = |it: &Block| match it.stmts.last() {
        Some(syn::Stmt::Expr(it, None)) => gives_error(it),
        _ => false,
    };
    match expr {
        Expr::Paren(it) => gives_error(&it.expr),
        Expr::Try(it) => gives_error(&it.expr),
        Expr::MethodCall(it) => gives_error(&it.receiver),
        Expr::Block(it) => of_block(&it.block),
        Expr::If(it) => {
            let other = it.else_branch.as_ref();
            of_block(&it.then_branch) && other.is_some_and(|(_, it)| gives_error(it))
        }
        Expr::Match(it) => it.arms.iter().all(|arm| gives_error(&arm.body)),
        expr => is_error(expr),
    }
}

pub(super) fn block_leaves(block: &Block) -> bool {
    block.stmts.iter().any(|it| match it {
        syn::Stmt::Expr(expr, _) => always_leaves(expr),
        syn::Stmt::Macro(it) => ends(&it.mac),
        syn::Stmt::Local(_) | syn::Stmt::Item(_) => false,
    })
}

/// Whether something leaves the loop.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts")]
pub(super) struct Exit {
    pub(super) leaves: bool,
    /// With something that is no error.
    succeeds: bool,
    /// Whether it begins the next turn.
    pub(super) goes_on: bool,
    /// By `?` or `bail!`, whose error nothing retries.
    pub(super) fails: bool,
    /// By a macro that is not known.
    pub(super) may_leave: bool,
    pub(super) awaits: bool,
    /// The labels of what is around what is read, with the word that leads there: `break 'all`.
    pub(super) elsewhere: BTreeSet<String>,
    /// The loops around what is read, of what is read.
    loops: u32,
    labels: BTreeSet<String>,
}

impl Exit {
    pub(super) fn of(expr: &Expr) -> Self {
        let mut exit = Self::default();
        exit.visit_expr(expr);
        exit
    }

    pub(super) fn of_block(block: &Block) -> Self {
        let mut exit = Self::default();
        exit.visit_block(block);
        exit
    }

    pub(super) fn of_statement(statement: &syn::Stmt) -> Self {
        let mut exit = Self::default();
        exit.visit_stmt(statement);
        exit
    }
}

impl Exit {
    /// Whether a `break` or a `continue` leads to something that is read here.
    fn is_inside(&self, label: Option<&syn::Lifetime>) -> bool {
        match label {
            Some(label) => self.labels.contains(&label.ident.to_string()),
            None => self.loops > 0,
        }
    }

    /// Whether it ends or goes on with something around what is read.
    fn turns(&mut self, word: &str, label: Option<&syn::Lifetime>) -> bool {
        let is_around = !self.is_inside(label);
        let label = label.filter(|_| is_around);
        self.elsewhere
            .extend(label.map(|it| format!("{word} {it}")));
        is_around
    }

    fn leaves_with(&mut self, value: Option<&Expr>) {
        self.leaves = true;
        self.succeeds |= !value.is_some_and(gives_error);
    }

    fn add_label(&mut self, label: Option<&syn::Label>) {
        self.labels
            .extend(label.map(|it| it.name.ident.to_string()));
    }
}

impl<'ast> Visit<'ast> for Exit {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        let loops = self.loops;
        match expr {
            // They have a `return` of their own.
            Expr::Closure(_) | Expr::Async(_) => return,
            Expr::Return(it) => self.leaves_with(it.expr.as_deref()),
            Expr::Break(it) if self.turns("break", it.label.as_ref()) => {
                self.leaves_with(it.expr.as_deref());
            }
            Expr::Continue(it) => self.goes_on |= self.turns("continue", it.label.as_ref()),
            Expr::Block(it) => self.add_label(it.label.as_ref()),
            Expr::Loop(it) => self.add_label(it.label.as_ref()),
            Expr::While(it) => self.add_label(it.label.as_ref()),
            Expr::ForLoop(it) => self.add_label(it.label.as_ref()),
            Expr::Try(_) => self.fails = true,
            Expr::Await(_) => self.awaits = true,
            _ => {}
        }
        let is_loop = matches!(expr, Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_));
        self.loops = loops.saturating_add(u32::from(is_loop));
        syn::visit::visit_expr(self, expr);
        self.loops = loops;
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.fails |= macros::fails(mac);
        self.may_leave |= macros::may_leave(mac);
        // `select! { _ = stop => return, it = ask() => it }`
        for statement in crate::code::loose::statements(&mac.tokens) {
            self.visit_stmt(&statement);
        }
    }
}

/// What the body of a loop says.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts")]
pub(super) struct Facts {
    /// What the first sleep is given.
    pub(super) sleep: Option<Expr>,
    /// Whether that is a number of milliseconds.
    pub(super) is_millis: bool,
    /// The method that sleeps, with its receiver, if it is one.
    pub(super) clock: Option<String>,
    /// The macro in which it sleeps, beside what may end that sleep.
    pub(super) beside: Option<String>,
    /// `if result.is_ok() { return .. }`
    pub(super) leaves_on_success: bool,
    /// What numbers of attempts are compared with where that may end the loop.
    pub(super) limits: Vec<Limit>,
    /// What counts the attempts that are left.
    pub(super) left: Option<String>,
    /// Other comparisons of what it counts.
    pub(super) compared: Vec<String>,
    pub(super) counters: Counters,
    /// Where in the file each attempt is counted.
    pub(super) counted_at: Vec<(String, usize)>,
    /// What is set, whole or in part.
    pub(super) set: BTreeSet<String>,
    /// The variables that are set, each with what to.
    pub(super) assignments: Vec<(String, Step)>,
    /// What may change without that.
    pub(super) touched: Touched,
    /// What is called, by name.
    pub(super) calls: Vec<String>,
    /// What was counted before that in this turn.
    counted: BTreeSet<String>,
    /// Whether what is asked here may end the loop.
    decides: bool,
    /// Whether the loop asks if there is a next delay.
    pub(super) is_sequence: bool,
    /// What is set to the next delay, if there is one.
    next: BTreeSet<String>,
    /// Whether the delays grow.
    pub(super) grows: bool,
    pub(super) jitter: bool,
    /// Whether the next turn follows at once.
    pub(super) is_immediate: bool,
}

/// What a variable is set to.
pub(super) enum Step {
    /// `= value`
    Value(Expr),
    /// `*= factor`
    Factor(Expr),
    /// `+= 1` and the like.
    Other,
}

impl Step {
    /// Whether it stands in front of this.
    pub(super) fn is_before(&self, sleep: &Expr) -> bool {
        let place = |it: &Expr| it.span().byte_range().start;
        match self {
            Self::Value(it) | Self::Factor(it) => place(it) < place(sleep),
            Self::Other => false,
        }
    }
}

/// What a number of attempts is compared with.
pub(super) struct Limit {
    pub(super) counter: String,
    pub(super) with: Expr,
    /// Attempts that are made beyond it, where it is asked after the attempt.
    pub(super) more: i64,
    /// Where it stands in the file.
    pub(super) at: usize,
}

impl Facts {
    /// Of the body of a loop, with its condition if it is a `while`, and the number of its turn.
    pub(super) fn of(body: &Block, condition: Option<&Expr>, turn: Option<String>) -> Self {
        let mut facts = Self {
            counters: Counters::of(body),
            ..Self::default()
        };
        facts.counters.up.extend(turn);
        if let Some(condition) = condition {
            facts.decides = true;
            facts.visit_expr(condition);
            facts.decides = false;
        }
        facts.visit_block(body);
        facts
    }

    pub(super) fn of_statement(statement: &syn::Stmt) -> Self {
        let mut facts = Self::default();
        facts.counters.visit_stmt(statement);
        facts.visit_stmt(statement);
        facts
    }

    /// Whether what the loop does changes what this says.
    pub(super) fn changes(&self, value: &Expr) -> bool {
        let mut own = Self::default();
        own.visit_expr(value);
        self.touched.changes(value, &own.touched)
    }

    /// The next delay, where none may be left: `delays.next()`, or a variable that is set to it.
    pub(super) fn may_end(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(it) => {
                (it.path.get_ident()).is_some_and(|it| self.next.contains(&it.to_string()))
            }
            Expr::Tuple(it) => it.elems.iter().any(|it| self.may_end(it)),
            Expr::MethodCall(it) if it.method.to_string().starts_with("ok_or") => {
                self.may_end(&it.receiver)
            }
            expr => conditions::is_sequence(expr),
        }
    }

    /// Whether a number of attempts ends the loop.
    pub(super) fn is_limited(&self) -> bool {
        !self.limits.is_empty() || self.left.is_some()
    }

    /// Reads one of several ways, of which a turn takes one.
    fn way(&mut self, ends: bool, read: impl FnOnce(&mut Self)) -> BTreeSet<String> {
        let before = self.counted.clone();
        read(self);
        let counted = std::mem::replace(&mut self.counted, before);
        if ends { BTreeSet::new() } else { counted }
    }

    /// A number of attempts is compared.
    fn compares(&mut self, it: &syn::ExprBinary) {
        let Some(count) = conditions::comparison(it, &self.counters) else {
            return;
        };
        if !self.decides {
            return self.compared.push(written(it));
        }
        if self.counters.down.contains(&count.counter) {
            self.left = Some(count.counter);
            return;
        }
        let is_counted = self.counted.contains(&count.counter);
        // What is compared before it is counted is a number of retries.
        let more = i64::from(!is_counted) + i64::from(count.is_beyond) - count.added;
        self.limits.push(Limit {
            counter: count.counter,
            with: count.with.clone(),
            more,
            at: it.span().byte_range().start,
        });
    }

    fn sets(&mut self, left: &Expr, step: Step) {
        self.set.extend(super::names(left));
        if matches!(left, Expr::Path(_)) {
            self.assignments.push((written(left), step));
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
                self.is_millis = name.ends_with("_ms");
                self.sleep = call.args.first().cloned();
            }
        }
        syn::visit::visit_expr_call(self, call);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::MethodCall(it) => self.touched.add(&it.receiver, expr),
            Expr::Reference(it) if it.mutability.is_some() => self.touched.add(&it.expr, expr),
            _ => {}
        }
        syn::visit::visit_expr(self, expr);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        self.calls.push(name.clone());
        if is_sleep(&name) && self.sleep.is_none() && call.args.len() == 1 {
            self.is_millis = name.ends_with("_ms");
            self.sleep = call.args.first().cloned();
            self.clock = Some(format!("{}.{name}", written(&call.receiver)));
        }
        let is_option = matches!(name.as_str(), "is_none" | "is_some");
        self.is_sequence |= is_option && self.may_end(&call.receiver);
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
            self.leaves_on_success |= block_succeeds(&it.then_branch);
        }
        let ends = block_turns(&it.then_branch);
        let other_ends = (it.else_branch.as_ref()).is_some_and(|(_, it)| turns(it));
        let outer = std::mem::replace(&mut self.decides, ends || other_ends);
        self.visit_expr(&it.cond);
        self.decides = outer;
        let mut counted = self.way(ends, |this| this.visit_block(&it.then_branch));
        if let Some((_, other)) = &it.else_branch {
            counted.extend(self.way(other_ends, |this| this.visit_expr(other)));
        }
        self.counted.extend(counted);
    }

    fn visit_expr_match(&mut self, it: &'ast syn::ExprMatch) {
        self.is_sequence |= self.may_end(&it.expr);
        self.visit_expr(&it.expr);
        let outer = self.decides;
        let decides = it.arms.iter().any(|arm| turns(&arm.body));
        let mut counted = BTreeSet::new();
        for arm in &it.arms {
            self.decides = decides;
            self.visit_pat(&arm.pat);
            self.decides = outer;
            counted.extend(self.way(turns(&arm.body), |this| this.visit_expr(&arm.body)));
        }
        self.counted.extend(counted);
    }

    fn visit_expr_let(&mut self, it: &'ast syn::ExprLet) {
        self.is_sequence |= self.may_end(&it.expr);
        syn::visit::visit_expr_let(self, it);
    }

    fn visit_local(&mut self, it: &'ast syn::Local) {
        if let Some(init) = &it.init {
            let may_end = self.may_end(&init.expr);
            self.is_sequence |= may_end && init.diverge.is_some();
            self.next
                .extend(patterns::name(&it.pat).filter(|_| may_end));
        }
        syn::visit::visit_local(self, it);
    }

    fn visit_expr_try(&mut self, it: &'ast syn::ExprTry) {
        self.is_sequence |= self.may_end(&it.expr);
        syn::visit::visit_expr_try(self, it);
    }

    fn visit_expr_assign(&mut self, it: &'ast syn::ExprAssign) {
        self.sets(&it.left, Step::Value((*it.right).clone()));
        syn::visit::visit_expr_assign(self, it);
        if steps(&it.left, &it.right).is_some() {
            self.counts(&it.left, it.span().byte_range().start);
        }
    }

    fn visit_expr_binary(&mut self, it: &'ast syn::ExprBinary) {
        match it.op {
            BinOp::MulAssign(_) => self.sets(&it.left, Step::Factor((*it.right).clone())),
            op if is_assignment(op) => self.sets(&it.left, Step::Other),
            _ => {}
        }
        let is_step = matches!(it.op, BinOp::AddAssign(_) | BinOp::SubAssign(_));
        if is_step && integer(&it.right) == Some(1) {
            self.counts(&it.left, it.span().byte_range().start);
        }
        self.grows |= matches!(
            it.op,
            BinOp::MulAssign(_) | BinOp::Shl(_) | BinOp::ShlAssign(_)
        );
        self.compares(it);
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
            if inside.sleep.is_some() && macros::is_select(mac) {
                self.beside = Some(written(&mac.path));
            }
            if self.sleep.is_none() {
                (self.sleep, self.clock) = (inside.sleep, inside.clock);
            }
        }
    }

    // They run elsewhere, or later.
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

impl Facts {
    fn counts(&mut self, counter: &Expr, at: usize) {
        let name = written(counter);
        self.counted.insert(name.clone());
        self.counted_at.push((name, at));
    }
}

/// Whether a way through it ends the turn.
fn turns(expr: &Expr) -> bool {
    let exit = Exit::of(expr);
    exit.leaves || exit.goes_on || always_leaves(expr)
}

fn block_turns(block: &Block) -> bool {
    let exit = Exit::of_block(block);
    exit.leaves || exit.goes_on || block_leaves(block)
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

pub(super) fn is_sleep(name: &str) -> bool {
    matches!(
        name,
        "sleep" | "sleep_ms" | "boxed_sleep" | "delay_for" | "delay_ms"
    )
}
