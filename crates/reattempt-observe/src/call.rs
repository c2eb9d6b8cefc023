//! From the steps of a call to events.

use core::fmt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use reattempt_core::random::seed;
use reattempt_core::{GiveUpReason, RetryCause};

use crate::breaker::Change;
use crate::event::{CallInfo, ErrorText, Event, now};
use crate::{report, scope};
use reattempt_policy::Telemetry;

/// The call that an event is about, as whoever makes it knows it.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// The name of the operation.
    pub operation: &'static str,
    /// The kind of its policy.
    pub policy: &'static str,
    /// The attempts that the policy allows; `None` means without limit.
    pub max: Option<u32>,
    /// The tokens that are left in its budget.
    pub budget_balance: Option<f64>,
    /// Which of its events are logged.
    pub telemetry: Telemetry,
    /// The id of a call that is part of no request.
    pub id: CallId,
}

/// An id of one call: a number of this process, and the number of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallId(u64);

impl CallId {
    /// The id of a call of which nothing has been reported yet.
    pub const NONE: Self = Self(0);

    /// Returns this id, or a new one where there is none yet.
    #[must_use]
    pub fn or_new(self) -> Self {
        static PROCESS: LazyLock<u64> = LazyLock::new(|| seed() | 1);
        static CALLS: AtomicU64 = AtomicU64::new(0);

        if self != Self::NONE {
            return self;
        }
        let number = CALLS.fetch_add(1, Ordering::Relaxed);
        // Odd, so that the numbers of a process are spread over all ids, each once.
        Self(PROCESS.wrapping_mul(number.wrapping_add(1)).max(1))
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// How long an attempt and the call have taken, as far as anybody has looked at a clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    /// The attempt.
    pub attempt: Option<Duration>,
    /// The call so far.
    pub call: Option<Duration>,
}

/// A failed attempt: what its error says of itself, why it may be retried, and when it ended.
#[derive(Debug)]
pub struct FailedAttempt {
    error: ErrorText,
    cause: Option<RetryCause>,
    times: Times,
    ended_at: SystemTime,
    /// Whose it was, and its number, once a retry has been decided on.
    of: Option<(Call, u32)>,
}

impl FailedAttempt {
    /// Returns an attempt that has just failed.
    pub fn new(error: ErrorText, cause: Option<RetryCause>, times: Times) -> Self {
        let cause = match cause {
            Some(RetryCause::Transient) => error.cause.or(cause),
            _ => cause,
        };
        Self {
            error,
            cause,
            times,
            ended_at: now(),
            of: None,
        }
    }
}

/// Returns whether anybody watches.
pub fn is_watched() -> bool {
    report::is_anybody_there()
}

/// Returns whether anybody watches who is shown when attempts begin.
pub fn wants_times() -> bool {
    report::wants_times()
}

/// Reports that another attempt follows.
#[cold]
#[inline(never)]
pub fn retries(call: Call, attempt: u32, failure: &mut FailedAttempt, delay: Duration) {
    failure.of = Some((call, attempt));
    describe(call, attempt, Some(failure), |facts| {
        report::deliver(&Event::AttemptFailed(facts));
        report::deliver(&Event::Retry(facts, delay));
    });
}

/// Reports that the call ends without success: after an attempt, or after a delay.
#[cold]
#[inline(never)]
pub fn gives_up(
    call: Call,
    attempt: u32,
    failure: Option<&FailedAttempt>,
    is_after_attempt: bool,
    reason: GiveUpReason,
) {
    describe(call, attempt, failure, |facts| {
        if is_after_attempt {
            report::deliver(&Event::AttemptFailed(facts));
        }
        report::deliver(&Event::GaveUp(facts, reason));
    });
}

/// Reports that the call succeeds after a retry, which followed `failure`.
pub fn recovered(call: Call, attempt: u32, failure: Option<&FailedAttempt>, times: Times) {
    describe(call, attempt, failure, |facts| {
        let facts = CallInfo {
            ended_at: now(),
            elapsed: times.attempt,
            call_elapsed: times.call,
            ..facts.clone()
        };
        report::deliver(&Event::Recovered(&facts));
    });
}

/// Reports that the call was dropped after a retry had been decided on, which followed `failure`.
pub fn dropped(failure: &FailedAttempt, call_elapsed: Option<Duration>) {
    let Some((call, attempt)) = failure.of else {
        return;
    };
    describe(call, attempt, Some(failure), |facts| {
        let facts = CallInfo {
            call_elapsed,
            ..facts.clone()
        };
        report::deliver(&Event::Dropped(&facts));
    });
}

/// Reports that a copy of the attempt has started.
#[cold]
#[inline(never)]
pub fn copy_started(call: Call, attempt: u32, copy: u32) {
    describe(call, attempt, None, |facts| {
        report::deliver(&Event::CopyStarted(facts, copy));
    });
}

/// Reports whose answer is that of an attempt with copies: its own, or that of a copy.
#[cold]
#[inline(never)]
pub fn copy_won(call: Call, attempt: u32, copy: u32) {
    describe(call, attempt, None, |facts| {
        report::deliver(&Event::HedgeWon(facts, copy));
    });
}

/// Reports that a breaker has changed its state.
pub fn breaker_changed(change: &dyn Fn() -> Change) {
    if is_watched() {
        report::deliver(&Event::BreakerChanged(&change()));
    }
}

fn describe(
    call: Call,
    attempt: u32,
    failure: Option<&FailedAttempt>,
    report: impl FnOnce(&CallInfo<'_>),
) {
    let request_id = scope::request_id();
    let request_id = request_id.map_or_else(|| call.id.to_string(), |id| (*id).to_owned());
    let times = failure.map_or_else(Times::default, |failure| failure.times);
    report(&CallInfo {
        operation: call.operation,
        policy: call.policy,
        request_id: Some(&request_id),
        attempt,
        max: call.max,
        ended_at: failure.map_or_else(now, |failure| failure.ended_at),
        elapsed: times.attempt,
        call_elapsed: times.call,
        cause: failure.and_then(|failure| failure.cause),
        error: failure.map(|failure| &failure.error),
        budget_balance: call.budget_balance,
        telemetry: call.telemetry,
    });
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    const CALL: Call = Call {
        operation: "call_of_a_test",
        policy: "exp",
        max: Some(4),
        budget_balance: Some(2.5),
        telemetry: Telemetry::quiet(),
        id: CallId(0xA),
    };

    /// What an observer reads of each event: its name, the attempt, the error, the cause, and the times in seconds.
    type Seen = (
        &'static str,
        u32,
        Option<String>,
        Option<RetryCause>,
        [Option<u64>; 2],
    );

    fn seen(report: impl FnOnce()) -> Vec<Seen> {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        let observer = move |event: &Event<'_>| {
            // Inside of an observer nobody is there.
            assert!(!is_watched() && !wants_times());
            let Some(call) = event.facts() else {
                return;
            };
            let message = call.error_message().map(str::to_owned);
            let times =
                [call.elapsed(), call.call_elapsed()].map(|time| time.map(|it| it.as_secs()));
            assert_eq!((call.operation(), call.max()), (CALL.operation, CALL.max));
            assert_eq!(call.budget_balance(), CALL.budget_balance);
            assert_eq!(call.request_id(), Some("000000000000000a"));
            let seen = (event.name(), call.attempt(), message, call.cause(), times);
            kept.lock().expect("no panic").push(seen);
        };
        scope::scope_blocking(Arc::new(observer), || {
            assert!(is_watched() && wants_times());
            report();
        });
        let seen = seen.lock().expect("no panic");
        seen.clone()
    }

    fn times(attempt: u64, call: u64) -> Times {
        Times {
            attempt: Some(Duration::from_secs(attempt)),
            call: Some(Duration::from_secs(call)),
        }
    }

    fn failed(cause: Option<RetryCause>) -> FailedAttempt {
        let error = ErrorText::new(&7_u8, Some("503".to_owned()));
        let error = error.about(None, |code| code == "timeout");
        FailedAttempt::new(error, cause, times(1, 2))
    }

    #[test]
    fn the_steps_of_a_call_are_told() {
        let message = Some("503".to_owned());
        let refused = Some(RetryCause::Refused);
        let of = |name, attempt, times| (name, attempt, message.clone(), refused, times);
        let [short, long] = [[Some(1), Some(2)], [Some(3), Some(4)]];
        let mut failure = failed(refused);
        assert!(seen(|| dropped(&failure, None)).is_empty());
        let told = seen(|| retries(CALL, 1, &mut failure, Duration::ZERO));
        assert_eq!(
            told,
            [of("attempt_failed", 1, short), of("retry", 1, short)]
        );
        let told = seen(|| dropped(&failure, Some(Duration::from_secs(9))));
        assert_eq!(told, [of("dropped", 1, [Some(1), Some(9)])]);
        let told = seen(|| recovered(CALL, 2, Some(&failure), times(3, 4)));
        assert_eq!(told, [of("recovered", 2, long)]);
        for (is_after_attempt, events) in [
            (true, &["attempt_failed", "gave_up"][..]),
            (false, &["gave_up"]),
        ] {
            let told = seen(|| {
                gives_up(
                    CALL,
                    2,
                    Some(&failure),
                    is_after_attempt,
                    GiveUpReason::Budget,
                );
            });
            let expected = events.iter().map(|name| of(name, 2, short));
            assert!(told.iter().cloned().eq(expected), "{told:?}");
        }
        let bare = |name| (name, 3, None, None, [None; 2]);
        assert_eq!(seen(|| copy_started(CALL, 3, 1)), [bare("copy_started")]);
        assert_eq!(seen(|| copy_won(CALL, 3, 1)), [bare("hedge_won")]);
    }

    /// A success ends after the failure before it.
    #[test]
    fn a_recovery_has_its_own_end() {
        let mut failure = failed(None);
        failure.ended_at = SystemTime::UNIX_EPOCH;
        let ended = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&ended);
        let observer = move |event: &Event<'_>| {
            let ended_at = event.facts().map(CallInfo::ended_at);
            kept.lock().expect("no panic").push(ended_at);
        };
        let before = Some(SystemTime::now());
        scope::scope_blocking(Arc::new(observer), || {
            retries(CALL, 1, &mut failure, Duration::ZERO);
            recovered(CALL, 2, Some(&failure), Times::default());
        });
        let ended = ended.lock().expect("no panic");
        assert_eq!(ended[..2], [Some(SystemTime::UNIX_EPOCH); 2]);
        assert!(ended[2] >= before);
    }

    /// A code of the error says more than that it may pass.
    #[test]
    fn a_cause_is_that_of_the_verdict_or_of_a_code() {
        for (by_verdict, cause) in [
            (Some(RetryCause::Transient), Some(RetryCause::Timeout)),
            (Some(RetryCause::Refused), Some(RetryCause::Refused)),
            (None, None),
        ] {
            assert_eq!(failed(by_verdict).cause, cause);
        }
        let silent = ErrorText::not_final();
        let transient = Some(RetryCause::Transient);
        assert_eq!(
            FailedAttempt::new(silent, transient, Times::default()).cause,
            transient
        );
    }

    #[test]
    fn each_call_has_an_id_of_its_own() {
        let [one, other] = [CallId::NONE.or_new(), CallId::NONE.or_new()];
        assert!(one != other && one != CallId::NONE);
        assert_eq!(one.or_new(), one);
        assert_eq!(CALL.id.to_string(), "000000000000000a");
    }
}
