//! The protocol on its way from service to service: the layers that keep it, and three services over real HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that panics has failed"
)]

mod hostile;
mod layers;
mod names;
mod overload;
mod services;
