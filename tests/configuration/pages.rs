//! The code in the page about configuration.

#[doc = include_str!("../../docs/configuration.md")]
pub mod configuration {}
