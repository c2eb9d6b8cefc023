//! Models of what threads share: the very files of the runtime, with loom's atomics in the place of `core`'s.
#![cfg(test)]
#![allow(dead_code, reason = "the models need not all that the runtime does")]

mod breaker;
mod budget;
mod bulkhead;
mod throttle;

/// What `retry-runtime/src/sync.rs` is there.
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};

    /// loom's atomics are made when the model runs.
    macro_rules! constant {
        ($(#[$attribute:meta])* $visibility:vis fn $($rest:tt)*) => {
            $(#[$attribute])* $visibility fn $($rest)*
        };
    }
    pub(crate) use constant;
}
