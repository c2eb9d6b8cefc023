// Members of `tests` run the code of the README and of the pages, which needs client libraries.
#![cfg_attr(not(doctest), doc = include_str!("../README.md"))]
//!
//! # Modules
//!
//! | group | modules |
//! |---|---|
//! | what a policy is | [`policy`], [`strategy`], [`timer`], [`runner`] |
//! | what a body and its callees see | [`attempt`], [`deadline`], [`nesting`] |
//! | limits for an outage | [`overload`] |
//! | services | [`tables`], `http`, `tower` (features of these names) |
//! | operating | [`observe`], `config` (feature `config`) |
//! | tests | `testing` (feature `test-util`) |
//! | pages | [`guide`] |
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// `docs/panics.md` lists what can panic.
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

// The attribute, and what most programs name.
#[cfg(feature = "std")]
pub use hedge::Hedge;
pub use reattempt_core::chain;
#[cfg(feature = "macros")]
pub use retry_macros::{Classify, retry, retry_block};
#[cfg(feature = "keyed")]
pub use retry_runtime::Keyed;
pub use retry_runtime::{
    Absent, Attempt, Backoff, GaveUp, GiveUpReason, Jitter, Policy, Retry, RetryError, Strategy,
    Telemetry, Verdict, Verified, strategy, timer,
};
#[cfg(feature = "std")]
pub use retry_runtime::{Breaker, Budget, Bulkhead, Throttle, nesting};
// `Classify` is a trait, too.
pub use retry_runtime::Classify;
// By name, so that the compiler says which feature is missing.
#[cfg(feature = "config")]
pub use reattempt_config as config;
#[cfg(feature = "tower")]
pub use reattempt_http::tower;
#[cfg(feature = "http")]
pub use reattempt_http::{http, protocol};

/// The types that the body and the hooks of a retried operation see.
pub mod attempt {
    pub use retry_runtime::{Attempt, Cause, IdempotencyKey, Retry};
}

#[doc(inline)]
pub use reattempt_core::tables;

/// Policies in detail: rules, delays, worst cases, and how to write durations.
pub mod policy {
    pub use retry_runtime::{
        BackoffFn, Codes, Explanation, Nested, OnCode, Policy, Priority, WorstCase, duration, rules,
    };
}

#[cfg(feature = "stream")]
mod resume;
/// Retries without an attribute: runners around closures, and the state machine of all forms.
pub mod runner {
    #[cfg(feature = "stream")]
    pub use crate::resume::resume;
    pub use retry_runtime::{
        AsyncAttemptFn, AttemptFn, AttemptFuture, Call, CallEnv, Classifier, IntoVerdict,
        IntoVerified, NoLimits, Operation, Outcome, ReportLimit, RetryHook, Runner, SendSetup,
        Setup, SharedRetryHook, WithLimits,
    };
}

/// Budgets, breakers, bulkheads, throttles and hedges: limits that keep retries from overloading a
/// service.
#[cfg(feature = "std")]
pub mod overload {
    pub use crate::hedge::{Hedge, HedgeRunner, Latencies};
    #[cfg(feature = "keyed")]
    pub use retry_runtime::Keyed;
    pub use retry_runtime::{
        Breaker, Budget, Bulkhead, Throttle, breaker, budget, bulkhead, throttle,
    };
}

/// Events of calls that do not succeed at once, their receivers, and statistics.
///
/// Without the feature `observe`, the module has only the levels of a policy.
pub mod observe {
    #[cfg(feature = "metrics")]
    pub use retry_runtime::observe::describe_metrics;
    #[cfg(feature = "stats-page")]
    pub use retry_runtime::observe::stats::stats_page;
    #[cfg(feature = "stats")]
    pub use retry_runtime::observe::stats::{
        LastError, OperationStats, Stats, add_breakers, reset, stats,
    };
    #[cfg(feature = "observe")]
    pub use retry_runtime::observe::{
        CallInfo, Event, Observer, ObserverHandle, RetryCause, Scope, Scoped, add, current,
        request, request_blocking, request_id, scope, scope_blocking,
    };
    pub use retry_runtime::{Level, Telemetry};
}

#[cfg(feature = "std")]
pub mod deadline;
#[cfg(feature = "std")]
mod hedge;
#[cfg(feature = "test-util")]
pub mod testing;

/// Reference pages about more than one item: services, overload, configuration, the error index, events.
///
/// [The book](https://reattempt.github.io/reattempt/) teaches all of it from the start.
pub mod guide {
    #[cfg(all(doc, not(doctest)))]
    #[doc = include_str!("../docs/services/overview.md")]
    #[doc = include_str!("../docs/services/http.md")]
    #[doc = include_str!("../docs/services/grpc.md")]
    #[doc = include_str!("../docs/services/databases.md")]
    #[doc = include_str!("../docs/services/redis.md")]
    #[doc = include_str!("../docs/services/others.md")]
    pub mod services {}

    /// Budgets, breakers, throttles, hedges and fallbacks: settings, order and combinations.
    ///
    #[cfg(all(doc, not(doctest)))]
    #[doc = include_str!("../docs/overload.svg")]
    #[doc = ""]
    #[doc = include_str!("../docs/overload.md")]
    pub mod overload {}

    /// Named policies in a file: the keys, what overrides what, reloading, and the kill switch.
    ///
    #[cfg(all(doc, not(doctest)))]
    #[doc = include_str!("../docs/configuration.md")]
    pub mod configuration {}

    /// The rules of policies, one by one: why the library refuses a policy, and what to write instead.
    ///
    #[cfg(all(doc, not(doctest)))]
    #[doc = include_str!("../docs/errors.md")]
    pub mod errors {}

    /// Events, log lines, metrics and statistics of retried calls.
    ///
    #[cfg(all(doc, not(doctest)))]
    #[doc = include_str!("../docs/watching.md")]
    pub mod watching {}
}

#[doc(hidden)]
pub mod __private;
