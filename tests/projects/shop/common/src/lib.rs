//! What all crates of the shop share.

pub mod error;
pub mod policies;
pub mod prelude;
