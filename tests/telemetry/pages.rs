//! The code in the page about events.

#[cfg(doctest)]
#[doc = include_str!("../../docs/watching.md")]
pub mod watching {}
