//! Calls and changes for the tests of the observers of this crate.

use std::time::{Duration, UNIX_EPOCH};

use super::event::{CallInfo, ErrorText};
#[cfg(any(feature = "tracing", feature = "metrics"))]
use crate::breaker::{Change, Name, State};
use reattempt_core::RetryCause;
use reattempt_policy::Telemetry;

/// Of the second of four attempts of `operation`, which took 250 ms.
pub(super) fn facts<'a>(operation: &'static str, error: Option<&'a ErrorText>) -> CallInfo<'a> {
    CallInfo {
        operation,
        policy: "exp",
        request_id: Some("r-17"),
        attempt: 2,
        max: Some(4),
        ended_at: UNIX_EPOCH + Duration::from_millis(1_234_567_890_123),
        elapsed: Some(Duration::from_millis(250)),
        call_elapsed: Some(Duration::from_millis(600)),
        cause: Some(RetryCause::Throttled),
        error,
        budget_balance: None,
        telemetry: Telemetry::new(),
    }
}

#[cfg(any(feature = "tracing", feature = "stats"))]
pub(super) fn error_text(message: &str) -> ErrorText {
    ErrorText {
        kind: "shop::Unavailable",
        message: Some(message.to_owned()),
        cause: None,
        detail: None,
    }
}

/// Returns the change of a breaker of this name.
#[cfg(any(feature = "tracing", feature = "metrics"))]
pub(super) fn change(
    name: &'static str,
    from: State,
    to: State,
    cooldown: Option<Duration>,
) -> Change {
    Change::new(Name::Static(name), from, to, cooldown)
}
