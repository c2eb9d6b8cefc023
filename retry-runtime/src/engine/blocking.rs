//! The driver of sync calls: an attempt is a closure, and the thread waits.

use core::time::Duration;

use super::codes::judge_by_code;
use super::context::Contexts;
use super::decide::plain_delay;
use super::default_budget;
use super::result::AttemptResult;
use super::watch::{Describe, Described, Failure, Progress};
use super::{CallContext, CallStart, Gate, IntoContext, LiveCall, Place, Until};
use crate::around::{self, RetryScope};
use crate::call::{Call, GiveUpReason};
use crate::failure::GaveUp;
use crate::inside::{self, retry_inside};
use crate::timer::{BlockingTimer, Clock};
use crate::verdict::Verdict;
use reattempt_observe::ErrorText;

impl CallStart {
    /// Returns the body of a call whose retries [`Self::retried`] makes: `FnMut`, as for [`LiveCall::attempt`].
    #[inline(always)]
    pub const fn body<R, F>(body: F) -> F
    where
        F: FnMut() -> R, // may run again: clone what it moves, a parameter `x` by `#[retry(clone(x))]`
    {
        body
    }

    /// Makes the retries of a call whose first attempt failed with `error`, until one succeeds or the call gives up.
    /// `describe` and `judge` look at an error, `split` takes an outcome apart, and `fail` makes the answer of a call
    /// that gives up. Out of line with a copy of the body: a success at once pays for none of it.
    ///
    /// The loop here knows the count and chance. Whatever else a failure asks for, and every end, is in
    /// [`retry`], which is compiled once.
    #[cold]
    #[inline(never)]
    #[cfg_attr(feature = "tracing", track_caller)]
    #[expect(clippy::too_many_arguments, reason = "what an expansion is made of")]
    pub fn retried<R, A, E, T: BlockingTimer, D: Describe<E>, C: Contexts<T>>(
        self,
        contexts: C,
        mut error: E,
        mut body: impl FnMut() -> R,
        describe: impl Fn(&E) -> Described<'_, E, D>,
        mut judge: impl FnMut(&E) -> Verdict,
        split: impl Fn(R) -> Result<A, E>,
        fail: impl FnOnce(E, GaveUp) -> A,
    ) -> A {
        let (mut failures, mut marks) = (0, self.marks);
        // A policy that cannot change is taken once; one with a name is looked at again after each
        // failure.
        let mut held = contexts.hold();
        let mut verdict = judge(&error);
        // An operation that has used up its retries inside this call must be remembered. Only
        // `retry` has the machine for that; the loop here keeps a count, in a register.
        while around::marks() == marks {
            let context = C::of(&held);
            let Some(delay) = plain_delay(context, verdict, failures) else {
                break;
            };
            failures = failures.saturating_add(1);
            if !delay.is_zero() {
                sleep(delay, context.timer, caller());
                // Two words are read instead of a clock where nothing can have ended the call.
                if context.may_be_over()
                    && let Err(end) = Progress::new(failures, self.times).resume(context.erased())
                {
                    return fail(error, end);
                }
            }
            let retry = RetryScope::new(failures);
            let outcome = body();
            // Those when the attempt began, so what it has marked ends this loop.
            marks = retry.marks;
            // Before `split`: code that looks at an outcome is not part of the attempt.
            drop(retry);
            match split(outcome) {
                Ok(answer) => {
                    if contexts.may_share() {
                        default_budget::succeeded(context, failures);
                    }
                    return answer;
                }
                Err(failed) => error = failed,
            }
            contexts.renew(&mut held);
            verdict = judge(&error);
        }
        let mut progress = Progress::new(failures, self.times);
        progress.call.take_marks(marks);
        // One object for the body and all that looks at its outcome, so that `retry` knows no type
        // of the function.
        let mut attempts = Judged {
            body,
            describe,
            judge,
            split,
            state: Err(error),
            verdict,
        };
        let decide = &mut move |decide: &mut Decide<'_>| {
            contexts.renew(&mut held);
            decide(C::of(&held).erased_blocking());
        };
        let end = retry(&mut progress, decide, &mut attempts, caller());
        match (attempts.state, end) {
            (Ok(answer), _) => answer,
            (Err(error), end) => fail(error, end),
        }
    }
}

