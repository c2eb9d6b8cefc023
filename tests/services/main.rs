//! The adapters against the real thing: servers on the loopback, started here.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that panics has failed"
)]

mod front;
mod grpc;
mod grpc_layer;
mod hangs;
mod http;
mod http2;
mod layer;
mod layer_http;
mod limits;
mod middleware;
mod outage;
mod postgres;
mod redis;
mod requests;
mod script;
#[path = "../../examples/servers/mod.rs"]
mod servers;
mod sqlite;
mod support;
mod unanswered;
