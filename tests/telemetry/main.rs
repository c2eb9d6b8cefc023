//! What others read of calls that are retried: lines and spans of `tracing`, metrics by a scrape over HTTP,
//! statistics. Operations have names of their own, because metrics and statistics are those of the process.
#![allow(
    clippy::unwrap_used,
    clippy::panic_in_result_fn,
    clippy::expect_used,
    reason = "a test that panics has failed"
)]

#[path = "../capture.rs"]
mod capture;

mod lines;
mod methods;
mod metrics;
mod names;
mod rules;
mod spans;
mod stats;
mod support;
