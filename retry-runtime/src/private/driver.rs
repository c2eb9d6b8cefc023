//! What a crate above the runtime needs to drive calls of its own: layers of services, middleware
//! of clients.

pub use crate::engine::{
    AttemptStart, CallContext, Describe, Described, ErrorText, Gate, Gates, LiveCall, Spanned,
    TimedOut, Until, attempt_span, by_code_alone, limited, spanned,
};
#[cfg(feature = "std")]
pub use crate::engine::{BreakerGate, BudgetGate, BulkheadGate, Limit, ThrottleGate};
#[cfg(feature = "std")]
pub use crate::inbound::{Inbound, is_low, learn, used_here};
pub use crate::operation::{Operation, Site};
#[cfg(feature = "std")]
pub use reattempt_core::name::OperationId;
