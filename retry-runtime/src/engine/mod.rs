//! The drivers of the machine: what runs an attempt, waits for a delay and reports what happens. They differ in
//! these three things only; [`Call::failed`](crate::Call::failed) decides for all of them.

#[cfg(feature = "std")]
mod asynchronous;
#[cfg(not(feature = "std"))]
mod bare;
#[cfg(feature = "tracing")]
mod blocked;
mod blocking;
mod codes;
mod context;
mod decide;
mod default_budget;
mod gates;
mod kept;
mod live;
mod record;
mod result;
#[cfg(feature = "std")]
mod shared;
mod spans;
#[cfg(all(test, feature = "std"))]
mod tests;
mod timed_out;
#[cfg(feature = "std")]
mod timeout;
mod watch;

#[cfg(not(feature = "std"))]
pub use bare::{limited, limited_hook, not_cut_off};
pub use codes::by_code_alone;
pub(crate) use context::IntoContext;
pub use context::{AttemptStart, CallContext, NamedSite, Until};
pub use gates::{BudgetByPolicy, Gate, Gates, IsBudgeted};
pub use kept::{DropOther, Held, Keep, KeepSend, Stopped};
pub(crate) use kept::{Dropped, Kept};
pub(crate) use live::Place;
pub use live::{CallStart, LiveCall, in_full, one_call};
#[cfg(feature = "std")]
pub use record::set_recorder;
pub use record::{CallEvent, CallStep};
pub use result::{AttemptResult, Ending};
#[cfg(feature = "std")]
pub use shared::{
    AsShared, BreakerGate, BudgetGate, BulkheadGate, ThrottleGate, of_static, shared,
};
pub use spans::{AttemptSpan, Spanned, attempt_span, in_span, spanned};
pub use timed_out::{Lost, TimedOut};
#[cfg(feature = "std")]
pub use timeout::{Limit, limited, limited_hook, not_cut_off};
#[cfg(feature = "std")]
pub use watch::{CopiesOf, WatchCopies};
pub use watch::{Describe, Described, Detail, ErrorText};
