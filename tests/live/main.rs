//! Names from configuration as operations ask for them, reloading, and the kill switch. One configuration holds for the
//! process, so the tests here take turns.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic_in_result_fn,
    reason = "a test that panics has failed"
)]

#[path = "../capture.rs"]
mod capture;

mod calls;
mod clients;
mod kill;
mod load;
mod names;
mod precedence;
mod shapes;
mod support;
mod watching;
