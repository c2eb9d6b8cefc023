//! The adapters against the real thing: servers on the loopback, started here.

mod grpc;
mod http;
mod layer;
mod middleware;
mod postgres;
mod redis;
#[path = "../../examples/servers/mod.rs"]
mod servers;
mod sqlite;
