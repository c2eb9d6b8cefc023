//! A call that runs, as its driver holds it: the types of its policy, its errors and its timer, around what is compiled
//! once for all calls.

use core::future::Future;
use core::mem::ManuallyDrop;
use core::time::Duration;

use super::decide::{AskStrategy, plain_delay};
use super::watch::{Describe, Described, Progress, Times, is_watched};
use super::{CallContext, Gate, IntoContext, Until};
use crate::around;
use crate::attempt::{Attempt, Retry, Started};
use crate::call::{Call, CallEnv, GiveUpReason};
use crate::failure::GaveUp;
use crate::inside::retry_inside;
use crate::operation::Site;
use crate::strategy::{Decision, FailedAttempt, Strategy};
use crate::timer::Clock;
use crate::verdict::Verdict;

/// What knows the operation of a call that may be dropped after a failure.
pub trait Place {
    /// Marks the operation in the calls around it.
    fn mark(&self);
}

/// Nothing is marked when the call is dropped: a sync call ends before that, and a layer marks by itself.
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
    /// How many operations had been marked on this thread.
    pub(super) marks: u32,
    pub(super) times: Times,
}

impl CallStart {
    /// Returns the start of a call that begins now.
    #[inline(always)]
    pub fn now() -> Self {
        Self {
            marks: around::marks(),
            times: Times::now(),
        }
    }
}

/// How far a call has come, and since when it runs. Eight bytes without the feature `observe`.
#[derive(Debug)]
pub struct LiveCall<P: Place = ()> {
    /// Dropped out of line, where there is anything to drop.
    pub(super) progress: ManuallyDrop<Progress>,
    place: P,
}

impl<P: Place> LiveCall<P> {
    /// Returns a call that has not been attempted yet.
    #[inline(always)]
    pub fn new(place: P) -> Self {
        Self::since(Times::now(), place)
    }

    /// Returns a call that begins under a policy that may time it.
    #[inline(always)]
    pub fn start<T: Clock>(place: P, context: CallContext<'_, T>) -> Self {
        Self::since(Times::start(context.operation.policy()), place)
    }

    #[inline(always)]
    const fn since(times: Times, place: P) -> Self {
        Self {
            progress: ManuallyDrop::new(Progress::new(0, times)),
            place,
        }
    }

    /// Returns how many attempts have failed so far.
    #[inline(always)]
    pub fn failures(&self) -> u32 {
        self.progress.call.failures()
    }

    /// Returns how many retries have been made, without those that ask again for a value that is not final.
    #[inline(always)]
    pub fn retries(&self) -> u32 {
        self.progress.call.retries()
    }

    /// Returns whether an attempt with this limit is a first one that nothing limits: it is run as it is.
    #[inline(always)]
    pub fn is_plain(&self, limit: Until) -> bool {
        self.failures() == 0 && limit.is_never() && around::is_quiet()
    }

    /// Decides what follows a failed attempt, which `assess` describes and judges: returns the delay before the next one.
    /// Out of line, as is all that `assess` does: what only a failure needs costs a success nothing.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[cold]
    #[inline(never)]
    pub fn delay<'c, 'f, T: Clock + 'c, E: ?Sized + 'f, D: Describe<E>>(
        &mut self,
        context: impl IntoContext<'c, T>,
        gates: &mut impl Gate,
        assess: impl FnOnce() -> (Described<'f, E, D>, Verdict),
    ) -> Result<Duration, GaveUp> {
        let (failure, verdict) = assess();
        self.decide(context.into_context(), gates, failure, verdict, None)
    }

    /// Decides after an error of this verdict by the count and by chance, where that is all.
    #[inline(always)]
    pub fn plain_delay<T: Clock>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &impl Gate,
        verdict: Verdict,
    ) -> Option<Duration> {
        // A gate has to learn of each failure, and what a call remembers may forbid the retry.
        if !gates.is_none() || !self.progress.call.is_plain() {
            return None;
        }
        let delay = plain_delay(context, verdict, self.failures())?;
        self.progress.call.count_failure();
        Some(delay)
    }

