//! What the errors of client libraries mean: one file for each library.

#[cfg(feature = "aws1")]
mod aws;
#[cfg(feature = "bb8-09")]
mod bb8;
#[allow(dead_code, reason = "each adapter needs a part of it")]
mod chain;
#[cfg(feature = "deadpool013")]
mod deadpool;
#[cfg(feature = "diesel2")]
mod diesel;
pub(crate) mod gave_up;
#[cfg(feature = "http2")]
mod h2;
#[cfg(all(feature = "hyper1", not(target_os = "unknown")))]
mod hyper;
mod io;
#[cfg(feature = "lettre011")]
mod lettre;
#[cfg(feature = "mysql-async037")]
mod mysql_async;
#[cfg(feature = "object-store014")]
mod object_store;
#[cfg(feature = "redis1")]
mod redis;
#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
mod reqwest;
#[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
mod reqwest_middleware;
#[cfg(any(feature = "sqlx08", feature = "sqlx09"))]
mod sqlx;
#[cfg(all(feature = "tokio", not(target_os = "unknown")))]
mod tokio;
#[cfg(feature = "tokio-postgres07")]
mod tokio_postgres;
#[cfg(feature = "tonic014")]
pub(crate) mod tonic;
#[cfg(feature = "ureq3")]
mod ureq;
