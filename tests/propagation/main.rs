//! Deadlines and attempt numbers on their way from service to service: how they
//! are written, the layers that pass them on, and three services over real HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that panics has failed"
)]

mod format;
mod layers;
mod services;
