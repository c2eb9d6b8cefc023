//! Models of what threads share: the very files of the runtime, with loom's atomics in the place of `core`'s.
#![cfg(test)]
#![allow(dead_code, reason = "the models need not all that the runtime does")]

mod breaker;
mod budget;
mod bulkhead;
mod throttle;
#[allow(
    unreachable_pub,
    unexpected_cfgs,
    reason = "the core exports it, and has a test of its own"
)]
#[path = "../../../crates/reattempt-core/src/watch.rs"]
mod watch;
mod watched;

/// What `sync.rs` of these crates is there.
mod sync {
    pub(crate) use loom::sync::Mutex;
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
    pub(crate) use std::sync::PoisonError;

    /// loom's atomics are made when the model runs.
    macro_rules! constant {
        ($(#[$attribute:meta])* $visibility:vis fn $($rest:tt)*) => {
            $(#[$attribute])* $visibility fn $($rest)*
        };
    }
    pub(crate) use constant;

    macro_rules! shared {
        ($name:ident: $type:ty = $value:expr) => {
            loom::lazy_static! { static ref $name: $type = $value; }
        };
    }
    pub(crate) use shared;
}
