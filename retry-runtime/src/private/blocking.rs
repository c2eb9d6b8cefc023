//! What the loop of a sync function needs besides the step.

use core::time::Duration;

use super::limits::{afford, step};
use super::progress::{general, go_on, immediate, is_over, or_end, surrounded, watch};
use super::{Admitted, Limits, Progress, Question, Until, admit, enter};
use crate::ambient::{self, Retrying};
use crate::call::GaveUp;
use crate::events::{Came, Watch};
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::policy::Policy;
use crate::timer::{Blocking, Clock};
use crate::verdict::Verdict;

// One attempt. `FnMut`, because a body that could run only once can't be
// retried: the compiler then points at the parameter that the body moves.
#[inline(always)]
pub fn attempt<R>(mut body: impl FnMut() -> R) -> R {
    body()
}

// Whether an attempt that runs is a retry, which everything below sees. It stands
// around the loop, so that a panic ends it too; until something fails it is nothing.
#[derive(Debug)]
pub struct Inside(Option<Retrying>);

impl Inside {
    #[inline(always)]
    #[expect(clippy::new_without_default, reason = "only an expansion makes one")]
    pub const fn new() -> Self {
        Self(None)
    }

    #[inline(always)]
    pub fn enter(&mut self, progress: impl Progress) {
        self.0 = (progress.failures() > 0).then(|| Retrying::after(progress.failures()));
    }

    #[inline(always)]
    pub fn leave(&mut self) {
        self.0 = None;
    }
}

// The same in a call that may have a deadline, which everything below sees.
#[inline(always)]
pub fn attempt_until<R>(
    progress: impl Progress,
    until: Until,
    clock: &impl Clock,
    mut body: impl FnMut() -> R,
) -> R {
    let _retry = (progress.failures() > 0).then(|| Retrying::after(progress.failures()));
    let _limit =
        (!until.is_never()).then(|| ambient::shrink(clock.travelling(until.moment()), false));
    body()
}

// A hook: under the deadline, but no attempt.
pub fn hooked<R>(until: Until, clock: &impl Clock, hook: impl FnOnce() -> R) -> R {
    let _limit = ambient::shrink(clock.travelling(until.moment()), false);
    hook()
}

// Makes the future of an attempt; what the body does before it gives one is part of
// the attempt.
#[inline(always)]
pub fn made<F>(
    progress: impl Progress,
    until: Until,
    clock: &impl Clock,
    body: impl FnMut() -> F,
) -> F {
    attempt_until(progress, until, clock, body)
}

#[inline(always)]
#[cfg_attr(feature = "tracing", track_caller)]
pub fn sleep(delay: Duration, timer: &impl Blocking) {
    if !delay.is_zero() {
        #[cfg(feature = "tracing")]
        super::blocked::warn_in_async(core::panic::Location::caller());
        timer.sleep(delay);
    }
}

// The step of a loop whose retries nobody looks at. What follows the decision is
// one call out of line: a function that succeeds at once saves no registers for
// what only a retry needs.
#[inline(always)]
#[cfg_attr(feature = "tracing", track_caller)]
pub fn wait<B: Blocking>(
    progress: &mut impl Progress,
    operation: &Operation,
    until: Until,
    timer: &B,
    verdict: Verdict,
    limits: &mut impl Limits,
) -> Result<(), Interrupted> {
    let came = Came::Failed(verdict);
    let watch = watch(progress, came);
    limits.failed(operation, came, timer);
    let waited = match admit(progress, operation, until, verdict) {
        Err(end) => Err(end),
        Ok(Admitted::Immediate) => {
            let allowed = immediate(operation.policy(), true)
                .and_then(|()| afford(limits, operation, came, timer));
            or_end(*progress, allowed).inspect(|()| watch.retries(operation, Duration::ZERO))
        }
        // Those out of line tell of the end themselves.
        Ok(Admitted::Exponential(retry)) => {
            let draw = |policy: &Policy, retry, timer: &B| {
                policy.draw_exponential(retry, || timer.random())
            };
            let waited = plain(operation, watch, retry, timer, limits.question(came), draw);
            return or_end(*progress, waited.map(|held| limits.take_back(held)));
        }
        Ok(Admitted::Plain(retry)) => {
            let draw =
                |policy: &Policy, retry, timer: &B| policy.draw_plain(retry, || timer.random());
            let waited = plain(operation, watch, retry, timer, limits.question(came), draw);
            return or_end(*progress, waited.map(|held| limits.take_back(held)));
        }
        Ok(Admitted::General(asked)) => {
            let question = limits.question(came);
            let waited = waited(progress, operation, watch, until, timer, asked, question);
            return waited.map(|held| limits.take_back(held));
        }
    };
    waited.inspect_err(|end| watch.gives_up(operation, end.reason()))
}

