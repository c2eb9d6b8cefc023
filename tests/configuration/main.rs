//! Named policies from a file: what is read, what is refused and in what words, what holds over what.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that panics has failed"
)]

mod errors;
mod mistakes;
mod precedence;
mod random;
mod schema;
mod settings;
mod sources;
