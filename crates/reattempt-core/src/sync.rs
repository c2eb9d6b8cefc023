//! What the threads of a process share, in one place: the models of `tests/loom` put loom's here.

pub(crate) use core::sync::atomic::{AtomicU32, Ordering};
#[cfg(feature = "std")]
pub(crate) use std::sync::{Mutex, PoisonError};

/// A `static`, which is made at its first use where loom's cannot be made in a constant.
macro_rules! shared {
    ($name:ident: $type:ty = $value:expr) => {
        static $name: $type = $value;
    };
}
pub(crate) use shared;
