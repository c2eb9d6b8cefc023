//! The meaning of errors for a retry, and the errors of calls that were given up.
//!
//! A library implements [`Classify`] for the errors that its users retry, and needs nothing else.
//! Programs add `reattempt`, which re-exports everything here. The features implement [`Classify`]
//! for the errors of client libraries.
//!
//! Without features the crate has no dependency and needs no allocator.
//!
//! # Examples
//!
//! ```
//! use reattempt_core::{Classify, Verdict};
//!
//! pub enum Error { ConnectionLost, NoSuchKey }
//!
//! impl Classify for Error {
//!     fn classify(&self) -> Verdict {
//!         match self {
//!             Self::ConnectionLost => Verdict::Transient,
//!             Self::NoSuchKey => Verdict::Permanent,
//!         }
//!     }
//! }
//! # assert!(Error::ConnectionLost.classify().is_retryable());
//! # assert!(!Error::NoSuchKey.classify().is_retryable());
//! ```
#![cfg_attr(not(feature = "std"), no_std)]
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

#[doc(hidden)]
pub mod around;
mod cause;
#[doc(hidden)]
pub mod chained;
#[cfg(feature = "std")]
mod clients;
#[doc(hidden)]
pub mod codes;
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod counted;
mod failure;
#[doc(hidden)]
pub mod history;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod inbound;
#[doc(hidden)]
pub mod inherited;
mod key;
#[doc(hidden)]
#[cfg_attr(not(feature = "std"), path = "no_marks.rs")]
pub mod marks;
mod misnamed;
#[doc(hidden)]
pub mod name;
mod outcome;
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod platform;
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod process;
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod random;
mod reason;
#[doc(hidden)]
pub mod rest;
mod retry_error;
#[cfg(feature = "std")]
#[cfg_attr(
    not(test),
    allow(dead_code, reason = "the adapters of some clients need it")
)]
mod said;
mod sync;
pub mod tables;
#[doc(hidden)]
pub mod tail;
mod time;
pub mod timer;
mod timestamp;
mod verdict;
mod verified;
#[doc(hidden)]
pub mod watch;

/// What the heads of answers of gRPC mean.
#[cfg(feature = "tonic014")]
pub mod grpc {
    pub use crate::clients::tonic::of_head;
}

pub use cause::RetryCause;
pub use failure::GaveUp;
pub use key::IdempotencyKey;
pub use outcome::{Outcome, ReportLimit};
pub use reason::GiveUpReason;
pub use retry_error::RetryError;
pub use time::Clock;
pub use timestamp::Timestamp;
pub use verdict::{Absent, Classify, IntoVerdict, Verdict};
pub use verified::{IntoVerified, Verified};
