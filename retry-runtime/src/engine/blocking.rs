//! The driver of sync calls: an attempt is a closure, and the thread waits.

use core::time::Duration;

use super::step::{no_strategy, step};
use super::watch::{Described, ErrorText};
use super::{CallContext, CallStart, Gate, IntoContext, LiveCall, Place, Until};
use crate::call::Call;
use crate::failure::GaveUp;
use crate::inside::{Inside, InsideRetry};
use crate::timer::{BlockingTimer, Clock};
use crate::verdict::Verdict;

impl CallStart {
    /// Returns the body of a call whose retries [`Self::retried`] makes: `FnMut`, as for [`Self::attempt`].
    #[inline(always)]
    pub const fn body<R, F>(body: F) -> F
    where
        F: FnMut() -> R, // may run again: clone what it moves, a parameter `x` by `#[retry(clone(x))]`
    {
        body
    }

    /// Makes the retries of a call whose first attempt failed with `error`, until one succeeds or the call gives up.
    /// `assess` describes and judges an error, `split` takes an outcome apart, and `fail` makes the answer of a call that
    /// gives up. Out of line with a copy of the body: a success at once pays for none of it.
    #[cold]
    #[inline(never)]
    #[cfg_attr(feature = "tracing", track_caller)]
    pub fn retried<'c, R, A, E, T: BlockingTimer + 'c, D: FnOnce(&E) -> ErrorText>(
        self,
        context: impl IntoContext<'c, T> + Copy,
        mut error: E,
        mut body: impl FnMut() -> R,
        mut assess: impl FnMut(&E) -> (Described<'_, E, D>, Verdict),
        split: impl Fn(R) -> Result<A, E>,
        fail: impl FnOnce(E, GaveUp) -> A,
    ) -> A {
        let mut call = self.call();
        loop {
            let (failure, verdict) = assess(&error);
            let now = context.into_context();
            let judged = call.judged(now, failure, verdict);
            // Not in a closure, which would hide the caller.
            let waited = match step(
                &mut call.machine,
                &mut call.began,
                now,
                &mut (),
                judged,
                no_strategy,
            ) {
                Ok(delay) => call.wait(context, delay),
                Err(end) => Err(end),
            };
            if let Err(end) = waited {
                return fail(error, end);
            }
            let inside = InsideRetry::new(&mut call.machine);
            let outcome = body();
            drop(inside);
            match split(outcome) {
                Ok(answer) => return call.succeeded(answer, context, &mut ()),
                Err(failed) => error = failed,
            }
        }
    }
}

impl<P: Place> LiveCall<P> {
    /// Runs one attempt. `FnMut`, because a body that could run only once cannot be retried: the compiler then points
    /// at the parameter that the body moves.
    #[inline(always)]
    // The compiler shows the line of the bound where a body moves a parameter.
    pub fn attempt<'c, R, T: Clock + 'c, F>(
        &mut self,
        until: Until,
        context: impl IntoContext<'c, T>,
        body: F,
    ) -> R
    where
        F: FnMut() -> R, // may run again: clone what it moves, a parameter `x` by `#[retry(clone(x))]`
    {
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
        if self.failures() == 0 && until.is_never() {
            return body();
        }
        attempt_inside(&mut self.machine, context, body)
    }

    /// Decides what follows a failed attempt, which `assess` describes and judges, and waits until the retry may begin.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[cold]
    #[inline(never)]
    #[cfg_attr(feature = "tracing", track_caller)]
    pub fn retry<'c, 'f, T: BlockingTimer + 'c, E: ?Sized + 'f, D: FnOnce(&E) -> ErrorText>(
        &mut self,
        context: impl IntoContext<'c, T> + Copy,
        gates: &mut impl Gate,
        assess: impl FnOnce() -> (Described<'f, E, D>, Verdict),
    ) -> Result<(), GaveUp> {
        let (failure, verdict) = assess();
        let now = context.into_context();
        let judged = self.judged(now, failure, verdict);
        let delay = step(
            &mut self.machine,
            &mut self.began,
            now,
            gates,
            judged,
            no_strategy,
        )?;
        self.wait(context, delay)
    }

    /// Waits until the retry may begin.
    ///
    /// # Errors
    ///
    /// How the call ended.
    #[inline(always)]
    #[cfg_attr(feature = "tracing", track_caller)]
    pub fn wait<'c, T: BlockingTimer + 'c>(
        &mut self,
        context: impl IntoContext<'c, T> + Copy,
        delay: Duration,
    ) -> Result<(), GaveUp> {
        if !delay.is_zero() {
            sleep(delay, context.into_context().timer, caller());
            self.resume(context)?;
        }
        self.retry_begins();
        Ok(())
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
            while let Some(wait) = self.ask_again(context, gates)? {
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
    if context.until.is_never() {
        let _inside = (call.retries() > 0).then(|| InsideRetry::new(call));
        return body();
    }
    let _inside = Inside::attempt(call, context.until.timestamp(), false, context.timer);
    body()
}

/// Where a call stands, for a warning.
#[derive(Clone, Copy)]
struct Caller {
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
fn sleep(delay: Duration, timer: &impl BlockingTimer, caller: Caller) {
    #[cfg(feature = "tracing")]
    super::blocked::warn_in_async(caller.location);
    #[cfg(not(feature = "tracing"))]
    let _ = caller;
    timer.sleep(delay);
}
