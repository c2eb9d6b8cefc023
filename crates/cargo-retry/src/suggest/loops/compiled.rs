//! What is compiled only at times.

use syn::visit::Visit;
use syn::{Attribute, Stmt};

use super::facts::Exit;
use super::macros::logs;
use crate::code::written;

/// The conditions under which parts of a loop are compiled, but for lines of its log, which keep theirs.
#[derive(Default)]
pub(super) struct Conditions(pub(super) Vec<String>);

impl Conditions {
    pub(super) fn of(statements: &[Stmt]) -> Self {
        let mut found = Self::default();
        for statement in statements {
            found.visit_stmt(statement);
        }
        found
    }
}

impl<'ast> Visit<'ast> for Conditions {
    fn visit_stmt(&mut self, it: &'ast Stmt) {
        // What leads nowhere decides nothing.
        let exit = Exit::of_statement(it);
        if exit.leaves || exit.goes_on || exit.fails || exit.may_leave {
            syn::visit::visit_stmt(self, it);
        }
    }

    fn visit_stmt_macro(&mut self, it: &'ast syn::StmtMacro) {
        if !logs(&it.mac) {
            syn::visit::visit_stmt_macro(self, it);
        }
    }

    fn visit_attribute(&mut self, it: &'ast Attribute) {
        if it.path().is_ident("cfg") {
            self.0.push(written(it));
        }
    }
}
