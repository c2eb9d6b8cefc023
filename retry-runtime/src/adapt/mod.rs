//! What the errors of other libraries mean: one file a library.

#[cfg(any(
    feature = "hyper1",
    feature = "http2",
    feature = "sqlx08",
    feature = "sqlx09"
))]
mod chain;
#[cfg(feature = "http2")]
mod h2;
#[cfg(feature = "hyper1")]
mod hyper;
#[cfg(any(feature = "redis032", feature = "redis1"))]
mod redis;
#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
mod reqwest;
#[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
mod reqwest_middleware;
#[cfg(any(feature = "sqlx08", feature = "sqlx09"))]
mod sqlx;
#[cfg(feature = "tokio")]
mod tokio;
#[cfg(any(feature = "tonic013", feature = "tonic014"))]
mod tonic;

#[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
pub use reqwest_middleware::RetryMiddleware;
#[cfg(all(feature = "tower", any(feature = "tonic013", feature = "tonic014")))]
pub(crate) use tonic::of_head;
