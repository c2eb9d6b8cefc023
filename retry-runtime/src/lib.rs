//! The policy, the state machine and the timers behind the `reattempt` crate.
//!
//! Add `reattempt` to a project, not this crate: it re-exports everything here
//! together with the attribute.
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

mod around;
mod attempt;
mod call;
#[cfg(feature = "std")]
pub mod deadline;
mod engine;
#[cfg(feature = "std")]
mod hedge;
mod history;
#[cfg(feature = "std")]
mod inbound;
mod inside;
#[cfg(feature = "config")]
mod named;
#[cfg(feature = "std")]
pub mod nesting;
mod operation;
mod outcome;
mod policy;
mod run;
pub mod strategy;
#[cfg(feature = "config")]
mod switch;

mod verified;

// Floor 0, by the names that the modules here import.
mod failure {
    pub(crate) use reattempt_core::{GaveUp, RetryError};
}
mod verdict {
    pub(crate) use reattempt_core::{Absent, Classify, IntoVerdict, Verdict};
}

#[doc(hidden)]
pub mod private;

pub use attempt::{Attempt, Cause, Retry};
pub use call::{Call, CallEnv, Decision};
#[cfg(feature = "std")]
pub use hedge::{Hedge, HedgeRunner, Latencies};
pub use operation::Operation;
pub use outcome::{Outcome, ReportLimit};
pub use policy::Policy;
pub use reattempt_core::timer;
pub use reattempt_core::{
    Absent, Classify, GaveUp, GiveUpReason, IdempotencyKey, IntoVerdict, RetryError, Verdict,
};
#[cfg(feature = "observe")]
pub use reattempt_observe as observe;
#[cfg(feature = "stats")]
pub use reattempt_observe::stats::{Stats, stats};
#[cfg(feature = "keyed")]
pub use reattempt_overload::Keyed;
#[cfg(feature = "std")]
pub use reattempt_overload::{
    Breaker, Budget, Bulkhead, Throttle, breaker, budget, bulkhead, throttle,
};
pub use reattempt_policy::{
    Backoff, BackoffFn, Codes, Explanation, Jitter, Level, Nested, OnCode, Priority, Telemetry,
    WorstCase, duration, rules,
};
#[doc(hidden)]
pub use reattempt_policy::{KeyValue, Values};
pub use run::{
    AsyncAttemptFn, AttemptFn, AttemptFuture, Classifier, NoLimits, RetryHook, Runner, SendSetup,
    Setup, SharedRetryHook, WithLimits,
};
#[doc(hidden)]
pub use run::{ByClassify, ByStrategy, Hook, HookOf, On, Parts, Shown};
pub use strategy::{FailedAttempt, Strategy};
pub use verified::{IntoVerified, Verified};
