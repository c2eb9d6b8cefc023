#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// What can panic is listed in `docs/panics.md`.
#![cfg_attr(
    not(test),
    warn(
        clippy::arithmetic_side_effects,
        clippy::disallowed_methods,
        clippy::get_unwrap,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_in_result
    )
)]

#[cfg(feature = "std")]
pub mod breaker;
#[cfg(feature = "observers")]
mod call;
#[cfg(feature = "observers")]
mod event;
#[cfg(feature = "observers")]
mod observer;
#[cfg(feature = "observers")]
mod said;
#[cfg(feature = "observers")]
mod scope;
#[cfg(feature = "stats")]
pub mod stats;
#[cfg(all(test, any(feature = "tracing", feature = "metrics", feature = "stats")))]
mod support;
mod telemetry;
#[cfg(any(feature = "tracing", feature = "stats"))]
mod time;
#[cfg(feature = "metrics")]
mod to_metrics;
#[cfg(feature = "tracing")]
mod to_tracing;

#[cfg(feature = "observers")]
#[doc(hidden)]
pub use call::{
    Call, FailedAttempt, Times, breaker_changed, gives_up, is_watched, recovered, retries,
};
#[cfg(feature = "observers")]
#[doc(hidden)]
pub use event::ErrorText;
#[cfg(feature = "observers")]
pub use event::{CallInfo, Event};
#[cfg(feature = "observers")]
pub use observer::{Observer, ObserverHandle, add};
#[cfg(feature = "observers")]
#[doc(hidden)]
pub use said::{said, shown};
#[cfg(feature = "observers")]
pub use scope::{
    Scope, Scoped, current, request, request_blocking, request_id, scope, scope_blocking,
};
#[cfg(feature = "stats")]
pub use stats::stats;
pub use telemetry::{Level, Telemetry};
#[cfg(feature = "metrics")]
pub use to_metrics::describe_metrics;
#[cfg(feature = "tracing")]
#[doc(hidden)]
pub use to_tracing::attempt_span;

/// Reports that the policy of an operation breaks a rule. Returns whether anybody reads that: metrics and statistics do not
/// show it.
#[cfg(feature = "observers")]
#[doc(hidden)]
pub fn invalid_policy(
    operation: &'static str,
    violation: &reattempt_rules::Violation,
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
#[cfg(feature = "observers")]
#[doc(hidden)]
pub fn report(event: &Event<'_>) {
    if observer::is_anybody_there() {
        observer::tell(event);
    }
}

/// Returns whether an observer of this crate listens.
#[cfg(feature = "observers")]
fn has_sinks() -> bool {
    // Whether a recorder of metrics is installed cannot be asked; statistics always count.
    #[cfg(any(feature = "metrics", feature = "stats"))]
    return true;
    #[cfg(all(feature = "tracing", not(any(feature = "metrics", feature = "stats"))))]
    return to_tracing::is_on();
    #[cfg(not(any(feature = "tracing", feature = "metrics", feature = "stats")))]
    return false;
}

/// Passes the event to the observers of this crate.
#[cfg(feature = "observers")]
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
