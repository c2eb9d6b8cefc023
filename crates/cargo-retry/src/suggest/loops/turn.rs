//! What a turn of a loop does before the operation.

use syn::visit::Visit;
use syn::{Block, Expr, Stmt};

use super::facts::{Exit, Facts};
use super::names;
use crate::code::written;

/// What a turn does before the operation.
#[derive(Default)]
pub(super) struct Turn<'a> {
    /// What the operation needs, and what only logs.
    pub(super) before: Vec<&'a Stmt>,
    /// Whether that is all.
    pub(super) is_whole: bool,
    /// What of the operation can leave the loop.
    pub(super) left: Option<String>,
}

/// What a turn does before the operation at `place`.
pub(super) fn before<'a>(body: &'a Block, place: usize, operation: &Expr) -> Turn<'a> {
    let mut wanted = names(operation);
    let mut exit = Exit::default();
    exit.visit_expr(operation);
    let own = exit.fails.then(|| "what is tried".to_owned());
    let (mut all, mut is_whole, mut left) = (Vec::new(), true, own);
    for statement in body.stmts.iter().take(place).rev() {
        let mut exit = Exit::default();
        exit.visit_stmt(statement);
        let facts = Facts::of_statement(statement);
        let turns_away = exit.leaves || exit.fails || facts.sleep.is_some();
        let is_wanted = match statement {
            Stmt::Local(local) => !names(&local.pat).is_disjoint(&wanted),
            _ => !turns_away && facts.counters.all().is_empty(),
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
