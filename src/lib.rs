#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// What can panic is mended or listed in `docs/panics.md`.
#![cfg_attr(
    not(test),
    warn(
        clippy::arithmetic_side_effects,
        clippy::disallowed_methods,
        clippy::get_unwrap,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_in_result
    )
)]

pub use retry_macros::{Classify, retry, retry_block};
pub use retry_runtime::*;
// By name, so that the compiler tells which feature is missing.
#[cfg(feature = "stats-page")]
pub use reattempt_stats_page::stats_page;
#[cfg(feature = "keyed")]
pub use retry_runtime::Keyed;
#[cfg(feature = "config")]
pub use retry_runtime::config;
#[cfg(feature = "http")]
pub use retry_runtime::http;
#[cfg(feature = "observe")]
pub use retry_runtime::observe;
#[cfg(feature = "tower")]
pub use retry_runtime::tower;
#[cfg(feature = "stats")]
pub use retry_runtime::{Stats, stats};

#[cfg(feature = "test-util")]
#[doc = include_str!("../docs/testing.md")]
pub mod testing {
    pub use retry_runtime::testing::*;
}

// Pages; their code needs most of the features.
#[cfg(any(
    doc,
    all(
        doctest,
        feature = "tower",
        feature = "reqwest-middleware05",
        feature = "tonic014",
        feature = "sqlx09"
    )
))]
#[doc = include_str!("../docs/services/overview.md")]
#[doc = include_str!("../docs/services/http.md")]
#[doc = include_str!("../docs/services/grpc.md")]
#[doc = include_str!("../docs/services/databases.md")]
#[doc = include_str!("../docs/services/redis.md")]
pub mod services {}

#[cfg(any(doc, all(doctest, feature = "sqlx09")))]
#[doc = include_str!("../docs/transactions.md")]
pub mod transactions {}

/// What keeps retries from becoming a storm: budgets, breakers, throttles, hedges and fallbacks.
///
#[cfg(any(doc, all(doctest, feature = "keyed", feature = "test-util")))]
#[doc = include_str!("../docs/overload.svg")]
#[doc = ""]
#[doc = include_str!("../docs/overload.md")]
pub mod overload {}

/// Named policies from a file: which are there, what may stand in them, what is said of mistakes.
///
#[cfg(any(doc, all(doctest, feature = "config")))]
#[doc = include_str!("../docs/configuration.md")]
pub mod configuration {}

/// Every rule by which a policy is refused: why, and what to write in its place.
///
#[cfg(any(doc, all(doctest, feature = "tokio")))]
#[doc = include_str!("../docs/errors.md")]
pub mod errors {}

/// Events, lines, metrics and statistics of what is retried.
///
#[cfg(any(
    doc,
    all(
        doctest,
        feature = "test-util",
        feature = "tracing",
        feature = "metrics",
        feature = "stats-page"
    )
))]
#[doc = include_str!("../docs/watching.md")]
pub mod watching {}

#[doc(hidden)]
pub use retry_runtime::private as __private;
