//! What the errors of other libraries mean: one file a library.

mod chain;
#[cfg(feature = "hyper1")]
mod hyper;
#[cfg(any(feature = "redis032", feature = "redis1"))]
mod redis;
#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
mod reqwest;
#[cfg(any(feature = "sqlx08", feature = "sqlx09"))]
mod sqlx;
#[cfg(feature = "tokio")]
mod tokio;
#[cfg(any(feature = "tonic013", feature = "tonic014"))]
mod tonic;
