//! What names of macros and methods say of their arguments, and what strings of formats name.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ExprMethodCall;

/// Macros that borrow their arguments.
pub(super) const BORROWS: &[&str] = &[
    "assert",
    "debug_assert",
    "eprint",
    "eprintln",
    "format",
    "matches",
    "print",
    "println",
    "write",
    "writeln",
];
/// Macros of logging, whose syntax is their own.
pub(super) const LOGS: &[&str] = &[
    "assert_eq",
    "assert_ne",
    "debug",
    "debug_assert_eq",
    "debug_assert_ne",
    "debug_span",
    "error",
    "error_span",
    "event",
    "info",
    "info_span",
    "log",
    "span",
    "trace",
    "trace_span",
    "warn",
    "warn_span",
];
/// Macros that take their arguments.
pub(super) const TAKES: &[&str] = &["dbg", "join", "pin", "try_join", "vec"];
/// Macros that make an error of a format, or of a value that they take.
pub(super) const MESSAGES: &[&str] = &["anyhow", "bail", "eyre"];
/// Macros that nothing follows.
pub(super) const ENDS: &[&str] = &["bail", "panic", "todo", "unimplemented", "unreachable"];

/// Whether a method mostly takes a value, by its name.
pub(super) fn takes(method: &str) -> bool {
    const NAMES: &[&str] = &[
        "abort",
        "boxed",
        "build",
        "bytes",
        "cancel",
        "chain",
        "cloned",
        "close",
        "collect",
        "commit",
        "compat",
        "compat_write",
        "complete",
        "copied",
        "detach",
        "disconnect",
        "enumerate",
        "filter",
        "filter_map",
        "finalize",
        "finish",
        "flat_map",
        "fold",
        "for_each",
        "join",
        "lock_owned",
        "logout",
        "map",
        "message",
        "persist",
        "quit",
        "rev",
        "rollback",
        "send",
        "shutdown",
        "skip",
        "stop",
        "sum",
        "take",
        "text",
        "try_into",
        "upgrade",
        "zip",
    ];
    const STARTS: &[&str] = &["into_", "unwrap_or", "visit_"];
    STARTS.iter().any(|start| method.starts_with(start)) || NAMES.contains(&method)
}

/// Whether a call only looks at a value, by the customs of names.
pub(super) fn looks(call: &ExprMethodCall) -> bool {
    const NAMES: &[&str] = &[
        "chars",
        "clone",
        "contains",
        "contains_key",
        "first",
        "get",
        "iter",
        "keys",
        "last",
        "len",
        "lines",
        "starts_with",
        "trim",
        "values",
    ];
    const STARTS: &[&str] = &["as_", "has_", "is_"];
    let method = call.method.to_string();
    // With arguments, `query.to_statement(client)`, it is no conversion.
    let is_conversion = method.starts_with("to_") && call.args.is_empty();
    let is_question = STARTS.iter().any(|start| method.starts_with(start));
    NAMES.contains(&&*method) || is_question || is_conversion
}

/// The variables in the strings of formats: `x` in `"{x:?}"`.
pub(super) fn formatted(tokens: &TokenStream) -> Vec<Ident> {
    let mut found = Vec::new();
    for token in tokens.clone() {
        match token {
            TokenTree::Group(group) => found.extend(formatted(&group.stream())),
            TokenTree::Literal(literal) => {
                let Ok(text) = syn::parse2::<syn::LitStr>(TokenTree::from(literal).into()) else {
                    continue;
                };
                let plain = text.value().replace("{{", "");
                let names = plain.split('{').skip(1).filter_map(|it| {
                    let name = it.split(['}', ':']).next()?;
                    let mut name = syn::parse_str::<Ident>(name).ok()?;
                    name.set_span(text.span());
                    Some(name)
                });
                found.extend(names);
            }
            _ => {}
        }
    }
    found
}
