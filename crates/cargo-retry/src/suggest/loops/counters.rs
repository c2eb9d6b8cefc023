//! What a loop counts, as far as it shows that itself: a name alone does not make a number a count.

use std::collections::BTreeSet;

use syn::visit::Visit;
use syn::{BinOp, Block, Expr};

use super::patterns;
use crate::code::written;
use crate::suggest::keys::integer;

/// What a loop counts, by one, and which of its variables are times.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) up: BTreeSet<String>,
    pub(super) down: BTreeSet<String>,
    pub(super) times: BTreeSet<String>,
}

impl Counters {
    pub(super) fn of(body: &Block) -> Self {
        let mut counters = Self::default();
        counters.visit_block(body);
        counters
    }

    /// What it counts, up or down.
    pub(super) fn all(&self) -> BTreeSet<String> {
        self.up.union(&self.down).cloned().collect()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.up.contains(name) || self.down.contains(name)
    }
}

impl<'ast> Visit<'ast> for Counters {
    fn visit_local(&mut self, it: &'ast syn::Local) {
        if let Some(init) = &it.init
            && let Some(name) = patterns::name(&it.pat)
        {
            let is_time = matches!(&*init.expr, Expr::MethodCall(it) if it.method == "elapsed" && it.args.is_empty());
            if is_time {
                self.times.insert(name);
            }
        }
        syn::visit::visit_local(self, it);
    }

    fn visit_expr_assign(&mut self, it: &'ast syn::ExprAssign) {
        match steps(&it.left, &it.right) {
            Some(true) => _ = self.up.insert(written(&it.left)),
            Some(false) => _ = self.down.insert(written(&it.left)),
            None => {}
        }
        syn::visit::visit_expr_assign(self, it);
    }

    fn visit_expr_binary(&mut self, it: &'ast syn::ExprBinary) {
        if integer(&it.right) == Some(1) {
            match it.op {
                BinOp::AddAssign(_) => _ = self.up.insert(written(&it.left)),
                BinOp::SubAssign(_) => _ = self.down.insert(written(&it.left)),
                _ => {}
            }
        }
        syn::visit::visit_expr_binary(self, it);
    }

    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// `n = n + 1`, `n = n.saturating_add(1)`: whether that is up.
pub(super) fn steps(left: &Expr, right: &Expr) -> Option<bool> {
    let (from, by, is_up) = match unparenthesized(right) {
        Expr::Binary(it) => match it.op {
            BinOp::Add(_) => (&it.left, &*it.right, true),
            BinOp::Sub(_) => (&it.left, &*it.right, false),
            _ => return None,
        },
        Expr::MethodCall(it) => {
            let is_up = match it.method.to_string().as_str() {
                "saturating_add" | "wrapping_add" => true,
                "saturating_sub" | "wrapping_sub" => false,
                _ => return None,
            };
            (&it.receiver, it.args.first()?, is_up)
        }
        _ => return None,
    };
    (written(from) == written(left) && integer(by) == Some(1)).then_some(is_up)
}

pub(super) fn unparenthesized(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(it) => unparenthesized(&it.expr),
        expr => expr,
    }
}

pub(super) fn has_word(name: &str, words: &[&str]) -> bool {
    let name = name.to_lowercase();
    words.iter().any(|word| name.contains(word))
}
