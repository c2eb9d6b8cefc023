//! What a call reports: to observers, and to the record of a test.

use core::time::Duration;

use super::CallContext;
use super::codes::judge_by_code;
use super::record::{CallEvent, CallStep, record};
use super::result::{AttemptResult, Ending};
use super::{AttemptStart, LiveCall, Place};
use crate::attempt::{Cause, Started};
use crate::call::{Call, GiveUpReason};
use crate::operation::Operation;
use crate::policy::Policy;
use crate::timer::{Clock, Timestamp};
use crate::verdict::Verdict;
use reattempt_core::watch;
use reattempt_policy::Values;
use reattempt_policy::rules::{self, Violation};

#[cfg(feature = "observe")]
use super::default_budget;
#[cfg(feature = "observe")]
use crate::{around, observe};
use reattempt_observe::{Detail, ErrorText};

/// A context without the type of its timer.
pub(super) type Context<'a> = CallContext<'a, dyn Clock + 'a>;

/// How far a call has come, and since when it runs.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) call: Call,
    pub(super) times: Times,
    /// The failure before the retry that is under way, for the report of how the call ends.
    #[cfg(feature = "observe")]
    pub(super) last: Option<Box<reattempt_observe::FailedAttempt>>,
}

/// A rule about policies. A program whose attempts do not say that they move on does not contain it.
pub(super) type MayRestart = fn(&Values) -> Option<Violation>;

/// What failed, and how it is described to observers.
#[derive(Debug)]
pub struct Described<'a, E: ?Sized, D> {
    pub(super) cause: Cause<'a, E>,
    /// When the attempt began, if the policy wants to know.
    pub(super) started: Option<Timestamp>,
    /// What asks the policy whether it may start anew, if this attempt has moved the work on.
    pub(super) progressed: Option<MayRestart>,
    /// Whether the policy may look up its code.
    is_coded: bool,
    /// What was called: the key `detail`, where the call is observed.
    #[cfg(feature = "observe")]
    detail: Option<String>,
    describe: D,
}

/// What an error says of itself.
pub trait Describe<E: ?Sized> {
    /// Returns its text; asked where the call is observed.
    fn text(&self, error: &E) -> ErrorText;

    /// Returns whether it has this status or code; asked where the policy has a table of them.
    fn has_code(&self, error: &E, code: &str) -> bool;
}

/// Two closures that describe an error.
#[derive(Debug)]
pub struct Describes<T, C> {
    text: T,
    has_code: C,
}

impl<E: ?Sized, T: Fn(&E) -> ErrorText, C: Fn(&E, &str) -> bool> Describe<E> for Describes<T, C> {
    #[inline(always)]
    fn text(&self, error: &E) -> ErrorText {
        (self.text)(error)
    }

    #[inline(always)]
    fn has_code(&self, error: &E, code: &str) -> bool {
        (self.has_code)(error, code)
    }
}

impl<'a, E: ?Sized, T: Fn(&E) -> ErrorText, C: Fn(&E, &str) -> bool>
    Described<'a, E, Describes<T, C>>
{
    /// Returns a failure that these describe.
    #[inline(always)]
    pub fn new(cause: impl Into<Cause<'a, E>>, text: T, has_code: C) -> Self {
        Self {
            cause: cause.into(),
            started: None,
            progressed: None,
            is_coded: true,
            #[cfg(feature = "observe")]
            detail: None,
            describe: Describes { text, has_code },
        }
    }
}

