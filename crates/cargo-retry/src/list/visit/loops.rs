//! Whether a method calls what it is given again and again.

use syn::{Expr, ExprMethodCall};

/// Methods of iterators and streams alone.
const ALWAYS: &[&str] = &[
    "all",
    "any",
    "find_map",
    "flat_map",
    "fold",
    "for_each",
    "for_each_concurrent",
    "map_while",
    "retain",
    "scan",
    "skip_while",
    "take_while",
    "try_fold",
    "try_for_each",
    "try_for_each_concurrent",
];

/// Those that `Option` and `Result` have, too.
const OFTEN: &[&str] = &[
    "and_then",
    "filter",
    "filter_map",
    "find",
    "inspect",
    "map",
    "position",
    "then",
];

/// What makes an iterator, or hands one on.
const ITERATORS: &[&str] = &[
    "bytes",
    "chain",
    "chars",
    "chunks",
    "drain",
    "enumerate",
    "into_iter",
    "iter",
    "iter_mut",
    "keys",
    "lines",
    "rev",
    "skip",
    "split",
    "split_whitespace",
    "step_by",
    "take",
    "values",
    "windows",
    "zip",
];

/// Whether the arguments of a call are called for each element.
pub(super) fn is_for_each(call: &ExprMethodCall) -> bool {
    let is_one_of = |names: &[&str]| names.iter().any(|name| call.method == name);
    is_one_of(ALWAYS) || is_one_of(OFTEN) && is_iterator(&call.receiver)
}

fn is_iterator(mut expr: &Expr) -> bool {
    loop {
        expr = match expr {
            Expr::Range(_) => return true,
            Expr::Paren(it) => &it.expr,
            Expr::MethodCall(call) => {
                let is_one = |names: &[&str]| names.iter().any(|name| call.method == name);
                if is_one(ITERATORS) || is_one(ALWAYS) && call.method != "fold" {
                    // The first element is one alone.
                    return true;
                }
                if [
                    "next", "last", "nth", "min", "max", "collect", "get", "first",
                ]
                .iter()
                .any(|it| call.method == it)
                {
                    return false;
                }
                &call.receiver
            }
            _ => return false,
        }
    }
}
