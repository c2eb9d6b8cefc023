//! The atomics of budgets, breakers and throttles, in one place: the models of `tests/loom` put loom's here.

pub(crate) use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A function that is `const` here, and is not where loom's atomics cannot be made in a constant.
macro_rules! constant {
    ($(#[$attribute:meta])* $visibility:vis fn $($rest:tt)*) => {
        $(#[$attribute])* $visibility const fn $($rest)*
    };
}
pub(crate) use constant;
