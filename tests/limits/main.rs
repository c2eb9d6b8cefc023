//! What bounds attempts besides the policy: budgets, breakers, throttles, hedges, and how they compose.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that panics has failed"
)]

mod breaker;
mod budget;
mod rules;
mod shapes;
