//! What names of macros and methods say of their arguments.

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
/// Macros that nothing follows.
pub(super) const ENDS: &[&str] = &["bail", "panic", "todo", "unimplemented", "unreachable"];

/// Whether a method may take a value, by its name.
pub(super) fn may_take(method: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "as_",
        "borrow",
        "clone",
        "contains",
        "ends_with",
        "get",
        "insert",
        "is_",
        "iter",
        "len",
        "lock",
        "push",
        "read",
        "set_",
        "starts_with",
        "to_",
        "write",
    ];
    !PREFIXES.iter().any(|prefix| method.starts_with(prefix))
}

/// Whether a method usually takes a value, and is never generic over what it returns.
pub(super) fn takes(method: &str) -> bool {
    const NAMES: &[&str] = &[
        "boxed",
        "build",
        "bytes",
        "close",
        "commit",
        "compat",
        "compat_write",
        "finish",
        "join",
        "persist",
        "rollback",
        "send",
        "shutdown",
        "text",
    ];
    const GENERIC: &[&str] = &[
        "into_active_model",
        "into_any",
        "into_deserializer",
        "into_model",
        "into_request",
        "into_streaming_request",
    ];
    let is_conversion = method.starts_with("into_") && !GENERIC.contains(&method);
    is_conversion || NAMES.contains(&method)
}
