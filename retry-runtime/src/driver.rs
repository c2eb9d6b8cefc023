//! What a crate above the runtime needs to drive calls of its own: the expansions of the macros, layers of services,
//! middleware of clients.

pub use crate::attempt::{Started, verdict};
#[cfg(feature = "std")]
pub use crate::engine::{
    AsShared, BreakerGate, BudgetGate, BulkheadGate, CopiesOf, Limit, ThrottleGate, WatchCopies,
    of_static, shared,
};
pub use crate::engine::{
    AttemptResult, AttemptSpan, AttemptStart, BudgetByPolicy, CallContext, CallStart, Describe,
    Described, Detail, DropOther, Dropped, ErrorText, Gate, Gates, Held, IntoContext, IsBudgeted,
    Keep, KeepSend, Kept, LiveCall, Lost, NamedSite, Place, Spanned, Stopped, TimedOut, Until,
    attempt_span, by_code_alone, in_full, in_span, limited, limited_hook, not_cut_off, one_call,
    spanned,
};
pub use crate::ignored::IgnoredTimeout;
#[cfg(feature = "config")]
pub use crate::named::NamedPolicy;
#[cfg(not(feature = "std"))]
pub use crate::operation::DefaultBudget;
pub use crate::operation::{Live, Operation, Site};
pub use reattempt_core::around::{Bounds, BoundsScope};
pub use reattempt_observe::__text as text;
#[cfg(feature = "std")]
pub use reattempt_overload::budget::RefundBudget as DefaultBudget;
