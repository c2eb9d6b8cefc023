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

// Here, since nothing that retries compiles before it: it is the only error.
#[cfg(all(not(feature = "wasm"), target_os = "unknown"))]
compile_error!(
    "on `wasm32-unknown-unknown` only JavaScript has a clock and a timer: enable the feature `wasm` of `reattempt`, or switch \
     `std` off (`default-features = false`) and give each call a `timer` of your own"
);

pub mod breaker;
pub mod budget;
pub mod bulkhead;
#[cfg(feature = "keyed")]
mod keyed;
mod latencies;
mod misnamed;
mod priority;
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
#[doc(hidden)]
pub use priority::closed;
pub use throttle::Throttle;