impl<E: ?Sized, D: Describe<E>> Described<'_, E, D> {
    /// Returns the same failure, of a call of what `detail` names: it is asked where the call is observed.
    #[inline(always)]
    #[must_use]
    pub fn of(self, detail: impl FnOnce() -> Detail) -> Self {
        #[cfg(feature = "observe")]
        return Self {
            detail: observe::is_watched().then(|| detail().into_text()),
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

    /// Returns the same failure, of an attempt that may have moved on since the call `began`.
    #[inline(always)]
    #[must_use]
    pub fn moved_on(self, began: &Started) -> Self {
        Self {
            progressed: began.take_progress().then_some(rules::restarts),
            ..self
        }
    }

    /// Returns the same failure, whose verdict stands under every policy: there is nothing to make another attempt with.
    #[inline(always)]
    #[must_use]
    pub fn without_code(self) -> Self {
        Self {
            is_coded: false,
            ..self
        }
    }

    /// Returns whether it is an error.
    #[inline(always)]
    pub(super) const fn is_error(&self) -> bool {
        matches!(self.cause, Cause::Error(_))
    }

    /// Hands the failure over without the types of its call, with the verdict that it has under this policy.
    #[inline(always)]
    pub(super) fn with<R>(
        &mut self,
        policy: &Policy,
        verdict: Verdict,
        then: impl FnOnce(Failure<'_>) -> R,
    ) -> R {
        let (verdict, code_base) = judge_by_code(policy, verdict, &|code| self.has_code(code));
        then(Failure {
            result: AttemptResult::of(&self.cause, verdict),
            verdict,
            code_base,
            started: self.started,
            progressed: self.progressed,
            text: &mut || self.text(),
        })
    }

    /// Returns whether its error has this status or code.
    #[inline(always)]
    pub(super) fn has_code(&self, code: &str) -> bool {
        match self.cause {
            Cause::Error(error) if self.is_coded => self.describe.has_code(error, code),
            _ => false,
        }
    }

    /// Returns what its error says of itself.
    pub(super) fn text(&mut self) -> ErrorText {
        let text = match self.cause {
            Cause::Error(error) => self.describe.text(error),
            Cause::NotFinal => ErrorText::not_final(),
            Cause::TimedOut => ErrorText::timed_out(),
        };
        #[cfg(feature = "observe")]
        return text.about(self.detail.take(), |code| self.has_code(code));
        #[cfg(not(feature = "observe"))]
        text
    }
}

/// A failed attempt that has been judged, without the types of its call.
pub(super) struct Failure<'f> {
    pub(super) result: AttemptResult,
    pub(super) verdict: Verdict,
    /// The least unit of the delay that the policy has for its code.
    pub(super) code_base: Option<Duration>,
    /// When it began, if the policy wants to know.
    pub(super) started: Option<Timestamp>,
    /// What asks the policy whether it may start anew, if this attempt has moved the work on.
    pub(super) progressed: Option<MayRestart>,
    /// Asked once, where the call is observed.
    pub(super) text: &'f mut dyn FnMut() -> ErrorText,
}

/// When a call and its last attempt began, where the clock was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    #[cfg(feature = "observe")]
    call: Timestamp,
    #[cfg(feature = "observe")]
    attempt: Timestamp,
    /// What its events are known by.
    #[cfg(feature = "observe")]
    id: observe::CallId,
}

#[cfg(not(feature = "observe"))]
impl Times {
    pub(super) const UNKNOWN: Self = Self {};

    #[inline(always)]
    pub(super) const fn now() -> Self {
        Self::UNKNOWN
    }

    #[inline(always)]
    pub(super) const fn start(_: &Policy) -> Self {
        Self::UNKNOWN
    }

    #[inline(always)]
    #[expect(clippy::unused_self, reason = "nobody watches")]
    pub(super) const fn retry_begins(&mut self) {}
}

#[cfg(feature = "observe")]
impl Times {
    pub(super) const UNKNOWN: Self = Self {
        call: Timestamp::ENDLESS,
        attempt: Timestamp::ENDLESS,
        id: observe::CallId::NONE,
    };

