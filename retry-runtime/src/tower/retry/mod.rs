//! A policy around a service: the layer, what it asks about requests and answers, and
//! the future of a call.

mod future;
mod judge;
mod layer;
mod request;
#[cfg(all(test, feature = "tokio", feature = "observe"))]
mod tests;

pub use future::RetryFuture;
#[cfg(any(feature = "tonic013", feature = "tonic014"))]
pub use judge::GrpcClassifier;
pub use judge::{
    AnyRequest, AskRequest, Asks, ErrorClassifier, FnClassifier, JudgeAnswer, MethodIdempotency,
    StatusClassifier,
};
pub use layer::{RetryLayer, RetryService};
pub use request::{CloneWith, Cloned, CopyRequest};
