//! What other attribute macros have written around a body before it came here.

pub(crate) mod async_trait;
pub(crate) mod instrument;
