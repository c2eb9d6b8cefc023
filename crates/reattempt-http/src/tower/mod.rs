//! Layers of tower services: [`RetryLayer`] retries calls, [`ServerDeadline`] sets the deadline of
//! a request for the service that handles it, and [`ClientDeadline`] sends the current deadline on
//! to the next service.
//!
//! [`deadline::REQUEST_TIMEOUT`](crate::deadline::REQUEST_TIMEOUT) describes the header that they
//! read and write.

mod client;
mod refusals;
mod retry;
mod server;

pub use client::{ClientDeadline, ClientService};
#[cfg(feature = "tonic014")]
pub use retry::GrpcClassifier;
pub use retry::{
    AlwaysIdempotent, CloneRequest, CloneWith, CutOff, ErrorClassifier, FnClassifier,
    HasIdempotency, JudgeAnswer, MethodIdempotency, RequestCloner, RequestIdempotency, RetryFuture,
    RetryLayer, RetryService, StatusClassifier,
};
pub use server::{ServerDeadline, ServerFuture, ServerService};
