#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]

pub use retry_macros::{Classify, retry, retry_block};
pub use retry_runtime::*;

#[cfg(feature = "test-util")]
#[doc = include_str!("../docs/testing.md")]
pub mod testing {
    pub use retry_runtime::testing::*;
}

#[doc(hidden)]
pub use retry_runtime::private as __private;
