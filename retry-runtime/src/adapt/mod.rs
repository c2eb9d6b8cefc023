//! Policies around the clients of other libraries.

#[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
mod reqwest_middleware;

#[cfg(all(feature = "tower", any(feature = "tonic013", feature = "tonic014")))]
pub(crate) use reattempt_core::grpc::of_head;
#[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
pub use reqwest_middleware::RetryMiddleware;
