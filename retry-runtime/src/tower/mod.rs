//! Deadlines of requests, as layers of tower services: [`ServerDeadline`] lets
//! the deadline of a request hold for what serves it, [`ClientDeadline`] sends the
//! deadline that holds on to the next service.
//!
//! What they read and write is in [`deadline::REQUEST_TIMEOUT`](crate::deadline::REQUEST_TIMEOUT).

mod client;
mod refusals;
mod server;

pub use client::{ClientDeadline, ClientService};
pub use server::{ServerDeadline, ServerFuture, ServerService};
