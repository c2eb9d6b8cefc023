//! From the steps of a call to events. A failed attempt is noted with what its error says of itself, which only
//! the loop knows; the step that follows says what comes of it.

use std::cell::RefCell;
use std::time::{Duration, SystemTime};

use super::event::{Event, Facts, Told};
use super::{observer, scope};
use crate::breaker::Change;
use crate::budget::Budget;
use crate::call::GaveUp;
use crate::events::End;
use crate::operation::Operation;

/// How long an attempt and the call have taken, as far as anybody has looked at a clock.
#[derive(Debug, Clone, Copy, Default)]
#[doc(hidden)]
pub struct Times {
    pub(crate) attempt: Option<Duration>,
    pub(crate) call: Option<Duration>,
}

/// A failed attempt on its way from the loop to the step.
struct Failure {
    attempt: u32,
    told: Told,
    times: Times,
    ended_at: SystemTime,
}

thread_local! {
    /// The attempts of this thread whose step has not ended: one inside the other, where what a step asks (an observer
    /// of a breaker) makes calls itself.
    static FAILURES: RefCell<Vec<Failure>> = const { RefCell::new(Vec::new()) };
}

/// Steps inside steps; deeper than this they are those of calls that panicked.
const DEEPEST: usize = 32;

/// Whether it is worth noting anything.
pub(crate) fn is_watched() -> bool {
    observer::is_anybody_there()
}

/// An attempt has failed.
pub(crate) fn note(attempt: u32, told: Told, times: Times) {
    let failure = Failure {
        attempt,
        told,
        times,
        ended_at: SystemTime::now(),
    };
    // A thread that ends tells of the call, not of the error.
    let _noted = FAILURES.try_with(|failures| {
        // Nothing of the user's runs while it is borrowed, so it never is already.
        let Ok(mut failures) = failures.try_borrow_mut() else {
            return;
        };
        if failures.len() >= DEEPEST {
            failures.clear();
        }
        failures.push(failure);
    });
}

fn noted(attempt: u32) -> Option<Failure> {
    let is_it = |failure: &mut Failure| failure.attempt == attempt;
    let noted = FAILURES.try_with(|failures| failures.try_borrow_mut().ok()?.pop_if(is_it));
    noted.ok().flatten()
}

/// Another attempt follows.
#[cold]
#[inline(never)]
pub(crate) fn retries(operation: &Operation, attempt: u32, delay: Duration) {
    let failure = noted(attempt);
    told(operation, attempt, End::Noted, failure.as_ref(), |facts| {
        observer::tell(&Event::AttemptFailed(facts));
        observer::tell(&Event::Retry(facts, delay));
    });
}

/// The call ends without success.
#[cold]
#[inline(never)]
pub(crate) fn gives_up(operation: &Operation, attempt: u32, end: End, reason: GaveUp) {
    let failure = match end {
        End::Noted => noted(attempt),
        End::CutOff | End::Last => None,
    };
    told(operation, attempt, end, failure.as_ref(), |facts| {
        if end != End::Last {
            observer::tell(&Event::AttemptFailed(facts));
        }
        observer::tell(&Event::GaveUp(facts, reason));
    });
}

/// The call succeeds after a retry.
pub(crate) fn recovered(operation: &Operation, attempt: u32, times: Times) {
    if is_watched() {
        let request_id = scope::request_id();
        let facts = Facts {
            elapsed: times.attempt,
            call_elapsed: times.call,
            ..Facts::of(operation, attempt, request_id.as_deref())
        };
        observer::tell(&Event::Recovered(&facts));
    }
}

/// A breaker has changed its state.
pub(crate) fn breaker_changed(change: &dyn Fn() -> Change) {
    if is_watched() {
        observer::tell(&Event::BreakerChanged(&change()));
    }
}

fn told(
    operation: &Operation,
    attempt: u32,
    end: End,
    failure: Option<&Failure>,
    tell: impl FnOnce(&Facts<'_>),
) {
    if !is_watched() {
        return;
    }
    let request_id = scope::request_id();
    let cut_off = (end == End::CutOff).then(Told::cut_off);
    let mut facts = Facts::of(operation, attempt, request_id.as_deref());
    facts.error = cut_off.as_ref();
    if let Some(failure) = failure {
        facts.error = Some(&failure.told);
        facts.ended_at = failure.ended_at;
        facts.elapsed = failure.times.attempt;
        facts.call_elapsed = failure.times.call;
    }
    tell(&facts);
}

impl<'a> Facts<'a> {
    fn of(operation: &Operation, attempt: u32, request_id: Option<&'a str>) -> Self {
        let policy = operation.policy();
        Self {
            operation: operation.name(),
            policy: operation.policy_name(),
            request_id,
            attempt,
            max: policy.attempts(),
            ended_at: SystemTime::now(),
            elapsed: None,
            call_elapsed: None,
            error: None,
            budget_balance: policy.budget.map(Budget::balance),
            telemetry: policy.telemetry,
        }
    }
}

impl Told {
    fn without_error(kind: &'static str, message: &str) -> Self {
        Self {
            kind,
            message: Some(message.to_owned()),
        }
    }

    pub(crate) fn timed_out() -> Self {
        Self::without_error("timeout", "the attempt timed out")
    }

    pub(crate) fn not_final() -> Self {
        Self::without_error("not_final", "the value is not final yet")
    }

    fn cut_off() -> Self {
        Self::without_error("deadline", "the deadline cut the attempt off")
    }
}
