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
#[doc(hidden)]
pub mod described;
#[cfg(feature = "observers")]
mod event;
#[cfg(feature = "std")]
mod invalid;
#[cfg(feature = "observers")]
mod observer;
#[cfg(feature = "observers")]
mod report;
#[cfg(feature = "observers")]
mod said;
#[cfg(feature = "observers")]
mod scope;
#[cfg(feature = "std")]
mod shield;
mod spans;
#[cfg(feature = "stats")]
pub mod stats;
#[cfg(all(test, any(feature = "tracing", feature = "metrics", feature = "stats")))]
mod support;
mod text;
#[cfg(any(feature = "tracing", feature = "stats"))]
mod time;
#[cfg(feature = "metrics")]
mod to_metrics;
#[cfg(feature = "tracing")]
mod to_tracing;

#[cfg(feature = "observers")]
#[doc(hidden)]
pub use call::{
    Call, CallId, FailedAttempt, Times, breaker_changed, copy_started, copy_won, dropped, gives_up,
    is_watched, recovered, retries, wants_times,
};
#[cfg(feature = "observers")]
pub use event::{CallInfo, Event};
#[cfg(feature = "std")]
#[doc(hidden)]
pub use invalid::invalid_policy;
#[cfg(feature = "observers")]
pub use observer::Observer;
#[cfg(feature = "observers")]
pub use reattempt_core::RetryCause;
pub use reattempt_policy::{Level, Telemetry};
#[cfg(feature = "observers")]
pub use report::{ObserverHandle, add};
#[cfg(feature = "observers")]
#[doc(hidden)]
pub use report::{has_sinks, report};
#[cfg(feature = "observers")]
#[doc(hidden)]
pub use said::{said, said_with_causes, shown};
#[cfg(feature = "observers")]
pub use scope::{
    Scope, Scoped, current, request, request_blocking, request_id, scope, scope_blocking,
};
#[cfg(feature = "std")]
#[doc(hidden)]
pub use shield::shielded;
#[doc(hidden)]
pub use spans::{AttemptSpan, Spanned, in_span, spanned};
#[cfg(feature = "stats")]
pub use stats::stats;
#[doc(hidden)]
pub use text::{Detail, ErrorText};
#[cfg(feature = "metrics")]
pub use to_metrics::describe_metrics;
#[cfg(feature = "tracing")]
#[doc(hidden)]
pub use to_tracing::{default_budget_is_empty, warn_in_async};