    /// Returns the beginning of a call. The clock is read where an observer wants to know when attempts begin.
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
        if !policy.values.telemetry.has_timings() && policy.values.deadline.is_none() {
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
    fn of(self, failures: u32, context: Context<'_>) -> observe::Times {
        let now = now();
        // A call with a deadline has looked at its own clock when it began.
        let call = Self::since(self.call, now).or_else(|| {
            let deadline = context.operation.policy().values.deadline?;
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

    /// Notes when a retry begins, where the call is observed.
    #[inline(always)]
    pub(super) fn retry_begins(&mut self) {
        // Forgotten otherwise: an observer that comes later would be given the time of another
        // attempt.
        self.attempt = if is_watched() {
            now()
        } else {
            Timestamp::ENDLESS
        };
    }
}

/// Returns the time on the clock by which deadlines travel. In the last moments of a thread tokio's cannot be read.
#[cfg(feature = "observe")]
fn now() -> Timestamp {
    #[cfg(all(feature = "tokio", not(target_os = "unknown")))]
    if reattempt_core::process::is_thread_ending() {
        return crate::timer::ThreadTimer.now();
    }
    around::now()
}

/// Returns the call as events describe it.
#[cfg(feature = "observe")]
fn reported(operation: Operation<'_>, times: &mut Times) -> observe::Call {
    let policy = operation.policy();
    let named = policy.budget.map(crate::budget::Budget::balance);
    // Drawn by the first event of the call, since most calls have none.
    times.id = times.id.or_new();
    observe::Call {
        operation: operation.name(),
        policy: operation.policy_name(),
        max: policy.attempts(),
        budget_balance: named.or_else(|| default_budget::balance(operation)),
        telemetry: policy.values.telemetry,
        id: times.id,
    }
}

impl<P: Place> LiveCall<P> {
    /// Notes when a retry begins, where the call is observed.
    #[inline(always)]
    pub fn retry_begins(&mut self) {
        self.progress.times.retry_begins();
    }
}

impl Progress {
    /// Describes the attempt that has just failed, where the call is observed.
    pub(super) fn attempt_ended(&self, context: Context<'_>, failure: &mut Failure<'_>) -> Report {
        #[cfg(not(feature = "observe"))]
        let _ = (context, &mut failure.text);
        let before = self.call.failures();
        #[cfg(feature = "observe")]
        let described = observe::is_watched().then(|| {
            let times = self.times.of(before, context);
            let cause = failure.result.cause();
            Box::new(observe::FailedAttempt::new((failure.text)(), cause, times))
        });
        Report {
            before,
            attempt: before.saturating_add(1),
            #[cfg(feature = "observe")]
            failure: described,
        }
    }
}

/// What is reported of the copies of an attempt.
#[cfg(feature = "std")]
pub trait WatchCopies {
    /// Reports that the copy with this number, from 1, has started.
    fn started(&mut self, _copy: u32) {}

    /// Reports which answer is that of the attempt, where copies were started: its own (0) or that of a copy.
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
    times: Times,
}

#[cfg(feature = "std")]
impl<'c> CopiesOf<'c> {
    /// Returns the copies of the attempt that is about to begin.
    #[inline(always)]
    pub fn new(call: &LiveCall<impl Place>, context: CallContext<'c, impl Clock>) -> Self {
        Self {
            operation: context.operation,
            // The address tells calls apart that run at the same time, and costs no counter.
            call: core::ptr::from_ref::<Call>(&call.progress.call).addr(),
            failures: call.failures(),
            #[cfg(feature = "observe")]
            times: call.progress.times,
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
            observe::copy_started(reported(self.operation, &mut self.times), attempt, copy);
        }
    }

    #[cold]
    fn won(&mut self, copy: u32, is_success: bool) {
        self.note(CallStep::CopyWon(copy, is_success));
        #[cfg(feature = "observe")]
        if observe::is_watched() {
            let attempt = self.failures.saturating_add(1);
            observe::copy_won(reported(self.operation, &mut self.times), attempt, copy);
        }
    }
}

/// Returns whether anything may want a report of a failure. A wrong yes does no harm: the report asks further.
#[inline(always)]
pub(super) fn is_watched() -> bool {
    #[cfg(feature = "observe")]
    if observe::has_sinks() {
        return true;
    }
    watch::has_any(watch::SINKS)
}

/// Reports a success after a retry; one at once leaves no trace.
pub(super) fn recovered(progress: &mut Progress, context: Context<'_>) {
    let before = progress.call.failures();
    let attempt = before.saturating_add(1);
    // Without a name: the record has it from the failure before.
    note(&progress.call, || "", before, attempt, CallStep::Succeeded);
    #[cfg(not(feature = "observe"))]
    let _ = context;
    #[cfg(feature = "observe")]
    if observe::is_watched() {
        let times = progress.times.of(before, context);
        let call = reported(context.operation, &mut progress.times);
        let failure = progress.last.take();
        observe::recovered(call, attempt, failure.as_deref(), times);
    }
}

/// Reports a call that is dropped after a failure. Where a panic drops it, that says more.
#[cfg(feature = "observe")]
pub(super) fn dropped(progress: &mut Progress) {
    let Some(failure) = progress.last.take() else {
        return;
    };
    if observe::is_watched() && !std::thread::panicking() {
        observe::dropped(&failure, Times::since(progress.times.call, now()));
    }
}

#[inline(always)]
fn note(
    call: &Call,
    name: impl FnOnce() -> &'static str,
    before: u32,
    attempt: u32,
    step: CallStep,
) {
    // The name is asked inside: without a recorder it need not be made.
    record(move || CallEvent {
        call: core::ptr::from_ref(call).addr(),
        operation: name(),
        before,
        attempt,
        step,
    });
}

/// An attempt that did not end its call with success, on its way to observers and recorder.
#[derive(Debug)]
pub(super) struct Report {
    /// The number of the attempt before it, which is higher where the count has started anew.
    before: u32,
    attempt: u32,
    /// In a box: its bytes would be copied also where the call is not observed.
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

    pub(super) fn retries(
        self,
        progress: &mut Progress,
        operation: Operation<'_>,
        result: AttemptResult,
        delay: Duration,
    ) {
        let step = CallStep::Retry(result, delay);
        let name = || operation.name();
        note(&progress.call, name, self.before, self.attempt, step);
        #[cfg(feature = "observe")]
        if let Some(mut failure) = self.failure {
            let call = reported(operation, &mut progress.times);
            observe::retries(call, self.attempt, &mut failure, delay);
            progress.last = Some(failure);
        }
    }

    pub(super) fn gives_up(
        self,
        progress: &mut Progress,
        operation: Operation<'_>,
        ending: Ending,
        reason: GiveUpReason,
    ) {
        let step = CallStep::GaveUp(ending, reason);
        let name = || operation.name();
        note(&progress.call, name, self.before, self.attempt, step);
        #[cfg(feature = "observe")]
        if observe::is_watched() {
            // An attempt that was cut off has no error, so the report gets a text in its place.
            let failure = self.failure.or_else(|| {
                (ending == Ending::Attempt(AttemptResult::CutOff)).then(|| {
                    let times = observe::Times::default();
                    Box::new(observe::FailedAttempt::new(
                        ErrorText::cut_off(),
                        None,
                        times,
                    ))
                })
            });
            // Between two attempts the call ends with the failure before.
            let failure = failure.or_else(|| progress.last.take());
            observe::gives_up(
                reported(operation, &mut progress.times),
                self.attempt,
                failure.as_deref(),
                ending != Ending::BetweenAttempts,
                reason,
            );
        }
    }
}
