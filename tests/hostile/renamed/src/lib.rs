//! `crate = ...` in every form: the name `reattempt` does not exist here.

mod blocks;
mod functions;
mod reexported;

use again::{GaveUp, Retry};

/// What can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Try again.
    Busy,
    /// Out of time.
    Over,
}

impl again::Classify for Fault {
    fn classify(&self) -> again::Verdict {
        (*self == Self::Busy).into()
    }
}

impl From<GaveUp> for Fault {
    fn from(_: GaveUp) -> Self {
        Self::Over
    }
}

fn seen(_: &Retry<'_, Fault>) {}

pub use blocks::{asynchronous, sync};
pub use functions::{
    Known, Service, boxed, constant, every_async_key, every_key, failed, plain, polled,
};
pub use reexported::{relative, text};
