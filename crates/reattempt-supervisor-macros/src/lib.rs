//! The attributes of durable tasks, which the `reattempt-supervisor` crate re-exports. The retries
//! of a step are an ordinary `#[retry(...)]` on the inner function, so `reattempt` parses, checks
//! and expands their keys.
//!
//! The stages: tokens -> `args` and `function` -> `values` -> `step` or `workflow`.
// Every possible panic is fixed or listed in `docs/panics.md`.
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

mod args;
mod attributes;
mod expand;
mod function;
mod limit;
mod step;
#[cfg(test)]
mod tests;
mod types;
mod undo;
mod values;
mod workflow;

use proc_macro::TokenStream;

#[doc = include_str!("../docs/step.md")]
#[proc_macro_attribute]
pub fn step(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::attribute(arguments.into(), item.into(), step::expand).into()
}

#[doc = include_str!("../docs/workflow.md")]
#[proc_macro_attribute]
pub fn workflow(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::attribute(arguments.into(), item.into(), workflow::expand).into()
}
