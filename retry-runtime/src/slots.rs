//! What crates above the runtime fill: the record of a test, and the policies of a configuration. Virtual time and the
//! seed have their slots in the core.

#[cfg(feature = "std")]
pub use crate::engine::set_recorder;
pub use crate::engine::{AttemptResult, CallEvent, CallStep, Ending};
#[cfg(feature = "config")]
pub use crate::named::{NamedPolicy, PolicySource, Snapshot, set_policy_source};
#[cfg(feature = "config")]
pub use crate::switch::{BY_CALL, BY_FILE, are_retries_on, switch};
