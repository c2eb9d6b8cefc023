//! What follows a failed attempt, once for all calls: the step asks the machine and reports what it
//! says. Nothing here knows the types of a call, so that it is compiled once, and not for each
//! function. What most failures need is in line: [`plain_delay`].

use core::time::Duration;

use super::result::{AttemptResult, Ending};
use super::watch::{Context, Failure, MayRestart, Progress, Report, Times, is_watched, recovered};
use super::{CallContext, Gate, default_budget};
use crate::around;
use crate::call::{Call, CallEnv, GiveUpReason};
use crate::failure::GaveUp;
use crate::strategy::Decision;
use crate::timer::{Clock, Timestamp};
use crate::verdict::Verdict;
use reattempt_policy::Values;
use reattempt_policy::rules::{Consequence, Violation};

/// The strategy of a call: it is asked once, after this attempt, with this delay that the error asks for.
pub(super) type AskStrategy<'s> =
    dyn FnMut(u32, Option<Duration>, &dyn CallEnv) -> Option<Decision> + 's;

/// Decides by the count and by chance alone after an error, of a call that has failed so often before and remembers
/// nothing else: returns the delay before the next attempt. That is all where nothing is unusual about the policy, the error, the
/// thread and the process.
///
/// It takes no reference to the call, which would then have to lie in memory.
#[inline(always)]
pub(super) fn plain_delay<T: Clock>(
    context: CallContext<'_, T>,
    verdict: Verdict,
    failures: u32,
) -> Option<Duration> {
    let policy = context.operation.policy();
    // Without a limit of attempts no call comes to this number.
    let is_last = failures >= policy.values.max.saturating_sub(1);
    // In the order of their price: under a constant policy the first two fold into a comparison,
    // the others load a word of the process.
    if is_last || !policy.is_plain(verdict) || is_watched() || context.is_disabled() {
        return None;
    }
    let delay = policy.sample_delay(failures, None, || context.timer.random());
    // After the draw: whether a delay ends in time depends on its length.
    let is_quiet = context.until.is_never() && around::is_quiet();
    let is_plain = is_quiet || is_plain_around(context, delay);
    // The budget last, since only a retry that nothing else forbids is paid for. After a refusal
    // `Progress::decide` asks again, and reports it.
    (is_plain && default_budget::pay_plainly(context, failures)).then_some(delay)
}

/// Returns whether this delay is all that follows a failure inside of a retry, or under a deadline.
#[cold]
#[inline(never)]
fn is_plain_around<T: Clock>(context: CallContext<'_, T>, delay: Duration) -> bool {
    // A budget asks for the priority. A call whose own is low does not come here.
    around::is_plain() && context.ends_in_time(delay).is_ok()
}

impl Progress {
    /// Returns the progress of a call that has failed so often.
    #[inline(always)]
    pub(super) const fn new(failures: u32, times: Times) -> Self {
        let call = Call::counted(failures);
        Self {
            call,
            times,
            #[cfg(feature = "observe")]
            last: None,
        }
    }

