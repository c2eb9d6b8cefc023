//! What `reattempt-testing` fills: the record of a test. Virtual time and the seed have their slots in the core.

#[cfg(feature = "std")]
pub use crate::engine::set_recorder;
pub use crate::engine::{AttemptResult, CallEvent, CallStep, Ending};
