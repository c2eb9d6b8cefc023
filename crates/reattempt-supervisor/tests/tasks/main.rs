//! What tasks, stores and operators can rely on. They are one program: a program for each of them would link the whole
//! crate as often, and would wait for its servers alone. What needs a process of its own stands beside this folder.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::panic_in_result_fn,
    clippy::as_conversions,
    clippy::cast_precision_loss,
    clippy::ptr_arg,
    clippy::trivially_copy_pass_by_ref,
    clippy::unused_async,
    reason = "a test that panics has failed; parts of a time need not be exact; steps are async, also those that wait for nothing, and a compensation gets a reference to the result"
)]

#[path = "../kit/mod.rs"]
mod kit;
#[path = "../../../../examples/servers/mod.rs"]
mod servers;

mod agents;
mod agents_python;
mod arguments;
mod children;
mod clock;
mod codecs;
mod costs;
mod crowds;
mod engine;
mod events;
mod failures;
mod families;
mod feed;
mod feed_deaths;
mod feed_gaps;
mod forks;
mod generations;
mod identity;
mod idle;
mod inputs;
mod kept;
mod lanes;
mod limited;
mod limits;
mod losses;
mod operators;
mod pool;
mod postgres;
mod repair;
mod replays;
mod retention;
mod schedules;
mod shapes;
mod snapshot;
mod stores;
mod suspects;
mod transactions;
mod unknown;
mod watching;
mod workflows;
