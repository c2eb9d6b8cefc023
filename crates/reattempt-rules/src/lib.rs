#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), no_std)]
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
pub mod breaker;
#[doc(hidden)]
pub mod budget;
pub mod duration;
#[doc(hidden)]
pub mod hedge;
mod id;
mod key;
mod text;
mod violation;

pub use id::{INDEX, RuleId};
pub use key::{Key, Keys, Kind};
pub use text::{CAPACITY, Letters, Text};
pub use violation::{Consequence, Severity, Violation};
