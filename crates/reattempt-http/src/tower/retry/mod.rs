//! A policy around a service: the layer, its classifiers of answers and cloners of requests, and
//! the future of a call.

mod classifier;
mod cloner;
mod ends;
mod future;
mod idempotency;
mod layer;
mod misnamed;
mod plan;
#[cfg(test)]
mod tests;

#[cfg(feature = "tonic014")]
pub use classifier::GrpcClassifier;
pub use classifier::{ErrorClassifier, FnClassifier, JudgeAnswer, StatusClassifier};
pub use cloner::{CloneRequest, CloneWith, RequestCloner};
pub use ends::{CutOff, Limits, MayEnd};
pub use future::RetryFuture;
pub use idempotency::{AlwaysIdempotent, HasIdempotency, MethodIdempotency, RequestIdempotency};
pub use layer::{RetryLayer, RetryService};
