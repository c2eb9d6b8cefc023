//! The policy, the delays and the state machine behind the `reattempt` crate.
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

mod attempt;
mod backoff;
mod call;
#[cfg(feature = "std")]
pub mod deadline;
mod delays;
pub use reattempt_rules::duration;
mod around;
mod engine;
mod explain;
#[cfg(feature = "std")]
mod hedge;
mod history;
mod inside;
mod jitter;
mod name;
#[cfg(feature = "config")]
mod named;
#[cfg(feature = "std")]
pub mod nesting;
mod operation;
mod outcome;
mod policy;
pub mod rules;
mod run;
pub mod strategy;
#[cfg(feature = "config")]
mod switch;

pub mod timer;
mod verified;
mod worst;

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
pub use backoff::{Backoff, BackoffFn};
pub use call::{Call, CallEnv, Decision};
pub use explain::Explanation;
#[cfg(feature = "std")]
pub use hedge::{Hedge, HedgeRunner, Latencies};
pub use jitter::Jitter;
pub use operation::Operation;
pub use outcome::{Outcome, ReportLimit};
#[doc(hidden)]
pub use policy::KeyValue;
pub use policy::{Nested, Policy};
pub use reattempt_core::{
    Absent, Classify, GaveUp, GiveUpReason, IdempotencyKey, IntoVerdict, RetryError, Verdict,
};
#[cfg(feature = "observe")]
pub use reattempt_observe as observe;
#[cfg(feature = "stats")]
pub use reattempt_observe::stats::{Stats, stats};
pub use reattempt_observe::{Level, Telemetry};
#[cfg(feature = "keyed")]
pub use reattempt_overload::Keyed;
#[cfg(feature = "std")]
pub use reattempt_overload::{
    Breaker, Budget, Bulkhead, Throttle, breaker, budget, bulkhead, throttle,
};
pub use run::{
    AsyncAttemptFn, AttemptFn, AttemptFuture, Classifier, NoLimits, RetryHook, Runner, Setup,
    SharedRetryHook, WithLimits,
};
#[doc(hidden)]
pub use run::{ByClassify, ByStrategy, Hook, HookOf, On, Parts, Shown};
pub use strategy::{FailedAttempt, Strategy};
pub use verified::{IntoVerified, Verified};
pub use worst::WorstCase;
