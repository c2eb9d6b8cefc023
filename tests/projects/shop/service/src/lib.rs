//! The service itself.

pub mod orders;
pub mod quotes;
