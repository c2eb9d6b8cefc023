#![doc = include_str!("../README.md")]
//!
//! In the repository, `cargo run --release -p reattempt-storm` prints the figures and draws the pictures of `docs/storms`.
// `docs/panics.md` lists what can panic.
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

mod calls;
pub mod client;
pub mod clock;
pub mod draw;
pub mod engine;
pub mod figures;
pub mod load;
pub mod pictures;
pub mod record;
pub mod scenarios;
pub mod scene;
pub mod server;
pub mod summary;
