//! The macros that a loop calls, and what their names say of them.

use syn::visit::Visit;
use syn::{Expr, Macro};

use crate::code::written;

fn name(mac: &Macro) -> String {
    let name = mac.path.segments.last().map(|it| it.ident.to_string());
    name.unwrap_or_default()
}

/// A macro that prints or logs.
pub(in crate::suggest) fn logs(mac: &Macro) -> bool {
    is_log(&name(mac))
}

/// The name of a macro or a function that prints or logs.
pub(super) fn is_log(name: &str) -> bool {
    matches!(
        name,
        "print"
            | "println"
            | "eprint"
            | "eprintln"
            | "dbg"
            | "trace"
            | "debug"
            | "info"
            | "warn"
            | "error"
            | "log"
            | "event"
    ) || name.starts_with("log_")
        || name.ends_with("_log")
        || name.starts_with("debug_")
        || name.starts_with("trace_")
}

/// A macro that waits for the first of several.
pub(super) fn is_select(mac: &Macro) -> bool {
    matches!(name(mac).as_str(), "select" | "select_biased")
}

/// A macro that never goes on.
pub(super) fn ends(mac: &Macro) -> bool {
    matches!(
        name(mac).as_str(),
        "bail" | "panic" | "unreachable" | "todo" | "unimplemented"
    )
}

/// A macro that returns an error.
pub(super) fn fails(mac: &Macro) -> bool {
    matches!(name(mac).as_str(), "bail" | "ensure")
}

/// A macro that may return, or leave the loop: nothing is known of its name.
pub(super) fn may_leave(mac: &Macro) -> bool {
    let name = name(mac);
    let is_of_std = matches!(
        name.as_str(),
        "assert"
            | "assert_eq"
            | "assert_ne"
            | "cfg"
            | "concat"
            | "env"
            | "file"
            | "format"
            | "format_args"
            | "include_str"
            | "line"
            | "matches"
            | "stringify"
            | "vec"
            | "write"
            | "writeln"
            | "anyhow"
            | "eyre"
            | "json"
    );
    !(is_of_std || is_log(&name) || ends(mac) || fails(mac))
}

/// Whether it calls a macro, of whatever kind.
pub(super) fn has_macro(expr: &Expr) -> bool {
    struct Any(bool);
    impl<'ast> Visit<'ast> for Any {
        fn visit_macro(&mut self, _: &'ast Macro) {
            self.0 = true;
        }
    }
    let mut any = Any(false);
    any.visit_expr(expr);
    any.0
}

/// The macros among the statements of an expression that may leave the loop.
pub(super) struct UnknownMacros(pub(super) Vec<String>);

impl UnknownMacros {
    pub(super) fn of(expr: &Expr) -> Self {
        let mut found = Self(Vec::new());
        found.visit_expr(expr);
        found
    }
}

impl<'ast> Visit<'ast> for UnknownMacros {
    fn visit_stmt_macro(&mut self, it: &'ast syn::StmtMacro) {
        if may_leave(&it.mac) {
            self.0.push(written(it));
        }
    }
}
