//! What the errors of client libraries mean: one file for each library.

#[cfg(any(
    feature = "hyper1",
    feature = "http2",
    feature = "sqlx08",
    feature = "sqlx09"
))]
mod chain;
pub(crate) mod gave_up;
#[cfg(feature = "http2")]
mod h2;
#[cfg(feature = "hyper1")]
mod hyper;
mod io;
#[cfg(feature = "redis1")]
mod redis;
#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
mod reqwest;
#[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
mod reqwest_middleware;
#[cfg(any(feature = "sqlx08", feature = "sqlx09"))]
mod sqlx;
#[cfg(feature = "tokio")]
mod tokio;
#[cfg(feature = "tonic014")]
pub(crate) mod tonic;
