//! A call that runs: how far it has come, since when, and what its driver does with it.

use core::mem::ManuallyDrop;
use core::time::Duration;

use super::result::{AttemptResult, Ending};
use super::step::{AskStrategy, Known as _, no_strategy, step};
use super::watch::{Began, Described, ErrorText, Report, recovered};
use super::{CallContext, Gate, IntoContext, Until};
use crate::attempt::{Attempt, Retry, Started};
use crate::call;
use crate::call::{Call, CallEnv, GiveUpReason};
use crate::failure::GaveUp;
use crate::inherited;
use crate::operation::{Operation, Site};
use crate::strategy::{Decision, FailedAttempt, Strategy};
use crate::timer::Clock;
use crate::verdict::Verdict;

/// What knows the operation of a call that may be dropped after a failure.
pub trait Place {
    /// Marks the operation in the calls around it.
    fn mark(&self);
}

/// Somebody else marks it.
impl Place for () {
    #[inline(always)]
    fn mark(&self) {}
}

impl<'s, F: Fn() -> &'s Site> Place for F {
    #[inline(always)]
    fn mark(&self) {
        self().mark();
    }
}

/// When a call began, which is all that it needs before its first failure.
#[derive(Debug, Clone, Copy)]
pub struct CallStart {
    /// See [`call::begin`].
    marks: u32,
    began: Began,
}

impl CallStart {
    /// Returns the start of a call that begins now.
    #[inline(always)]
    pub fn now() -> Self {
        Self {
            marks: call::begin(),
            began: Began::now(),
        }
    }

    /// Returns the call after its first attempt.
    #[inline(always)]
    pub(super) const fn call(self) -> LiveCall {
        LiveCall::since(self, ())
    }
}

/// How far a call has come, and since when it runs. Sixteen bytes where nobody watches.
#[derive(Debug)]
pub struct LiveCall<P: Place = ()> {
    /// Dropped out of line, where there is anything to drop.
    pub(super) machine: ManuallyDrop<Call>,
    place: P,
    pub(super) began: Began,
}

impl<P: Place> LiveCall<P> {
    /// Returns a call that has not been attempted yet.
    #[inline(always)]
    pub fn new(place: P) -> Self {
        Self::since(CallStart::now(), place)
    }

    /// Returns a call that begins under a policy that may time it.
    #[inline(always)]
    pub fn start<T: Clock>(place: P, context: CallContext<'_, T>) -> Self {
        let start = CallStart {
            began: Began::start(context.operation.policy()),
            marks: call::begin(),
        };
        Self::since(start, place)
    }

    #[inline(always)]
    const fn since(start: CallStart, place: P) -> Self {
        Self {
            machine: ManuallyDrop::new(Call::since(start.marks)),
            place,
            began: start.began,
        }
    }

    /// Returns how many attempts have failed so far.
    #[inline(always)]
    pub fn failures(&self) -> u32 {
        self.machine.failures()
    }

    /// Returns how many retries have been made, without those that ask again for a value that is not final.
    #[inline(always)]
    pub fn retries(&self) -> u32 {
        self.machine.retries()
    }

    /// Returns whether an attempt with this limit is a first one that nothing limits: it is run as it is.
    #[inline(always)]
    pub fn is_plain(&self, limit: Until) -> bool {
        self.failures() == 0 && limit.is_never() && inherited::until().is_endless()
    }

