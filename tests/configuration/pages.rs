//! The code in the pages about configuration and about the rules.

#[doc = include_str!("../../docs/configuration.md")]
pub mod configuration {}

#[doc = include_str!("../../docs/errors.md")]
pub mod errors {}