    /// Decides the same where it is not.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[cold]
    #[inline(never)]
    pub fn delay_in_full<T: Clock, E: ?Sized>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
        mut failure: Described<'_, E, impl Describe<E>>,
        verdict: Verdict,
    ) -> Result<Duration, GaveUp> {
        let policy = context.operation.policy();
        let context = context.erased();
        failure.with(policy, verdict, |failure| {
            self.progress.decide(context, gates, failure, None)
        })
    }

    /// Decides by the count and by chance where that is all, and else as [`Progress::decide`] does.
    #[inline(always)]
    pub(super) fn decide<T: Clock, E: ?Sized>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
        mut failure: Described<'_, E, impl Describe<E>>,
        verdict: Verdict,
        strategy: Option<&mut AskStrategy<'_>>,
    ) -> Result<Duration, GaveUp> {
        // Each of these folds away in a call that has none of it.
        if strategy.is_none()
            && failure.is_error()
            && failure.progressed.is_none()
            && let Some(delay) = self.plain_delay(context, gates, verdict)
        {
            return Ok(delay);
        }
        let policy = context.operation.policy();
        let context = context.erased();
        failure.with(policy, verdict, |failure| {
            self.progress.decide(context, gates, failure, strategy)
        })
    }

    /// Decides what follows a failed attempt: returns the retry, for the hooks that look at it.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[cold]
    #[inline(never)]
    pub fn failed<'a, T: Clock, E: ?Sized>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
        failure: Described<'a, E, impl Describe<E>>,
        verdict: Verdict,
    ) -> Result<Retry<'a, E>, GaveUp> {
        let cause = failure.cause;
        let delay = self.decide(context, gates, failure, verdict, None)?;
        Ok(self.retry_of(context, cause, delay))
    }

    /// Returns the same where a strategy decides. Its state is made when it is first asked.
    ///
    /// # Errors
    ///
    /// How the call ended.
    pub fn failed_by_strategy<'a, T: Clock, E: ?Sized, S: Strategy<E> + ?Sized>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
        failure: Described<'a, E, impl Describe<E>>,
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
    #[cold]
    #[inline(never)]
    pub fn failed_with<'a, T: Clock, E: ?Sized>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
        failure: Described<'a, E, impl Describe<E>>,
        verdict: Verdict,
        decide: impl FnOnce(&FailedAttempt<'_, E>) -> Decision,
    ) -> Result<Retry<'a, E>, GaveUp> {
        // In an `Option`: the machine asks at most once, but through an object that could be called
        // again.
        let (cause, mut decide) = (failure.cause, Some(decide));
        let mut ask = |attempt, retry_after, around: &dyn CallEnv| {
            Some(decide.take()?(&FailedAttempt {
                operation: context.operation,
                attempt,
                cause,
                retry_after,
                around,
            }))
        };
        let delay = self.decide(context, gates, failure, verdict, Some(&mut ask))?;
        Ok(self.retry_of(context, cause, delay))
    }

    /// Returns the retry that follows a failure with this cause, for a hook.
    #[inline(always)]
    pub fn retry_of<'a, T, E: ?Sized>(
        &self,
        context: CallContext<'_, T>,
        cause: crate::attempt::Cause<'a, E>,
        delay: Duration,
    ) -> Retry<'a, E> {
        Retry {
            operation: context.operation.lazy_name(),
            max: context.operation.policy().attempts(),
            attempt: self.failures(),
            delay,
            cause,
        }
    }

    /// Ends the call between two attempts, or before the first.
    pub fn ended<T: Clock>(&mut self, context: CallContext<'_, T>, reason: GiveUpReason) -> GaveUp {
        self.progress.ended(context.erased(), reason)
    }

    /// Ends the call whose attempt a deadline cut off. `is_own` says that it was the call's own deadline.
    pub fn cut_off<T: Clock>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
        is_own: bool,
    ) -> GaveUp {
        self.progress.cut_off(context.erased(), gates, is_own)
    }

    /// Gives back the token of a retry whose service is not there any more.
    #[cfg(feature = "std")]
    pub fn give_back<T: Clock>(&self, context: CallContext<'_, T>) {
        self.progress.give_back(context.erased());
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
    #[inline(always)]
    pub fn resume<'c, T: Clock + 'c>(
        &mut self,
        context: impl IntoContext<'c, T>,
    ) -> Result<(), GaveUp> {
        let context = context.into_context();
        if !context.may_be_over() {
            // The clock is read out of line, and only where it can matter.
            return Ok(());
        }
        self.progress.resume(context.erased())
    }

    /// Asks the gates for an attempt. Returns how long it has to wait first; [`Progress::ask_again`] says whether it may.
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
        let priority = context.asking();
        let wait = gates.enter(context.timer);
        drop(priority);
        wait.map_err(|reason| self.progress.refused(context.erased(), gates, reason))
    }

    /// Asks the gates for an attempt, or whether its turn has come, if it `has_waited`. Returns how long it still has to
    /// wait; `None` when it may begin.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[cfg(feature = "std")]
    pub fn ask_or_wait<T: Clock>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
        has_waited: bool,
    ) -> Result<Option<Duration>, GaveUp> {
        if !has_waited && self.ask(context, gates)?.is_zero() {
            return Ok(None);
        }
        self.progress.ask_again(context.erased(), gates)
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

    /// Begins a retry that was paid for. One whose delay has ended too late is not made under a policy that cuts attempts
    /// off, and gives its price back when the call ends.
    #[inline(always)]
    pub fn begin<T: Clock>(&mut self, context: CallContext<'_, T>, gates: &mut impl Gate) {
        if !context.operation.policy().has_limit() || !context.is_over() {
            gates.begin(context.timer);
        }
    }

    /// Makes the future of a first attempt: all that `attempt` calls is part of it.
    #[inline(always)]
    pub(super) fn begin_first<F>(&mut self, attempt: impl FnOnce() -> F) -> F {
        let marks = around::marks();
        let body = attempt();
        self.first_ended(marks, body)
    }

    /// Takes over what was marked in the last poll of a first attempt, since the thread had marked so many. Returns what
    /// the attempt came to.
    #[inline(always)]
    pub fn first_ended<R>(&mut self, marks: u32, outcome: R) -> R {
        self.progress.call.take_marks(marks);
        outcome
    }

    /// Makes the future of an attempt that is a retry: all that `attempt` calls is part of it.
    #[inline(always)]
    pub(super) fn begin_again<F>(&mut self, attempt: impl FnOnce() -> F) -> F {
        retry_inside(Some(&mut self.progress.call), attempt)
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
        let context = context.into_context();
        if is_recovery || gates.is_held() {
            if is_recovery {
                if is_watched()
                    || self.progress.keeps_last()
                    || context.operation.policy().has_default_budget()
                {
                    self.progress.recovered(context.erased());
                }
                // New again, so that the drop of the call finds nothing to do.
                self.progress.call = Call::new();
            }
            gates.settle(context.timer);
        }
        if is_recovery {
            // A success at once fills the operation's own budget; after a retry `recovered` has
            // done so.
            answer
        } else {
            context.operation.answered(answer)
        }
    }

    /// Ends a call that has succeeded. There is nothing to drop, which the compiler does not see.
    #[inline(always)]
    pub fn finish(self) {
        if self.progress.call.is_new() {
            let _kept = ManuallyDrop::new(self);
        }
    }

    /// Ends a call that is dropped after a failure.
    #[cold]
    #[inline(never)]
    fn abandon(&mut self) {
        if self.failures() > 0 {
            // A call may also hold marks of nested operations without a failure of its own.
            self.place.mark();
            #[cfg(feature = "observe")]
            super::watch::dropped(&mut self.progress);
        }
        self.progress.over();
    }
}

impl<P: Place> Drop for LiveCall<P> {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.progress.call.is_new() {
            self.abandon();
        }
    }
}

/// Runs what few calls need, out of line: nothing of it takes a register from the others.
#[cold]
#[inline(never)]
pub fn in_full<R>(call: impl FnOnce() -> R) -> R {
    call()
}

// `never` is there for its type alone: in a block a dead return fixes the answer in the same way.
/// Returns what makes the future of an attempt, which is one call: the future answers as `never` would.
#[inline(always)]
pub const fn one_call<R, F: Future<Output = R>, C: FnOnce() -> F>(
    _never: &Option<R>,
    call: C,
) -> C {
    call
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