    /// Returns whether a failure is kept for observers.
    #[inline(always)]
    #[cfg_attr(
        not(feature = "observe"),
        expect(clippy::unused_self, reason = "nobody watches")
    )]
    pub(super) const fn keeps_last(&self) -> bool {
        #[cfg(feature = "observe")]
        return self.last.is_some();
        #[cfg(not(feature = "observe"))]
        false
    }

    /// Ends the call for observers: nothing is left to drop.
    pub(super) fn over(&mut self) {
        self.call = Call::new();
        #[cfg(feature = "observe")]
        {
            self.last = None;
        }
    }

    /// Decides the same where the gates see the low priority of the call.
    #[cold]
    #[inline(never)]
    fn decide_low(
        &mut self,
        context: Context<'_>,
        gates: &mut dyn Gate,
        failure: Failure<'_>,
        strategy: Option<&mut AskStrategy<'_>>,
    ) -> Result<Duration, GaveUp> {
        let _priority = context.asking();
        self.decide(context.at_normal_priority(), gates, failure, strategy)
    }

    /// Decides what follows a failed attempt, and reports it: returns the delay before the next one.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[cold]
    #[inline(never)]
    pub(super) fn decide(
        &mut self,
        context: Context<'_>,
        gates: &mut dyn Gate,
        mut failure: Failure<'_>,
        strategy: Option<&mut AskStrategy<'_>>,
    ) -> Result<Duration, GaveUp> {
        // The gates ask for the priority: what a failure leaves of a budget may be closed to the retry.
        if context.is_low() {
            return self.decide_low(context, gates, failure, strategy);
        }
        let (result, verdict) = (failure.result, failure.verdict);
        // Before the machine, which counts the failure and may start the count anew.
        let report = self.attempt_ended(context, &mut failure);
        // Whatever follows: a breaker counts the failure of a call that gives up, too.
        gates.record(result, &context.operation, context.timer);
        let policy = context.operation.policy();
        let mut env = LiveEnv {
            context,
            gates,
            result,
            started: failure.started,
            progressed: failure.progressed,
            code_base: failure.code_base,
            strategy,
            // Asked before the failure is counted.
            is_first: self.call.failures() == 0,
            is_free: false,
        };
        // Read before the machine, which forgets it where it starts the count anew.
        let paid = failure.progressed.map(|_| self.call.paid());
        let decided = self.call.failed(policy, verdict, &mut env);
        if let Some(paid) = paid.filter(|_| env.progressed.is_some()) {
            // The retries before have helped.
            default_budget::succeeded(context, paid);
        }
        let is_free = env.is_free;
        let report = report.numbered(self.call.failures());
        match decided {
            Ok(delay) => {
                if result == AttemptResult::NotFinal {
                    // Counted apart: a poll costs no token, and nested calls see no retry.
                    self.call.asks_again();
                } else if is_free {
                    self.call.pays_nothing();
                }
                report.retries(self, context.operation, result, delay);
                Ok(delay)
            }
            Err(reason) => {
                let attempts = self.call.failures();
                let end = self.end(report, context, Ending::Attempt(result), reason, attempts);
                Err(known(end, verdict, gates, context.timer))
            }
        }
    }

    /// Ends the call: an operation that has used up its retries is marked in the calls around it.
    fn end(
        &mut self,
        report: Report,
        context: Context<'_>,
        ending: Ending,
        reason: GiveUpReason,
        attempts: u32,
    ) -> GaveUp {
        // Before `over`, which drops the failure that the report may name.
        report.gives_up(self, context.operation, ending, reason);
        // These ends say that the operation has retried in vain. A final error or an open breaker
        // says nothing of the kind.
        if matches!(
            reason,
            GiveUpReason::Attempts
                | GiveUpReason::Deadline
                | GiveUpReason::Strategy
                | GiveUpReason::Budget
        ) {
            context.operation.mark();
        }
        self.over();
        GaveUp::new(reason, attempts)
    }

    /// Ends the call whose attempt a deadline cut off. `is_own` says that it was the call's own deadline, which is a
    /// failure for the gates; an inherited one says no more about the service than how long it has not answered.
    #[cold]
    pub(super) fn cut_off(
        &mut self,
        context: Context<'_>,
        gates: &mut dyn Gate,
        is_own: bool,
    ) -> GaveUp {
        if is_own {
            gates.record(AttemptResult::CutOff, &context.operation, context.timer);
        } else {
            gates.abandon(context.timer);
        }
        // The attempt that was cut off was made, but not counted: it never came to `Call::failed`.
        let attempts = self.call.failures().saturating_add(1);
        let report = Report::of_attempt(attempts);
        let ending = Ending::Attempt(AttemptResult::CutOff);
        self.end(report, context, ending, GiveUpReason::Deadline, attempts)
    }

    /// Gives back the token of a retry that is not begun, if no retry of the call was free.
    #[cold]
    pub(super) fn give_back(&self, context: Context<'_>) {
        if self.call.has_paid_for_all() {
            default_budget::give_back(context);
        }
    }

    /// Ends the call between two attempts, or before the first. The retry that is not begun gives its token back.
    #[cold]
    #[inline(never)]
    pub(super) fn ended(&mut self, context: Context<'_>, reason: GiveUpReason) -> GaveUp {
        self.give_back(context);
        let attempts = self.call.failures();
        let report = Report::of_attempt(attempts);
        self.end(report, context, Ending::BetweenAttempts, reason, attempts)
    }

    /// Ends the call because a gate refuses its next attempt.
    #[cold]
    pub(super) fn refused(
        &mut self,
        context: Context<'_>,
        gates: &mut dyn Gate,
        reason: GiveUpReason,
    ) -> GaveUp {
        let end = self.ended(context, reason);
        known(end, Verdict::Permanent, gates, context.timer)
    }

    /// Tests, after a delay, whether the retry may still begin.
    ///
    /// # Errors
    ///
    /// How the call ended: retries were switched off meanwhile, or the delay ended late.
    #[cold]
    pub(super) fn resume(&mut self, context: Context<'_>) -> Result<(), GaveUp> {
        // The switch before the deadline, as in `Call::failed`.
        let reason = if context.is_disabled() {
            GiveUpReason::Disabled
        } else if context.is_over() {
            GiveUpReason::Deadline
        } else {
            return Ok(());
        };
        Err(self.ended(context, reason))
    }

    /// Returns how long an attempt that waits for its gates still has to wait; `None` when it may begin. How long it
    /// is depends on the other calls.
    ///
    /// # Errors
    ///
    /// How the call ended.
    pub(super) fn ask_again(
        &mut self,
        context: Context<'_>,
        gates: &mut dyn Gate,
    ) -> Result<Option<Duration>, GaveUp> {
        // Retries may have been switched off meanwhile.
        if self.call.failures() > 0 && context.is_disabled() {
            return Err(self.ended(context, GiveUpReason::Disabled));
        }
        let priority = context.asking();
        let wait = match gates.wait_left(context.timer) {
            Ok(wait) => wait,
            Err(reason) => return Err(self.ended(context, reason)),
        };
        drop(priority);
        // Its turn may have come when the deadline had passed: timers come late.
        if wait.is_zero() && !context.is_over() {
            return Ok(None);
        }
        // It asks again sooner than its turn is expected.
        match context.ends_in_time(wait.max(gates.forecast())) {
            Ok(()) => Ok(Some(wait)),
            Err(reason) => Err(self.ended(context, reason)),
        }
    }

    /// Reports a call that succeeds after a retry.
    #[cold]
    #[inline(never)]
    pub(super) fn recovered(&mut self, context: Context<'_>) {
        default_budget::succeeded(context, self.call.paid());
        if is_watched() {
            recovered(self, context);
        }
        if self.keeps_last() {
            // After a success a `LiveCall` drops nothing, so the box would leak.
            self.over();
        }
    }
}

