//! What the threads of a process share, in one place: the models of `tests/loom` put loom's here.

pub(crate) use std::sync::{Mutex, PoisonError};

pub(crate) use reattempt_core::watch;

/// A `static`, which is made at its first use where loom's cannot be made in a constant.
macro_rules! shared {
    ($name:ident: $type:ty = $value:expr) => {
        static $name: $type = $value;
    };
}
pub(crate) use shared;
