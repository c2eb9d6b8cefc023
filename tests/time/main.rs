//! Time: deadlines that travel, time-outs, retries inside retries, and what is left
//! when a future is dropped or a body panics. Nothing here waits for real.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic_in_result_fn,
    clippy::future_not_send,
    reason = "a test that panics has failed, and its futures stay on their thread"
)]

#[path = "../bombs/mod.rs"]
mod bombs;
#[path = "../capture.rs"]
mod capture;

mod ambient;
mod budgets;
mod cancellation;
mod codes;
mod cut_off;
mod deadlines;
mod drawn;
mod hand_over;
mod history;
mod interrupted;
mod last_error;
mod layers;
mod nested;
mod panics;
mod passed;
mod progress;
mod random;
mod refused;
mod resets;
mod retry_after;
mod runtimes;
mod schedule;
mod support;
mod throttled;
mod timeouts;
mod timers;
mod trees;
mod turns;
mod warning;
