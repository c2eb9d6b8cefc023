//! The code in the page about events.

#[doc = include_str!("../../docs/watching.md")]
pub mod watching {}