    /// Decides what follows a failed attempt, which `assess` describes and judges: returns the delay before the next one.
    /// Out of line, as is all that `assess` does: what only a failure needs costs a success nothing.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[cold]
    #[inline(never)]
    pub fn delay<'c, 'f, T: Clock + 'c, E: ?Sized + 'f, D: FnOnce(&E) -> ErrorText>(
        &mut self,
        context: impl IntoContext<'c, T>,
        gates: &mut impl Gate,
        assess: impl FnOnce() -> (Described<'f, E, D>, Verdict),
    ) -> Result<Duration, GaveUp> {
        let (failure, verdict) = assess();
        let context = context.into_context();
        let judged = self.judged(context, failure, verdict);
        step(
            &mut self.machine,
            &mut self.began,
            context,
            gates,
            judged,
            no_strategy,
        )
    }

    /// Decides what follows a failed attempt: returns the retry, for the hooks that look at it.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[inline(always)]
    pub fn failed<'a, T: Clock, E: ?Sized>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
        failure: Described<'a, E, impl FnOnce(&E) -> ErrorText>,
        verdict: Verdict,
    ) -> Result<Retry<'a, E>, GaveUp> {
        self.decided(context, gates, failure, verdict, no_strategy)
    }

    /// Returns the same where a strategy decides. Its state is made when it is first asked.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[inline(always)]
    pub fn failed_with_clock<'a, T: Clock, E: ?Sized, S: Strategy<E> + ?Sized>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
        failure: Described<'a, E, impl FnOnce(&E) -> ErrorText>,
        verdict: Verdict,
        state: &mut Option<S::State>,
        strategy: &S,
    ) -> Result<Retry<'a, E>, GaveUp> {
        let decide = |failure: &FailedAttempt<'_, E>| {
            // The count has started anew, and so does the strategy.
            if failure.attempt == 1 {
                *state = None;
            }
            strategy.failed(state.get_or_insert_with(|| strategy.start()), failure)
        };
        self.failed_with(context, gates, failure, verdict, decide)
    }

    /// Returns the same where a closure decides; says what its parameter is.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[inline(always)]
    pub fn failed_with<'a, T: Clock, E: ?Sized>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
        failure: Described<'a, E, impl FnOnce(&E) -> ErrorText>,
        verdict: Verdict,
        decide: impl FnOnce(&FailedAttempt<'_, E>) -> Decision,
    ) -> Result<Retry<'a, E>, GaveUp> {
        let cause = failure.cause;
        let ask = |attempt, retry_after, around: &dyn CallEnv| {
            Some(decide(&FailedAttempt {
                operation: context.operation,
                attempt,
                cause,
                retry_after,
                around,
            }))
        };
        self.decided(context, gates, failure, verdict, ask)
    }

    #[cold]
    #[inline(never)]
    fn decided<'a, T: Clock, E: ?Sized>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
        failure: Described<'a, E, impl FnOnce(&E) -> ErrorText>,
        verdict: Verdict,
        strategy: impl AskStrategy,
    ) -> Result<Retry<'a, E>, GaveUp> {
        let cause = failure.cause;
        let judged = self.judged(context, failure, verdict);
        let delay = step(
            &mut self.machine,
            &mut self.began,
            context,
            gates,
            judged,
            strategy,
        )?;
        Ok(Retry {
            operation: context.operation.lazy_name(),
            max: context.operation.policy().attempts(),
            attempt: self.failures(),
            delay,
            cause,
        })
    }

    /// Ends the call whose attempt the deadline cut off. `is_own` says that it was the call's own deadline, which the
    /// gates learn of; an inherited one says nothing about the service.
    #[cold]
    pub fn cut_off<T: Clock>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
        is_own: bool,
    ) -> GaveUp {
        if is_own {
            gates.record(AttemptResult::CutOff, context.timer);
        }
        let (reason, ending) = (
            GiveUpReason::Deadline,
            Ending::Attempt(AttemptResult::CutOff),
        );
        let attempts = self.failures().saturating_add(1);
        self.machine.attempt_failed();
        let report = Report::of_attempt(attempts);
        (self.machine).end(
            report,
            context.operation,
            ending,
            reason,
            attempts,
            &mut self.began,
        )
    }

    /// Ends the call between two attempts, or before the first.
    #[cold]
    #[inline(never)]
    pub fn ended(&mut self, context: CallContext<'_, impl Clock>, reason: GiveUpReason) -> GaveUp {
        let attempts = self.failures();
        let report = Report::of_attempt(attempts);
        let ending = Ending::BetweenAttempts;
        (self.machine).end(
            report,
            context.operation,
            ending,
            reason,
            attempts,
            &mut self.began,
        )
    }

    /// Ends the call because its deadline has passed between two attempts.
    #[inline(always)]
    pub fn late<T: Clock>(&mut self, context: CallContext<'_, T>) -> GaveUp {
        self.ended(context, GiveUpReason::Deadline)
    }

    /// Tests, after a delay, whether the retry may still begin.
    ///
    /// # Errors
    ///
    /// How the call ended: retries were switched off meanwhile, or the delay ended late.
    // The context is made a second time for the end alone: kept for it, it would be stored before each test.
    #[inline(always)]
    pub fn resume<'c, T: Clock + 'c>(
        &mut self,
        context: impl IntoContext<'c, T> + Copy,
    ) -> Result<(), GaveUp> {
        let now = context.into_context();
        let reason = if now.is_disabled() {
            GiveUpReason::Disabled
        } else if now.is_over() {
            GiveUpReason::Deadline
        } else {
            return Ok(());
        };
        Err(self.ended(context.into_context(), reason))
    }

    /// Asks the gates for an attempt. Returns how long it has to wait first; [`Self::ask_again`] says whether it may.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[inline(always)]
    pub fn ask<T: Clock>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
    ) -> Result<Duration, GaveUp> {
        let wait = gates.enter(context.timer);
        wait.map_err(|reason| {
            let end = self.ended(context, reason);
            end.known(Verdict::Permanent, gates, context.timer)
        })
    }

    /// Enters gates of which none waits.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[inline(always)]
    pub fn enter_at_once<T: Clock>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
    ) -> Result<(), GaveUp> {
        self.ask(context, gates)?;
        gates.begin(context.timer);
        Ok(())
    }

    /// Returns how long an attempt that waits for its gates still has to wait; `None` when it may begin. How long it
    /// is depends on the other calls.
    ///
    /// # Errors
    ///
    /// How the call ended.
    pub(super) fn ask_again<T: Clock>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
    ) -> Result<Option<Duration>, GaveUp> {
        // Retries may have been switched off meanwhile.
        if self.failures() > 0 && context.is_disabled() {
            return Err(self.ended(context, GiveUpReason::Disabled));
        }
        let wait = gates.wait_left(context.timer);
        // Its turn may have come when the deadline had passed: timers come late.
        if wait.is_zero() && !context.is_over() {
            return Ok(None);
        }
        match context.ends_in_time(wait) {
            Ok(()) => Ok(Some(wait)),
            Err(reason) => Err(self.ended(context, reason)),
        }
    }

    /// Takes the answer of a call that succeeds on its way out.
    #[inline(always)]
    pub fn succeeded<'c, R, T: Clock + 'c>(
        &mut self,
        answer: R,
        context: impl IntoContext<'c, T>,
        gates: &mut impl Gate,
    ) -> R {
        let is_recovery = self.failures() > 0;
        if is_recovery || gates.is_held() {
            let context = context.into_context();
            if is_recovery {
                recovered(&self.machine, &mut self.began, context);
                *self.machine = Call::new();
            }
            gates.settle(context.timer);
        }
        answer
    }

    /// Ends a call that has succeeded. There is nothing to drop, which the compiler does not see.
    #[inline(always)]
    pub fn finish(self) {
        if self.failures() == 0 {
            let _kept = ManuallyDrop::new(self);
        }
    }
}

