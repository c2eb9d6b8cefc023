//! `forbid`: an `#[allow]` in an expansion is an error here, and so is whatever
//! it would have silenced.
#![forbid(
    future_incompatible,
    let_underscore,
    missing_docs,
    nonstandard_style,
    rust_2018_idioms,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unreachable_code,
    unreachable_patterns,
    unreachable_pub,
    unsafe_code,
    unused,
    unused_assignments,
    unused_braces,
    unused_labels,
    unused_lifetimes,
    unused_must_use,
    unused_mut,
    unused_parens,
    unused_qualifications,
    unused_results,
    unused_variables,
    clippy::all,
    clippy::pedantic,
    clippy::let_underscore_must_use,
    clippy::let_underscore_untyped,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::unreachable,
    clippy::shadow_same
)]

#[path = "../../all_lints/src/asynchronous.rs"]
pub mod asynchronous;
#[path = "../../all_lints/src/blocks.rs"]
pub mod blocks;
#[path = "../../all_lints/src/limits.rs"]
pub mod limits;
#[path = "../../all_lints/src/methods.rs"]
pub mod methods;
#[path = "../../all_lints/src/once.rs"]
pub mod once;
#[path = "../../all_lints/src/strategy.rs"]
pub mod strategy;
#[path = "../../all_lints/src/support.rs"]
pub mod support;
#[path = "../../all_lints/src/sync.rs"]
pub mod sync;