/// The attempts of a sync call, the last of which has failed, without the types of its function.
trait Attempts {
    /// Returns the verdict on the last error.
    fn verdict(&self) -> Verdict;

    /// Returns what it says of itself.
    fn text(&self) -> ErrorText;

    /// Returns whether it has this status or code.
    fn has_code(&self, code: &str) -> bool;

    /// Runs another attempt. Returns whether it has succeeded.
    fn run(&mut self) -> bool;
}

struct Judged<A, E, B, D, J, S> {
    body: B,
    describe: D,
    judge: J,
    split: S,
    state: Result<A, E>,
    verdict: Verdict,
}

impl<R, A, E, T, B, D, J, S> Attempts for Judged<A, E, B, D, J, S>
where
    B: FnMut() -> R,
    D: Fn(&E) -> Described<'_, E, T>,
    T: Describe<E>,
    J: FnMut(&E) -> Verdict,
    S: Fn(R) -> Result<A, E>,
{
    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn text(&self) -> ErrorText {
        match &self.state {
            Ok(_) => ErrorText::not_final(),
            Err(error) => (self.describe)(error).text(),
        }
    }

    fn has_code(&self, code: &str) -> bool {
        let error = self.state.as_ref().err();
        error.is_some_and(|error| (self.describe)(error).has_code(code))
    }

    fn run(&mut self) -> bool {
        self.state = (self.split)((self.body)());
        match &self.state {
            Ok(_) => true,
            Err(error) => {
                self.verdict = (self.judge)(error);
                false
            }
        }
    }
}

/// What is done under the policy that holds when it is done.
type Decide<'d> = dyn FnMut(CallContext<'_, dyn BlockingTimer + '_>) + 'd;

