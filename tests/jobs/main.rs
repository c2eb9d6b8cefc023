//! Jobs that newcomers have, as the README and the guide say to do them. Servers are on the loopback, delays
//! in virtual time.
#![allow(
    clippy::unwrap_used,
    clippy::panic_in_result_fn,
    clippy::expect_used,
    reason = "a test that panics has failed"
)]

#[path = "../capture.rs"]
mod capture;

mod clients;
mod errors;
mod http;
mod policies;
mod programs;
mod services;
mod shapes;
mod watching;
