//! From the steps of a call to events.

use std::time::{Duration, SystemTime};

use super::event::{CallInfo, ErrorText, Event};
use super::{observer, scope};
use crate::breaker::Change;
use crate::budget::Budget;
use crate::call::GiveUpReason;
use crate::engine::{AttemptResult, Ending};
use crate::operation::Operation;

/// How long an attempt and the call have taken, as far as anybody has looked at a clock.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    pub(crate) attempt: Option<Duration>,
    pub(crate) call: Option<Duration>,
}

/// A failed attempt: what its error says of itself, and when it ended.
#[derive(Debug)]
pub(crate) struct FailedAttempt {
    error: ErrorText,
    times: Times,
    ended_at: SystemTime,
}

impl FailedAttempt {
    pub(crate) fn new(error: ErrorText, times: Times) -> Self {
        Self {
            error,
            times,
            ended_at: SystemTime::now(),
        }
    }
}

/// Returns whether anybody watches.
pub(crate) fn is_watched() -> bool {
    observer::is_anybody_there()
}

/// Reports that another attempt follows.
#[cold]
#[inline(never)]
pub(crate) fn retries(
    operation: Operation<'_>,
    attempt: u32,
    failure: &FailedAttempt,
    delay: Duration,
) {
    report(operation, attempt, Some(failure), |facts| {
        observer::tell(&Event::AttemptFailed(facts));
        observer::tell(&Event::Retry(facts, delay));
    });
}

/// Reports that the call ends without success.
#[cold]
#[inline(never)]
pub(crate) fn gives_up(
    operation: Operation<'_>,
    attempt: u32,
    failure: Option<&FailedAttempt>,
    ending: Ending,
    reason: GiveUpReason,
) {
    if !is_watched() {
        return;
    }
    let cut_off = (ending == Ending::Attempt(AttemptResult::CutOff))
        .then(|| FailedAttempt::new(ErrorText::cut_off(), Times::default()));
    report(operation, attempt, failure.or(cut_off.as_ref()), |facts| {
        if ending != Ending::BetweenAttempts {
            observer::tell(&Event::AttemptFailed(facts));
        }
        observer::tell(&Event::GaveUp(facts, reason));
    });
}

/// Reports that the call succeeds after a retry.
pub(crate) fn recovered(operation: Operation<'_>, attempt: u32, times: Times) {
    report(operation, attempt, None, |facts| {
        let facts = CallInfo {
            elapsed: times.attempt,
            call_elapsed: times.call,
            ..facts.clone()
        };
        observer::tell(&Event::Recovered(&facts));
    });
}

/// Reports that a breaker has changed its state.
pub(crate) fn breaker_changed(change: &dyn Fn() -> Change) {
    if is_watched() {
        observer::tell(&Event::BreakerChanged(&change()));
    }
}

fn report(
    operation: Operation<'_>,
    attempt: u32,
    failure: Option<&FailedAttempt>,
    tell: impl FnOnce(&CallInfo<'_>),
) {
    let request_id = scope::request_id();
    let policy = operation.policy();
    let times = failure.map_or_else(Times::default, |failure| failure.times);
    tell(&CallInfo {
        operation: operation.name(),
        policy: operation.policy_name(),
        request_id: request_id.as_deref(),
        attempt,
        max: policy.attempts(),
        ended_at: failure.map_or_else(SystemTime::now, |failure| failure.ended_at),
        elapsed: times.attempt,
        call_elapsed: times.call,
        error: failure.map(|failure| &failure.error),
        budget_balance: policy.budget.map(Budget::balance),
        telemetry: policy.telemetry,
    });
}