/// Makes the retries of a call whose last attempt has failed. Returns how it ended, which means
/// nothing for a call that has succeeded.
#[cold]
#[inline(never)]
fn retry(
    progress: &mut Progress,
    with_context: &mut dyn FnMut(&mut Decide<'_>),
    attempts: &mut dyn Attempts,
    caller: Caller,
) -> GaveUp {
    loop {
        let mut ended = None;
        with_context(&mut |context| {
            // The context lives for one decision: while an attempt runs nothing borrows the policy,
            // which may be another one after it.
            let policy = context.operation.policy();
            let (verdict, code_base) =
                judge_by_code(policy, attempts.verdict(), &|code| attempts.has_code(code));
            let failure = Failure {
                result: AttemptResult::Failed(verdict),
                verdict,
                code_base,
                // Only calls with neither `reset_after` nor `context` have this form.
                started: None,
                progressed: None,
                text: &mut || attempts.text(),
            };
            let delay = progress.decide(context.clocked(), &mut (), failure, None);
            ended = delay
                .and_then(|delay| wait(progress, context, delay, caller))
                .err();
        });
        if let Some(end) = ended {
            return end;
        }
        if retry_inside(Some(&mut progress.call), || attempts.run()) {
            // After a success the reason is not read; any one would do.
            let end = GaveUp::new(GiveUpReason::Attempts, progress.call.failures());
            with_context(&mut |context| progress.recovered(context.clocked()));
            return end;
        }
    }
}

/// Waits until a retry may begin.
///
/// # Errors
///
/// How the call ended.
fn wait(
    progress: &mut Progress,
    context: CallContext<'_, dyn BlockingTimer + '_>,
    delay: Duration,
    caller: Caller,
) -> Result<(), GaveUp> {
    if !delay.is_zero() {
        sleep(delay, context.timer, caller);
        progress.resume(context.clocked())?;
    }
    progress.times.retry_begins();
    Ok(())
}

impl<P: Place> LiveCall<P> {
    /// Runs one attempt. `FnOnce`, because the loop around it says what it moves, and the compiler says that once.
    #[inline(always)]
    pub fn attempt<'c, R, T: Clock + 'c>(
        &mut self,
        until: Until,
        context: impl IntoContext<'c, T>,
        body: impl FnOnce() -> R,
    ) -> R {
        self.inside(until, context, body)
    }

    /// Runs what belongs to one attempt: everything that it calls sees that it is a retry, and its deadline.
    #[inline(always)]
    pub fn inside<'c, R, T: Clock + 'c>(
        &mut self,
        until: Until,
        context: impl IntoContext<'c, T>,
        body: impl FnOnce() -> R,
    ) -> R {
        let call = &mut self.progress.call;
        // Two copies of the body: a guard in one place for both would hold registers of every
        // success, for the landing pad of a panic.
        if call.failures() == 0 && until.is_never() {
            let marks = around::marks();
            let answer = body();
            call.take_marks(marks);
            return answer;
        }
        attempt_inside(call, context, body)
    }

    /// Runs what belongs to a retry, in line.
    #[inline(always)]
    pub fn inside_retry<R, T: Clock>(
        &mut self,
        context: CallContext<'_, T>,
        body: impl FnOnce() -> R,
    ) -> R {
        let (call, bounds) = (&mut self.progress.call, context.until.bounds());
        inside::attempt_inside(Some(call), bounds, false, context.timer, body)
    }

    /// Decides what follows a failed attempt, which `assess` describes and judges, and waits until the retry may begin.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[cold]
    #[inline(never)]
    #[cfg_attr(feature = "tracing", track_caller)]
    pub fn retry<'c, 'f, T: BlockingTimer + 'c, E: ?Sized + 'f, D: Describe<E>>(
        &mut self,
        context: impl IntoContext<'c, T> + Copy,
        gates: &mut impl Gate,
        assess: impl FnOnce() -> (Described<'f, E, D>, Verdict),
    ) -> Result<(), GaveUp> {
        // In here, so that a success has none of this code in its way.
        let (failure, verdict) = assess();
        let context = context.into_context();
        let delay = self.decide(context, gates, failure, verdict, None)?;
        wait(
            &mut self.progress,
            context.erased_blocking(),
            delay,
            caller(),
        )
    }

    /// Waits until the retry may begin.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[cfg_attr(feature = "tracing", track_caller)]
    pub fn wait<'c, T: BlockingTimer + 'c>(
        &mut self,
        context: impl IntoContext<'c, T>,
        delay: Duration,
    ) -> Result<(), GaveUp> {
        let context = context.into_context().erased_blocking();
        wait(&mut self.progress, context, delay, caller())
    }

    /// Enters the gates, and waits until they let the attempt begin.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[inline(always)]
    #[cfg_attr(feature = "tracing", track_caller)]
    pub fn enter<T: BlockingTimer>(
        &mut self,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
    ) -> Result<(), GaveUp> {
        if !self.ask(context, gates)?.is_zero() {
            while let Some(wait) = self.progress.ask_again(context.erased(), gates)? {
                sleep(wait, context.timer, caller());
            }
        }
        gates.begin(context.timer);
        Ok(())
    }
}

/// Runs an attempt that is a retry or has a deadline, which everything that it calls can see. Out of line, with a copy
/// of the body: what only a retry needs takes no register from a success.
#[cold]
#[inline(never)]
fn attempt_inside<'c, R, T: Clock + 'c>(
    call: &mut Call,
    context: impl IntoContext<'c, T>,
    body: impl FnOnce() -> R,
) -> R {
    let context = context.into_context();
    let bounds = context.until.bounds();
    inside::attempt_inside(Some(call), bounds, false, context.timer, body)
}

/// Where a call stands, for a warning.
#[derive(Clone, Copy)]
struct Caller {
    // Only the warning reads it, and `track_caller` passes one more argument to each call.
    #[cfg(feature = "tracing")]
    location: &'static core::panic::Location<'static>,
}

#[inline(always)]
#[cfg_attr(feature = "tracing", track_caller)]
const fn caller() -> Caller {
    Caller {
        #[cfg(feature = "tracing")]
        location: core::panic::Location::caller(),
    }
}

#[inline]
fn sleep(delay: Duration, timer: &(impl BlockingTimer + ?Sized), caller: Caller) {
    #[cfg(feature = "tracing")]
    reattempt_observe::warn_in_async(caller.location, super::blocked::is_in_async);
    #[cfg(not(feature = "tracing"))]
    let _ = caller;
    timer.sleep(delay);
}
