//! What bounds attempts besides the policy: budgets, breakers, throttles, hedges, and how they compose.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::items_after_statements,
    clippy::manual_async_fn,
    clippy::type_complexity,
    clippy::unused_self,
    reason = "a test that panics has failed, and shapes are written as users write them"
)]

#[path = "../bombs/mod.rs"]
mod bombs;

mod breaker;
mod budget;
mod bulkhead;
mod default_budget;
mod drops;
mod ends;
mod forecast;
mod hedge;
mod keyed;
mod layer;
mod lookup;
mod order;
mod points;
mod priority;
mod rules;
mod shapes;
mod support;
