//! Layers of tower services: [`RetryLayer`] retries calls, and [`ClientProtocol`] and [`ServerProtocol`] keep the
//! [protocol](crate::protocol) between services on either side. [`DeadlineShed`] refuses what comes too late out of a queue.

mod client;
mod refusals;
mod retry;
mod server;
mod shed;

pub use client::{ClientFuture, ClientProtocol, ClientService};
#[cfg(feature = "tonic014")]
pub use retry::GrpcClassifier;
pub use retry::{
    AlwaysIdempotent, CloneRequest, CloneWith, CutOff, ErrorClassifier, FnClassifier,
    HasIdempotency, JudgeAnswer, Limits, MayEnd, MethodIdempotency, RequestCloner,
    RequestIdempotency, RetryFuture, RetryLayer, RetryService, StatusClassifier,
};
pub use server::{ServerFuture, ServerProtocol, ServerService};
pub use shed::{DeadlineShed, ShedService};
