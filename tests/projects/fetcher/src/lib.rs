//! Fetches feeds.
#![allow(async_fn_in_trait, reason = "for callers in this crate")]

#[macro_use]
mod macros;
#[path = "generated/api_v2.rs"]
pub mod api;
pub mod feed;
pub mod limits;
pub mod shared;
pub mod store;
pub mod waits;

// Not a module: its text stands here.
include!("generated/table.rs");