#[cold]
#[inline(never)]
#[cfg_attr(feature = "tracing", track_caller)]
fn plain<B: Blocking, Q: Question>(
    operation: &Operation,
    watch: Watch,
    retry: u32,
    timer: &B,
    question: Q,
    draw: impl FnOnce(&Policy, u32, &B) -> Duration,
) -> Result<Q::Held, GaveUp> {
    let tell_end = |reason: &GaveUp| watch.gives_up(operation, *reason);
    let end_instead = |reason: &GaveUp| watch.ends_instead(operation, *reason);
    let held;
    if ambient::is_quiet() {
        let delay = draw(operation.policy(), retry, timer);
        held = question.afford(operation, timer).inspect_err(tell_end)?;
        watch.retries(operation, delay);
        sleep(delay, timer);
        go_on(operation).inspect_err(end_instead)?;
    } else {
        let delay = surrounded(operation, retry, timer).inspect_err(tell_end)?;
        held = question.afford(operation, timer).inspect_err(tell_end)?;
        watch.retries(operation, delay);
        sleep(delay, timer);
        go_on(operation).inspect_err(end_instead)?;
        if is_over(Until::NEVER, timer) {
            end_instead(&GaveUp::Deadline);
            return Err(GaveUp::Deadline);
        }
    }
    Ok(held)
}

#[cold]
#[inline(never)]
#[cfg_attr(feature = "tracing", track_caller)]
fn waited<Q: Question>(
    progress: &mut impl Progress,
    operation: &Operation,
    watch: Watch,
    until: Until,
    timer: &impl Blocking,
    asked: Option<Duration>,
    question: Q,
) -> Result<Q::Held, Interrupted> {
    let afforded = general(progress, operation, until, timer, asked, true).and_then(|delay| {
        let held = or_end(*progress, question.afford(operation, timer))?;
        Ok((delay, held))
    });
    let (delay, held) = afforded.inspect_err(|end| watch.gives_up(operation, end.reason()))?;
    watch.retries(operation, delay);
    sleep(delay, timer);
    // Threads wake up late.
    let goes_on = go_on(operation).and_then(|()| {
        if is_over(until, timer) {
            Err(GaveUp::Deadline)
        } else {
            Ok(held)
        }
    });
    or_end(
        *progress,
        goes_on.inspect_err(|reason| watch.ends_instead(operation, *reason)),
    )
}

// Before each attempt of a call with limits, which may have to wait.
#[inline(always)]
#[cfg_attr(feature = "tracing", track_caller)]
pub fn entered(
    limits: &mut impl Limits,
    progress: &impl Progress,
    operation: &Operation,
    until: Until,
    timer: &impl Blocking,
) -> Result<(), Interrupted> {
    if !enter(limits, progress, operation, until, timer)?.is_zero() {
        while let Some(wait) = step(limits, progress, operation, until, timer)? {
            sleep(wait, timer);
        }
    }
    limits.begin(timer);
    Ok(())
}
