//! Watching: what happens to calls that do not succeed at once, as typed events.
//!
//! [`add`] an [`Observer`] of the whole process, or one for a [`scope`]; set the id of a request once, by
//! [`request`], and every event below carries it.

use crate::rules::Violation;

mod call;
mod event;
mod observer;
#[cfg(feature = "stats-page")]
mod page;
mod scope;
#[cfg(feature = "stats")]
pub mod stats;
#[cfg(all(test, any(feature = "tracing", feature = "metrics", feature = "stats")))]
mod support;
#[cfg(any(feature = "tracing", feature = "stats"))]
mod time;
#[cfg(feature = "metrics")]
mod to_metrics;
#[cfg(feature = "tracing")]
mod to_tracing;

pub(crate) use call::{
    FailedAttempt, Times, breaker_changed, gives_up, is_watched, recovered, retries,
};
#[doc(hidden)]
pub use event::ErrorText;
pub use event::{CallInfo, Event};
pub use observer::{Observer, ObserverHandle, add};
#[cfg(feature = "stats-page")]
pub use page::stats_page;
pub use scope::{
    Scope, Scoped, current, request, request_blocking, request_id, scope, scope_blocking,
};
#[cfg(feature = "stats")]
pub use stats::stats;
#[cfg(feature = "metrics")]
pub use to_metrics::describe_metrics;
#[cfg(feature = "tracing")]
pub(crate) use to_tracing::attempt_span;

/// Reports that the policy of an operation breaks a rule. Returns whether anybody reads that: metrics and statistics do not
/// show it.
pub(crate) fn invalid_policy(
    operation: &'static str,
    violation: &Violation,
    is_tamed: bool,
) -> bool {
    #[cfg(feature = "tracing")]
    let is_read = to_tracing::reads_errors() || observer::is_added();
    #[cfg(not(feature = "tracing"))]
    let is_read = observer::is_added();
    if is_read {
        observer::tell(&Event::InvalidPolicy {
            operation,
            violation,
            is_tamed,
        });
    }
    is_read
}

/// Reports an event that is about no call.
pub(crate) fn report(event: &Event<'_>) {
    if observer::is_anybody_there() {
        observer::tell(event);
    }
}

/// Whether a feature of this crate is told, whoever else is.
fn has_sinks() -> bool {
    // Nobody can tell whether a recorder of metrics is there; statistics always are.
    #[cfg(any(feature = "metrics", feature = "stats"))]
    return true;
    #[cfg(all(feature = "tracing", not(any(feature = "metrics", feature = "stats"))))]
    return to_tracing::is_on();
    #[cfg(not(any(feature = "tracing", feature = "metrics", feature = "stats")))]
    return false;
}

/// Tells what features of this crate tell.
fn tell_sinks(event: &Event<'_>) {
    #[cfg(feature = "stats")]
    stats::tell(event);
    #[cfg(feature = "metrics")]
    to_metrics::tell(event);
    // The last one: it is the code of others, which may panic.
    #[cfg(feature = "tracing")]
    to_tracing::tell(event);
    let _ = event;
}
