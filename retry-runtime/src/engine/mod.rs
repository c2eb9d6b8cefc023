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
pub use context::{AttemptStart, CallContext, IntoContext, NamedSite, Until};
pub use gates::{BudgetByPolicy, Gate, Gates, IsBudgeted};
pub use kept::{DropOther, Dropped, Held, Keep, KeepSend, Kept, Stopped};
pub use live::{CallStart, LiveCall, Place, in_full, one_call};
pub use reattempt_observe::{AttemptSpan, Detail, ErrorText, Spanned, in_span, spanned};
#[cfg(feature = "std")]
pub use record::set_recorder;
pub use record::{CallEvent, CallStep};
pub use result::{AttemptResult, Ending};
#[cfg(feature = "std")]
pub use shared::{
    AsShared, BreakerGate, BudgetGate, BulkheadGate, ThrottleGate, of_static, shared,
};
pub use spans::attempt_span;
pub use timed_out::{Lost, TimedOut};
#[cfg(feature = "std")]
pub use timeout::{Limit, limited, limited_hook, not_cut_off};
#[cfg(feature = "std")]
pub use watch::{CopiesOf, WatchCopies};
pub use watch::{Describe, Described};