/// Returns an end of which the call knows more than the reason: the delay that the last error or a gate asks for.
fn known(end: GaveUp, verdict: Verdict, gates: &mut dyn Gate, clock: &dyn Clock) -> GaveUp {
    // The breaker knows when it lets a probe through; the last error may have asked for less.
    let wait = if end.reason() == GiveUpReason::BreakerOpen {
        gates.retry_after(clock)
    } else {
        verdict.requested_delay()
    };
    wait.map_or(end, |wait| end.with_retry_after(wait))
}

/// What the machine asks of a call that runs.
struct LiveEnv<'a, 'g, 's, 't> {
    context: Context<'a>,
    gates: &'g mut dyn Gate,
    result: AttemptResult,
    started: Option<Timestamp>,
    progressed: Option<MayRestart>,
    code_base: Option<Duration>,
    strategy: Option<&'s mut AskStrategy<'t>>,
    is_first: bool,
    /// The retry costs nothing, or something that is not counted here.
    is_free: bool,
}

impl CallEnv for LiveEnv<'_, '_, '_, '_> {
    fn remaining(&self) -> Option<Duration> {
        self.context.remaining()
    }

    fn random(&self) -> u64 {
        self.context.timer.random()
    }

    fn attempt_time(&self) -> Option<Duration> {
        let started = self.started?;
        Some(self.context.timer.now().since(started))
    }

    fn has_moved_on(&mut self, values: &Values) -> bool {
        // A count that starts anew without a bound could go on for ever: such a policy keeps
        // its count, and is reported.
        if let Some(violation) = self.progressed.and_then(|restarts| restarts(values)) {
            self.progressed = None;
            self.invalid_policy(&violation, Consequence::NearestValues);
        }
        self.progressed.is_some()
    }

    fn slack(&self) -> Duration {
        self.context.timer.slack()
    }

    fn code_base(&self) -> Option<Duration> {
        self.code_base
    }

    fn is_disabled(&self) -> bool {
        self.context.operation.is_disabled()
    }

    // A value that is not final is not a failure: no call around this one would ask for it again.
    fn is_nested(&self) -> bool {
        self.result != AttemptResult::NotFinal
            && around::retries() > 0
            && self.context.operation.is_marked()
    }

    fn invalid_policy(&mut self, violation: &Violation, consequence: Consequence) {
        #[cfg(feature = "std")]
        self.context
            .operation
            .report_invalid(violation, consequence);
        #[cfg(not(feature = "std"))]
        let _ = (violation, consequence);
    }

    fn strategy(&mut self, attempt: u32, retry_after: Option<Duration>) -> Option<Decision> {
        // Taken out, since the strategy borrows the environment that holds it.
        let strategy = self.strategy.take()?;
        strategy(attempt, retry_after, self)
    }

    #[inline(always)]
    fn permit_retry(&mut self) -> Result<(), GiveUpReason> {
        self.gates.permit_retry(self.result, self.context.timer)?;
        // What asks again for a value that is not final retries nothing.
        if self.result != AttemptResult::NotFinal && !self.gates.is_budgeted() {
            self.is_free = !default_budget::pay(self.context, self.is_first)?;
        }
        Ok(())
    }
}
