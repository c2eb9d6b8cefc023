#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
// What can panic is listed in `docs/panics.md`.
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

pub mod breaker;
pub mod budget;
pub mod bulkhead;
#[cfg(feature = "keyed")]
mod keyed;
mod latencies;
mod sync;
pub mod throttle;
#[cfg(test)]
mod virtual_time;

pub use breaker::Breaker;
pub use budget::Budget;
pub use bulkhead::Bulkhead;
#[cfg(feature = "keyed")]
pub use keyed::Keyed;
pub use latencies::Latencies;
pub use throttle::Throttle;
