//! Values that only the running program knows: `max = self.max`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that panics has failed, and its numbers are small"
)]

mod clients;
mod hooks;
mod observers;
mod options;
mod rules;
mod streams;
mod values;
