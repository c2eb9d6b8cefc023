//! What tasks, stores and operators can rely on. They are one program: a program for each of them would link the whole
//! crate as often, and would wait for its servers alone. What needs a process of its own stands beside this folder.

#[path = "../kit/mod.rs"]
mod kit;
#[path = "../../../../examples/servers/mod.rs"]
mod servers;

mod agents;
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
mod feed_gaps;
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
