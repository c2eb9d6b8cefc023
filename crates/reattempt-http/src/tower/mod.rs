//! Layers of tower services: [`RetryLayer`] retries calls, [`ServerDeadline`] lets
//! the deadline of a request hold for what serves it, [`ClientDeadline`] sends the
//! deadline that holds on to the next service.
//!
//! What they read and write is in [`deadline::REQUEST_TIMEOUT`](crate::deadline::REQUEST_TIMEOUT).

mod client;
mod refusals;
mod retry;
mod server;

pub use client::{ClientDeadline, ClientService};
#[cfg(any(feature = "tonic013", feature = "tonic014"))]
pub use retry::GrpcClassifier;
pub use retry::{
    AlwaysIdempotent, CloneRequest, CloneWith, ErrorClassifier, FnClassifier, HasIdempotency,
    JudgeAnswer, MethodIdempotency, RequestCloner, RequestIdempotency, RetryFuture, RetryLayer,
    RetryService, StatusClassifier,
};
pub use server::{ServerDeadline, ServerFuture, ServerService};
