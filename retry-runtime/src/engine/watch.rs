//! What a call reports to those who watch: observers, and the record of a test.

use core::time::Duration;

use super::record::{CallEvent, CallStep, record};
use super::result::{AttemptResult, Ending};
use super::{AttemptStart, CallContext, LiveCall, Place};
use crate::attempt::Cause;
use crate::call::{Call, GiveUpReason};
use crate::operation::Operation;
use crate::policy::Policy;
use crate::timer::{Clock, Timestamp};

#[cfg(feature = "observe")]
use crate::{inherited, observe};
#[cfg(feature = "observe")]
pub use reattempt_observe::ErrorText;

/// What an error says of itself, where nobody watches.
#[cfg(not(feature = "observe"))]
#[derive(Debug)]
pub struct ErrorText;

#[cfg(not(feature = "observe"))]
impl ErrorText {
    #[inline(always)]
    pub(crate) const fn message<E: ?Sized>(_: &E, _: Option<&dyn core::fmt::Display>) -> Self {
        Self
    }

    /// Returns what an answer says that is a result itself: nobody asks.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub fn of_answer<A>(_: &A, _: impl FnOnce() -> Option<String>) -> Self {
        Self
    }
}

/// What was called, in words.
#[derive(Debug)]
#[cfg(feature = "observe")]
pub struct Detail(String);

/// The same where nobody watches.
#[derive(Debug)]
#[cfg(not(feature = "observe"))]
pub struct Detail;

impl Detail {
    /// Returns what `text` says.
    #[cfg(feature = "observe")]
    pub fn new(text: &(impl core::fmt::Display + ?Sized)) -> Self {
        Self(observe::said(text))
    }

    /// Returns nothing.
    #[cfg(not(feature = "observe"))]
    pub fn new(_: &(impl core::fmt::Display + ?Sized)) -> Self {
        Self
    }
}

/// What failed, and how it is described to those who watch.
#[derive(Debug)]
pub struct Described<'a, E: ?Sized, D> {
    pub(super) cause: Cause<'a, E>,
    /// When the attempt began, if the policy wants to know.
    pub(super) started: Option<Timestamp>,
    /// What was called: the key `detail`, where somebody watches.
    #[cfg(feature = "observe")]
    detail: Option<String>,
    /// Gone once it is asked.
    describe: Option<D>,
}

impl<'a, E: ?Sized, D: FnOnce(&E) -> ErrorText> Described<'a, E, D> {
    /// Returns a failure that `describe` describes, if anybody watches.
    #[inline(always)]
    pub fn new(cause: impl Into<Cause<'a, E>>, describe: D) -> Self {
        Self {
            cause: cause.into(),
            started: None,
            #[cfg(feature = "observe")]
            detail: None,
            describe: Some(describe),
        }
    }

    /// Returns the same failure, of a call of what `detail` names: it is asked where somebody watches.
    #[inline(always)]
    #[must_use]
    pub fn of(self, detail: impl FnOnce() -> Detail) -> Self {
        #[cfg(feature = "observe")]
        return Self {
            detail: observe::is_watched().then(|| detail().0),
            ..self
        };
        #[cfg(not(feature = "observe"))]
        {
            let _ = detail;
            self
        }
    }

    /// Returns the same failure, of a call that was given this detail.
    #[inline(always)]
    pub(crate) fn about(self, detail: Option<&str>) -> Self {
        match detail {
            Some(detail) => self.of(|| Detail::new(&detail)),
            None => self,
        }
    }

    /// Returns the same failure, of an attempt that began then.
    #[inline(always)]
    #[must_use]
    pub fn since<const TAKEN: usize>(self, start: AttemptStart<TAKEN>) -> Self {
        Self {
            started: start.timestamp(),
            ..self
        }
    }

    /// Returns what its error says of itself.
    #[cfg(feature = "observe")]
    fn text(&mut self) -> ErrorText {
        let text = match (self.cause, self.describe.take()) {
            (Cause::Error(error), Some(describe)) => describe(error),
            (Cause::NotFinal, _) => ErrorText::not_final(),
            _ => ErrorText::timed_out(),
        };
        ErrorText {
            detail: self.detail.take(),
            ..text
        }
    }
}

/// When a call and its last attempt began, where anybody has looked at a clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Began {
    #[cfg(feature = "observe")]
    call: Timestamp,
    #[cfg(feature = "observe")]
    attempt: Timestamp,
    /// What its events are known by.
    #[cfg(feature = "observe")]
    id: observe::CallId,
}

#[cfg(not(feature = "observe"))]
impl Began {
    pub(super) const UNKNOWN: Self = Self {};

    #[inline(always)]
    pub(super) const fn now() -> Self {
        Self::UNKNOWN
    }

    #[inline(always)]
    pub(super) const fn start(_: &Policy) -> Self {
        Self::UNKNOWN
    }
}

#[cfg(feature = "observe")]
impl Began {
    pub(super) const UNKNOWN: Self = Self {
        call: Timestamp::ENDLESS,
        attempt: Timestamp::ENDLESS,
        id: observe::CallId::NONE,
    };

