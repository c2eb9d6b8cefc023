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

mod attempt;
mod call;
#[cfg(feature = "std")]
pub mod deadline;
mod engine;
mod ignored;
mod inside;
#[cfg(feature = "config")]
mod named;
#[cfg(feature = "std")]
pub mod nesting;
mod operation;
mod policy;
mod run;
pub mod strategy;
#[cfg(feature = "config")]
mod switch;

// Floor 0, by the names that the modules here import.
mod around {
    #[cfg(feature = "std")]
    pub(crate) use reattempt_core::around::is_low;
    pub(crate) use reattempt_core::around::{
        Bounds, BoundsScope, RetryScope, is_plain, is_quiet, marks, retries,
    };
    #[cfg(feature = "std")]
    pub(crate) use reattempt_core::inherited::{now, remaining_unenforced, unenforced};
    pub(crate) use reattempt_core::inherited::{on_shared_clock, remaining, until};
}
mod failure {
    pub(crate) use reattempt_core::{GaveUp, RetryError};
}
mod outcome {
    pub(crate) use reattempt_core::{Outcome, ReportLimit};
}
mod verdict {
    pub(crate) use reattempt_core::{Classify, IntoVerdict, Verdict};
}

#[doc(hidden)]
pub mod driver;
#[doc(hidden)]
pub mod slots;

pub use attempt::{Attempt, Cause, Retry};
pub use call::{Call, CallEnv, Decision};
pub use operation::Operation;
pub use policy::Policy;
pub use reattempt_core::timer;
pub use reattempt_core::{
    Absent, Classify, GaveUp, GiveUpReason, IdempotencyKey, IntoVerdict, IntoVerified, Outcome,
    ReportLimit, RetryError, Verdict, Verified,
};
#[cfg(feature = "observe")]
pub use reattempt_observe as observe;
#[cfg(feature = "stats")]
pub use reattempt_observe::stats::{Stats, stats};
#[cfg(feature = "keyed")]
pub use reattempt_overload::Keyed;
#[cfg(feature = "std")]
pub use reattempt_overload::{
    Breaker, Budget, Bulkhead, Latencies, Throttle, breaker, budget, bulkhead, throttle,
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
