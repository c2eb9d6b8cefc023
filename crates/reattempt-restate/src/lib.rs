#![doc = include_str!("../README.md")]

mod delays;
mod handler;
mod handlers;
mod request;
mod signal;
mod wire;

pub use delays::DelaysError;
pub use handlers::{Handlers, SetupError};
pub use request::{RequestError, submit};