    /// Returns the beginning of a call. The clock is read where somebody is shown when attempts begin.
    #[inline(always)]
    pub(super) fn now() -> Self {
        if !observe::wants_times() {
            return Self::UNKNOWN;
        }
        Self::at(now())
    }

    /// Returns the same of a call whose policy may ask for it.
    #[inline(always)]
    pub(super) fn start(policy: &Policy) -> Self {
        if !policy.telemetry.has_timings() && policy.deadline.is_none() {
            return Self::now();
        }
        Self::at(now())
    }

    const fn at(now: Timestamp) -> Self {
        Self {
            call: now,
            attempt: now,
            id: observe::CallId::NONE,
        }
    }

    fn since(began: Timestamp, now: Timestamp) -> Option<Duration> {
        (!began.is_endless()).then(|| now.since(began))
    }

    /// Returns how long the attempt and the call have taken, as far as it is known.
    fn times(self, failures: u32, context: CallContext<'_, impl Clock>) -> observe::Times {
        let now = now();
        // A call with a deadline has looked at its own clock when it began.
        let call = Self::since(self.call, now).or_else(|| {
            let deadline = context.operation.policy().deadline?;
            let left = context.until.own_remaining(context.timer)?;
            Some(deadline.saturating_sub(left))
        });
        let attempt = Self::since(self.attempt, now);
        observe::Times {
            attempt: if failures == 0 {
                attempt.or(call)
            } else {
                attempt
            },
            call,
        }
    }
}

/// Returns the time on the clock by which deadlines travel. In the last moments of a thread tokio's cannot be read.
#[cfg(feature = "observe")]
fn now() -> Timestamp {
    #[cfg(feature = "tokio")]
    if reattempt_core::process::is_thread_ending() {
        return crate::timer::ThreadTimer.now();
    }
    inherited::now()
}

/// Returns the call as events describe it.
#[cfg(feature = "observe")]
fn reported(operation: Operation<'_>, began: &mut Began) -> observe::Call {
    let policy = operation.policy();
    began.id = began.id.or_new();
    observe::Call {
        operation: operation.name(),
        policy: operation.policy_name(),
        max: policy.attempts(),
        budget_balance: policy.budget.map(crate::budget::Budget::balance),
        telemetry: policy.telemetry,
        id: began.id,
    }
}

impl<P: Place> LiveCall<P> {
    /// Notes when a retry begins, where somebody watches.
    #[inline(always)]
    pub fn retry_begins(&mut self) {
        #[cfg(feature = "observe")]
        {
            self.began.attempt = if observe::is_watched() {
                now()
            } else {
                Timestamp::ENDLESS
            };
        }
    }

    /// Describes the attempt that has just failed, where somebody watches.
    pub(super) fn attempt_ended<E: ?Sized>(
        &self,
        context: CallContext<'_, impl Clock>,
        failure: &mut Described<'_, E, impl FnOnce(&E) -> ErrorText>,
    ) -> Report {
        #[cfg(not(feature = "observe"))]
        let _ = (context, &mut failure.describe);
        Report {
            before: self.failures(),
            attempt: self.failures().saturating_add(1),
            #[cfg(feature = "observe")]
            failure: observe::is_watched().then(|| Box::new(self.failed_attempt(context, failure))),
        }
    }

    #[cfg(feature = "observe")]
    #[cold]
    #[inline(never)]
    fn failed_attempt<E: ?Sized>(
        &self,
        context: CallContext<'_, impl Clock>,
        failure: &mut Described<'_, E, impl FnOnce(&E) -> ErrorText>,
    ) -> observe::FailedAttempt {
        let times = self.began.times(self.failures(), context);
        observe::FailedAttempt::new(failure.text(), times)
    }
}

/// What is reported of the copies of an attempt.
#[cfg(feature = "std")]
pub trait WatchCopies {
    /// Reports that the copy with this number, from 1, has started.
    fn started(&mut self, _copy: u32) {}

    /// Reports whose answer is that of the attempt, where copies were started: its own (0) or that of a copy.
    fn won(&mut self, _copy: u32, _is_success: bool) {}
}

/// Copies that belong to no operation.
#[cfg(feature = "std")]
impl WatchCopies for () {}

/// The attempt that copies belong to.
#[cfg(feature = "std")]
#[derive(Debug)]
pub struct CopiesOf<'c> {
    operation: Operation<'c>,
    /// The same as [`CallEvent::call`].
    call: usize,
    failures: u32,
    #[cfg(feature = "observe")]
    began: Began,
}

#[cfg(feature = "std")]
impl<'c> CopiesOf<'c> {
    /// Returns the copies of the attempt that is about to begin.
    #[inline(always)]
    pub fn new(call: &LiveCall<impl Place>, context: CallContext<'c, impl Clock>) -> Self {
        Self {
            operation: context.operation,
            call: core::ptr::from_ref::<Call>(&call.machine).addr(),
            failures: call.failures(),
            #[cfg(feature = "observe")]
            began: call.began,
        }
    }

