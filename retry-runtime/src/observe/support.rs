//! Facts and events for the tests of what is told.

use std::time::{Duration, UNIX_EPOCH};

use super::event::{CallInfo, ErrorText};
#[cfg(any(feature = "tracing", feature = "metrics"))]
use crate::breaker::{Breaker, Change};
use crate::telemetry::Telemetry;

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
        error,
        budget_balance: None,
        telemetry: Telemetry::new(),
    }
}

#[cfg(any(feature = "tracing", feature = "stats"))]
pub(super) fn told(message: &str) -> ErrorText {
    ErrorText {
        kind: "shop::Unavailable",
        message: Some(message.to_owned()),
    }
}

/// What a breaker of this name says of itself while `change` is done to it.
#[cfg(any(feature = "tracing", feature = "metrics"))]
pub(super) fn changes(name: &'static str, change: impl FnOnce(&Breaker)) -> Vec<Change> {
    let (sender, changes) = std::sync::mpsc::channel();
    let breaker = Breaker::count_window(10)
        .name(name)
        .observed(move |change| {
            let _ = sender.send(change.clone());
        });
    change(&breaker);
    changes.try_iter().collect()
}
