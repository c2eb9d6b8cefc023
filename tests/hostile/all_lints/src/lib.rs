//! Every lint there is, on every kind of retried function with every key. Other
//! crates of this folder compile the same files in their own ways.

pub mod asynchronous;
mod attributes;
pub mod blocks;
pub mod limits;
pub mod methods;
pub mod once;
pub mod strategy;
pub mod support;
pub mod sync;
pub mod time;

/// What is private.
///
/// # Errors
///
/// For the lints.
#[inline]
pub async fn private() -> Result<u32, support::Fault> {
    attributes::all().await
}