    fn note(&self, step: CallStep) {
        let (operation, before) = (self.operation, self.failures);
        record(move || CallEvent {
            call: self.call,
            operation: operation.name(),
            before,
            attempt: before.saturating_add(1),
            step,
        });
    }
}

#[cfg(feature = "std")]
impl WatchCopies for CopiesOf<'_> {
    #[cold]
    fn started(&mut self, copy: u32) {
        self.note(CallStep::CopyStarted(copy));
        #[cfg(feature = "observe")]
        if observe::is_watched() {
            let attempt = self.failures.saturating_add(1);
            observe::copy_started(reported(self.operation, &mut self.began), attempt, copy);
        }
    }

    #[cold]
    fn won(&mut self, copy: u32, is_success: bool) {
        self.note(CallStep::CopyWon(copy, is_success));
        #[cfg(feature = "observe")]
        if observe::is_watched() {
            let attempt = self.failures.saturating_add(1);
            observe::copy_won(reported(self.operation, &mut self.began), attempt, copy);
        }
    }
}

/// Reports a success after a retry; one at once leaves no trace.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn recovered(call: &Call, began: &mut Began, context: CallContext<'_, impl Clock>) {
    #[cfg(not(feature = "observe"))]
    let _ = (began, context);
    let (before, attempt) = (call.failures(), call.failures().saturating_add(1));
    note(call, || "", before, attempt, CallStep::Succeeded);
    #[cfg(feature = "observe")]
    if observe::is_watched() {
        observe_recovery(call, began, context);
    }
}

#[cfg(feature = "observe")]
#[cold]
#[inline(never)]
fn observe_recovery(call: &Call, began: &mut Began, context: CallContext<'_, impl Clock>) {
    let attempt = call.failures().saturating_add(1);
    let times = began.times(call.failures(), context);
    observe::recovered(reported(context.operation, began), attempt, times);
}

#[inline(always)]
fn note(
    call: &Call,
    name: impl FnOnce() -> &'static str,
    before: u32,
    attempt: u32,
    step: CallStep,
) {
    // The name is asked inside: where nobody records, nobody looks whether it has been made.
    record(move || CallEvent {
        call: core::ptr::from_ref(call).addr(),
        operation: name(),
        before,
        attempt,
        step,
    });
}

#[cfg(feature = "observe")]
#[cold]
#[inline(never)]
fn observe_retry(
    operation: Operation<'_>,
    began: &mut Began,
    attempt: u32,
    failure: &observe::FailedAttempt,
    delay: Duration,
) {
    observe::retries(reported(operation, began), attempt, failure, delay);
}

/// An attempt that did not end its call with success, on its way to those who watch.
#[derive(Debug)]
pub(super) struct Report {
    /// The number of the attempt before it, which is higher where the count has started anew.
    before: u32,
    attempt: u32,
    /// In a box: where nobody watches, its bytes would be copied all the same.
    #[cfg(feature = "observe")]
    failure: Option<Box<observe::FailedAttempt>>,
}

impl Report {
    /// Returns a report on attempt number `attempt`, of which nothing else is known.
    pub(super) const fn of_attempt(attempt: u32) -> Self {
        Self {
            before: attempt.saturating_sub(1),
            attempt,
            #[cfg(feature = "observe")]
            failure: None,
        }
    }

    /// Returns the same report on attempt number `attempt`: the count may have started anew.
    pub(super) const fn numbered(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }

    #[inline(always)]
    pub(super) fn retries(
        self,
        call: &Call,
        operation: Operation<'_>,
        result: AttemptResult,
        delay: Duration,
        began: &mut Began,
    ) {
        let step = CallStep::Retry(result, delay);
        note(call, || operation.name(), self.before, self.attempt, step);
        #[cfg(feature = "observe")]
        if let Some(failure) = self.failure {
            observe_retry(operation, began, self.attempt, &failure, delay);
        }
        #[cfg(not(feature = "observe"))]
        let _ = began;
    }

    pub(super) fn gives_up(
        self,
        call: &Call,
        operation: Operation<'_>,
        ending: Ending,
        reason: GiveUpReason,
        began: &mut Began,
    ) {
        let step = CallStep::GaveUp(ending, reason);
        note(call, || operation.name(), self.before, self.attempt, step);
        #[cfg(feature = "observe")]
        if observe::is_watched() {
            let failure = self.failure.or_else(|| {
                (ending == Ending::Attempt(AttemptResult::CutOff)).then(|| {
                    let times = observe::Times::default();
                    Box::new(observe::FailedAttempt::new(ErrorText::cut_off(), times))
                })
            });
            observe::gives_up(
                reported(operation, began),
                self.attempt,
                failure.as_deref(),
                ending != Ending::BetweenAttempts,
                reason,
            );
        }
        #[cfg(not(feature = "observe"))]
        let _ = began;
    }
}
