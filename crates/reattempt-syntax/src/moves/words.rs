//! What names of macros and methods say of their arguments, and what strings of formats name.

use proc_macro2::{Ident, TokenStream, TokenTree};

/// Macros that borrow their arguments.
pub(super) const BORROWS: &[&str] = &[
    "assert",
    "debug_assert",
    "eprint",
    "eprintln",
    "format",
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
    "error",
    "event",
    "info",
    "log",
    "trace",
    "warn",
];
/// Macros that take their arguments.
pub(super) const TAKES: &[&str] = &["dbg", "join", "pin", "try_join", "vec"];
/// Macros that make an error of a format, or of a value that they take.
pub(super) const MESSAGES: &[&str] = &["anyhow", "bail", "eyre"];
/// Macros that nothing follows.
pub(super) const ENDS: &[&str] = &["bail", "panic", "todo", "unimplemented", "unreachable"];

/// Whether a method may take a value, by its name.
pub(super) fn may_take(method: &str) -> bool {
    const NAMES: &[&str] = &[
        "borrow",
        "borrow_mut",
        "clone",
        "insert",
        "iter",
        "iter_mut",
        "len",
        "lock",
        "push",
        "push_back",
        "push_str",
        "read",
        "write",
    ];
    const PREFIXES: &[&str] = &[
        "as_",
        "contains",
        "ends_with",
        "get",
        "is_",
        "set_",
        "starts_with",
        "to_",
    ];
    !NAMES.contains(&method) && !PREFIXES.iter().any(|prefix| method.starts_with(prefix))
}

/// Whether a method mostly takes a value, by its name.
pub(super) fn takes(method: &str) -> bool {
    const NAMES: &[&str] = &[
        "abort",
        "boxed",
        "build",
        "bytes",
        "cancel",
        "close",
        "commit",
        "compat",
        "compat_write",
        "complete",
        "detach",
        "disconnect",
        "finalize",
        "finish",
        "join",
        "logout",
        "message",
        "persist",
        "quit",
        "rollback",
        "send",
        "shutdown",
        "stop",
        "text",
        "upgrade",
    ];
    method.starts_with("into_") || NAMES.contains(&method)
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
