//! Retry storms in virtual time: a discrete-event simulator around the policies, the state machine,
//! the budgets and the breakers of `retry-runtime`, which are the real ones.
//!
//! `cargo run --release -p retry-storm` prints the figures and draws the pictures of `docs/storms`.

pub mod client;
pub mod clock;
pub mod draw;
pub mod engine;
pub mod figures;
pub mod load;
pub mod pictures;
pub mod scenarios;
pub mod server;
