#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), no_std)]
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

#[cfg(feature = "written")]
extern crate alloc;

mod backoff;
mod codes;
mod delays;
pub mod duration;
mod explain;
mod id;
mod jitter;
mod key;
mod misnamed;
mod priority;
pub mod rules;
mod telemetry;
mod text;
mod values;
mod violation;
mod words;
mod worst;
#[cfg(feature = "written")]
#[doc(hidden)]
pub mod written;

pub use backoff::{Backoff, BackoffFn};
#[doc(hidden)]
pub use codes::Meaning;
pub use codes::{Codes, OnCode};
pub use explain::Explanation;
pub use id::{INDEX, RuleId};
pub use jitter::Jitter;
#[doc(hidden)]
pub use jitter::unit;
pub use key::{Key, Keys, Kind};
pub use priority::Priority;
pub use telemetry::{Level, Telemetry};
pub use text::{CAPACITY, Letters, Text};
pub use values::Nested;
#[doc(hidden)]
pub use values::{Course, DefaultBudget, HARMLESS, KeyValue, UNLIMITED, Values};
pub use violation::{Consequence, Severity, Violation};
pub use worst::WorstCase;
