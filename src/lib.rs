#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]

pub use retry_macros::{Classify, retry, retry_block};
pub use retry_runtime::*;

#[cfg(feature = "test-util")]
#[doc = include_str!("../docs/testing.md")]
pub mod testing {
    pub use retry_runtime::testing::*;
}

// Pages, which name things of most features.
#[cfg(all(
    any(doc, doctest),
    feature = "tower",
    feature = "reqwest-middleware05",
    feature = "sqlx08"
))]
#[doc = include_str!("../docs/services/overview.md")]
#[doc = include_str!("../docs/services/http.md")]
#[doc = include_str!("../docs/services/grpc.md")]
#[doc = include_str!("../docs/services/databases.md")]
#[doc = include_str!("../docs/services/redis.md")]
pub mod services {}

#[cfg(all(
    any(doc, doctest),
    feature = "tower",
    feature = "reqwest-middleware05",
    feature = "sqlx08"
))]
#[doc = include_str!("../docs/transactions.md")]
pub mod transactions {}

#[doc(hidden)]
pub use retry_runtime::private as __private;
