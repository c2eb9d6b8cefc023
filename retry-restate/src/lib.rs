#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod delays;
mod handler;
mod handlers;
mod request;
mod signal;
mod wire;

pub use delays::DelaysError;
pub use handlers::{Handlers, SetupError};
pub use request::{RequestError, submit};
