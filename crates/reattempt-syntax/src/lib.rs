//! What is written in `#[retry(...)]` and `retry_block!(...)`, parsed and checked: the first stages of the macros of
//! [`reattempt`](https://docs.rs/reattempt), in a library, so that `cargo retry` reads what the macros read.
//!
//! The stages: tokens -> [`args`] and [`item`] -> [`check`] -> [`model`]. It follows the macros from version to version
//! and promises nothing to anybody else.
// `docs/panics.md` lists what can panic.
#![cfg_attr(
    not(test),
    warn(
        clippy::arithmetic_side_effects,
        clippy::disallowed_methods,
        clippy::get_unwrap,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_in_result
    )
)]
#![expect(
    missing_debug_implementations,
    reason = "those of `syn` are a feature that everybody who uses the macros would compile"
)]

/// Tokens of ours, hygienic: they see no variable of the user, and no variable
/// of the user sees them.
#[macro_export]
macro_rules! ours {
    ($($tokens:tt)*) => {
        ::quote::quote_spanned!(::proc_macro2::Span::mixed_site()=> $($tokens)*)
    };
}

pub mod args;
pub mod async_block;
pub mod async_trait;
pub mod block;
pub mod check;
pub mod diagnostics;
pub mod escape;
pub mod item;
pub mod keys;
pub mod literal;
pub mod methods;
pub mod model;
pub mod moves;
pub mod rename;
pub mod slips;
pub mod tokens;
pub mod unborrowed;
