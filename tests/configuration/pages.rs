//! The code in the pages about configuration and about the rules.

#[cfg(doctest)]
#[doc = include_str!("../../docs/configuration.md")]
pub mod configuration {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/errors.md")]
pub mod errors {}
