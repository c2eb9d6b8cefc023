//! Steps and workflows under every lint there is, in an old edition, of a crate under another name.

pub mod plain;
#[allow(
    unused_imports,
    missing_docs,
    missing_copy_implementations,
    missing_debug_implementations,
    clippy::restriction,
    clippy::wildcard_imports,
    clippy::used_underscore_binding,
    reason = "the traps are what matters; primitive types are shadowed, too"
)]
pub mod trapped;
#[allow(
    dead_code,
    non_camel_case_types,
    unused_imports,
    unused_macros,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::restriction,
    missing_copy_implementations,
    reason = "traps are there to be fallen into, not used"
)]
#[path = "../../hygiene/src/traps.rs"]
mod traps;
