//! The attribute and the macros of the `reattempt` crate, which re-exports them.
//!
//! The stages: tokens -> [`reattempt_syntax`], which parses and checks them -> `expand`.
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

#[macro_use(ours)]
extern crate reattempt_syntax;

mod classify;
mod expand;
mod instrument;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

// Members of `tests` run the code of the pages: it needs the facade.
#[cfg_attr(not(doctest), doc = include_str!("../docs/retry.md"))]
#[proc_macro_attribute]
pub fn retry(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::attribute(&arguments.into(), item.into()).into()
}

#[cfg_attr(not(doctest), doc = include_str!("../docs/retry_block.md"))]
#[proc_macro]
pub fn retry_block(input: TokenStream) -> TokenStream {
    expand::block(input.into()).into()
}

#[cfg_attr(not(doctest), doc = include_str!("../docs/classify.md"))]
#[proc_macro_derive(
    Classify,
    attributes(
        retry,
        classify,
        transient,
        permanent,
        throttled,
        refused,
        forbidden,
        inherit,
        retryable,
        non_retryable,
        fatal
    )
)]
pub fn classify(input: TokenStream) -> TokenStream {
    classify::derive(input.into()).into()
}