impl Call {
    /// Ends the call: an operation that has used up its retries is marked in the calls around it. It is compiled once for
    /// all calls.
    pub(super) fn end(
        &mut self,
        report: Report,
        operation: Operation<'_>,
        ending: Ending,
        reason: GiveUpReason,
        attempts: u32,
        began: &mut Began,
    ) -> GaveUp {
        report.gives_up(self, operation, ending, reason, began);
        if matches!(
            reason,
            GiveUpReason::Attempts
                | GiveUpReason::Deadline
                | GiveUpReason::Strategy
                | GiveUpReason::Budget
        ) {
            call::mark(operation.id());
        }
        *self = Self::new();
        GaveUp::new(reason, attempts)
    }
}

impl<P: Place> LiveCall<P> {
    /// Ends a call that is dropped after a failure.
    #[cold]
    #[inline(never)]
    fn abandon(&mut self) {
        self.place.mark();
        *self.machine = Call::new();
    }
}

impl<P: Place> Drop for LiveCall<P> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.failures() > 0 {
            self.abandon();
        }
    }
}

impl Started {
    /// Returns what the body of the next attempt sees.
    pub fn attempt(
        &self,
        call: &LiveCall<impl Place>,
        until: Until,
        clock: &impl Clock,
    ) -> Attempt<'_> {
        Attempt {
            number: call.failures().saturating_add(1),
            at: clock.now(),
            remaining: until.remaining(clock),
            started: self,
        }
    }
}
