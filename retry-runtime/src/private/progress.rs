//! How far a call has come, and the step after a failure: shared by the sync and
//! the async loop.

use core::time::Duration;

use super::limits::afford;
use super::{Limits, Until};
use crate::ambient;
use crate::attempt::{Cause, Retry};
use crate::backoff::Shape;
use crate::call::{Call, GaveUp, Surroundings};
use crate::events::{Came, Watch};
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::policy::{Nested, Policy};
use crate::timer::Clock;
use crate::verdict::Verdict;

// What a loop keeps from one attempt to the next.
pub trait Progress: Copy {
    fn failures(self) -> u32;

    fn call(self) -> Call;

    fn keep(&mut self, call: Call);
}

// The number of failures alone: four bytes, which in a future lie beside its
// state. For policies whose delays do not look at the one before.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count(u32);

impl Count {
    #[inline(always)]
    pub const fn new() -> Self {
        Self(0)
    }

    // Of attempts that were polled: a value that is not final yet is no failure.
    #[inline(always)]
    #[must_use]
    pub const fn and<E: ?Sized>(self, cause: &Cause<'_, E>) -> Self {
        match cause {
            Cause::NotFinal => self,
            _ => Self(self.0.saturating_add(1)),
        }
    }
}

impl Progress for Count {
    #[inline(always)]
    fn failures(self) -> u32 {
        self.0
    }

    #[inline(always)]
    fn call(self) -> Call {
        Call::resumed(self.0)
    }

    #[inline(always)]
    fn keep(&mut self, call: Call) {
        self.0 = call.failures();
    }
}

impl Progress for Call {
    #[inline(always)]
    fn failures(self) -> u32 {
        Call::failures(&self)
    }

    #[inline(always)]
    fn call(self) -> Self {
        self
    }

    #[inline(always)]
    fn keep(&mut self, call: Self) {
        *self = call;
    }
}

pub(super) struct Around<'a, C> {
    until: Until,
    clock: &'a C,
    failed: bool,
}

impl<'a, C> Around<'a, C> {
    pub(super) const fn new(until: Until, clock: &'a C, failed: bool) -> Self {
        Self {
            until,
            clock,
            failed,
        }
    }
}

impl<C: Clock> Surroundings for Around<'_, C> {
    #[inline(always)]
    fn remaining(&self) -> Option<Duration> {
        remaining(self.until, self.clock)
    }

    #[inline(always)]
    fn random(&self) -> u64 {
        self.clock.random()
    }

    // A value that is not final yet is no failure: nobody above would ask again.
    #[inline(always)]
    fn is_nested(&self) -> bool {
        self.failed && ambient::retries() > 0
    }
}

// The shorter of two times that are left.
pub(super) fn shorter(own: Option<Duration>, ambient: Option<Duration>) -> Option<Duration> {
    match (own, ambient) {
        (Some(own), Some(ambient)) => Some(own.min(ambient)),
        (own, ambient) => own.or(ambient),
    }
}

// What is known of the delay of an admitted retry when the policy is constant:
// it decides which function is called, and that call is all that stands in the
// user's function.
#[derive(Debug, Clone, Copy)]
pub(super) enum Admitted {
    // None at all.
    Immediate,
    // By the retry's number alone: `base * factor^n`, or that of another shape.
    Exponential(u32),
    Plain(u32),
    // Anything else, with the delay that the error asks for.
    General(Option<Duration>),
}

// After a failed attempt: whether another may follow.
#[inline(always)]
pub(super) fn admit<P: Progress>(
    progress: &mut P,
    operation: &Operation,
    until: Until,
    verdict: Verdict,
) -> Result<Admitted, Interrupted> {
    let policy = operation.policy();
    let mut call = progress.call();
    let retry = call.failures();
    let admitted = call.admit(policy, verdict);
    progress.keep(call);
    let admitted = admitted.and_then(|asked| go_on(operation).map(|()| asked));
    let asked = admitted.map_err(|reason| Interrupted::new(reason, progress.failures()))?;
    Ok(match policy.shape() {
        _ if asked.is_some() || !until.is_never() => Admitted::General(asked),
        Shape::None => Admitted::Immediate,
        _ if policy.is_fast(retry) => Admitted::Immediate,
        Shape::Exp => Admitted::Exponential(retry),
        Shape::Custom(_) | Shape::Decorrelated => Admitted::General(None),
        _ => Admitted::Plain(retry),
    })
}

// Whether the kill switch lets a retry through; asked again after the wait.
#[inline(always)]
pub(super) fn go_on(operation: &Operation) -> Result<(), GaveUp> {
    if operation.is_stopped() {
        return Err(GaveUp::Disabled);
    }
    Ok(())
}

// What a function out of line said, which is not told how often it failed.
#[inline(always)]
pub(super) fn or_end<V>(
    progress: impl Progress,
    said: Result<V, GaveUp>,
) -> Result<V, Interrupted> {
    said.map_err(|reason| Interrupted::new(reason, progress.failures()))
}

// A retry without a delay: only what is above may forbid it.
#[inline(always)]
pub(super) fn immediate(policy: &Policy, failed: bool) -> Result<(), GaveUp> {
    if ambient::is_quiet() {
        return Ok(());
    }
    allowed(policy, failed)
}

#[cold]
#[inline(never)]
fn allowed(policy: &Policy, failed: bool) -> Result<(), GaveUp> {
    if failed && ambient::retries() > 0 && policy.nested == Nested::Collapse {
        return Err(GaveUp::Nested);
    }
    match ambient::remaining() {
        Some(left) if left.is_zero() => Err(GaveUp::Deadline),
        _ => Ok(()),
    }
}

// The delay of a plain retry where something is above.
#[cold]
#[inline(never)]
pub(super) fn surrounded(
    operation: &Operation,
    retry: u32,
    clock: &impl Clock,
) -> Result<Duration, GaveUp> {
    let mut count = Count(retry.wrapping_add(1));
    general(&mut count, operation, Until::NEVER, clock, None, true).map_err(|end| end.reason())
}

// The delay of an admitted retry.
#[inline(always)]
pub(super) fn delay<P: Progress>(
    progress: &mut P,
    operation: &Operation,
    until: Until,
    clock: &impl Clock,
    admitted: Admitted,
    failed: bool,
) -> Result<Duration, Interrupted> {
    match admitted {
        Admitted::Immediate => {
            or_end(*progress, immediate(operation.policy(), failed)).map(|()| Duration::ZERO)
        }
        Admitted::Exponential(retry) | Admitted::Plain(retry) if failed => {
            or_end(*progress, plain(operation, retry, clock))
        }
        Admitted::Exponential(_) | Admitted::Plain(_) => {
            general(progress, operation, until, clock, None, failed)
        }
        Admitted::General(asked) => general(progress, operation, until, clock, asked, failed),
    }
}

#[cold]
#[inline(never)]
fn plain(operation: &Operation, retry: u32, clock: &impl Clock) -> Result<Duration, GaveUp> {
    if ambient::is_quiet() {
        return Ok(operation.policy().draw_plain(retry, || clock.random()));
    }
    surrounded(operation, retry, clock)
}

#[cold]
#[inline(never)]
pub(super) fn general<P: Progress>(
    progress: &mut P,
    operation: &Operation,
    until: Until,
    clock: &impl Clock,
    asked: Option<Duration>,
    failed: bool,
) -> Result<Duration, Interrupted> {
    let mut call = progress.call();
    let around = Around::new(until, clock, failed);
    let delay = call.delay(operation.policy(), asked, &around);
    progress.keep(call);
    let delay = delay.and_then(|delay| in_time(delay, &around, clock));
    delay.map_err(|reason| Interrupted::new(reason, progress.failures()))
}

// A delay, if it ends before the deadline however late the timer may be.
pub(super) fn in_time<C: Clock>(
    delay: Duration,
    around: &Around<'_, C>,
    clock: &C,
) -> Result<Duration, GaveUp> {
    match around.remaining() {
        Some(left) if !delay.is_zero() && left <= delay.saturating_add(clock.slack()) => {
            Err(GaveUp::Deadline)
        }
        _ => Ok(delay),
    }
}

// The retry that comes, for those who look at it, or the end. The limits are asked last.
#[inline(always)]
pub fn failed<'a, E: ?Sized>(
    progress: &mut impl Progress,
    operation: &'a Operation,
    until: Until,
    clock: &impl Clock,
    cause: Cause<'a, E>,
    verdict: Verdict,
    limits: &mut impl Limits,
) -> Result<Retry<'a, E>, Interrupted> {
    stepped(
        progress,
        operation,
        clock,
        cause,
        verdict,
        limits,
        |progress, failed| {
            admit(progress, operation, until, verdict)
                .and_then(|admitted| delay(progress, operation, until, clock, admitted, failed))
        },
    )
}

// The same, whoever says how long to wait: told what progress there is, and whether anything failed.
#[inline(always)]
pub(super) fn stepped<'a, E: ?Sized, P: Progress>(
    progress: &mut P,
    operation: &'a Operation,
    clock: &impl Clock,
    cause: Cause<'a, E>,
    verdict: Verdict,
    limits: &mut impl Limits,
    delay: impl FnOnce(&mut P, bool) -> Result<Duration, Interrupted>,
) -> Result<Retry<'a, E>, Interrupted> {
    let came = Came::to(&cause, verdict);
    let watch = watch(progress, came);
    limits.failed(operation, came, clock);
    let failed = !matches!(cause, Cause::NotFinal);
    let delay = delay(progress, failed).and_then(|delay| {
        let afforded = afford(limits, operation, came, clock);
        or_end(*progress, afforded.map(|()| delay))
    });
    match delay {
        Ok(delay) => {
            watch.retries(operation, delay);
            Ok(Retry {
                operation,
                attempt: progress.failures(),
                delay,
                cause,
            })
        }
        Err(end) => {
            watch.gives_up(operation, end.reason());
            Err(end)
        }
    }
}

// The attempt that has just ended.
#[inline(always)]
pub(super) fn watch(progress: &impl Progress, came: Came) -> Watch {
    Watch::new(progress, progress.failures().saturating_add(1), came)
}

// A call that ends where no attempt was under way.
#[inline(always)]
pub(super) fn watch_last(progress: &impl Progress) -> Watch {
    Watch::new(progress, progress.failures(), Came::Last)
}

// A call that ends with success.
#[inline(always)]
pub fn succeeded<R>(answer: R, progress: &impl Progress) -> R {
    Watch::succeeded(progress, progress.failures());
    answer
}

// Whether nothing that counts has failed yet.
#[inline(always)]
pub const fn is_first(retried: Count) -> bool {
    retried.0 == 0
}

// The end of a call whose attempt the deadline cut off.
pub fn cut_off(progress: &impl Progress, operation: &Operation) -> Interrupted {
    watch(progress, Came::CutOff).gives_up(operation, GaveUp::Deadline);
    Interrupted::new(GaveUp::Deadline, progress.failures().saturating_add(1))
}

// Time left until the deadline, the call's own or one from above.
pub(crate) fn remaining(until: Until, clock: &impl Clock) -> Option<Duration> {
    shorter(until.remaining(clock), ambient::remaining())
}

// Whether it is over.
pub fn is_over(until: Until, clock: &impl Clock) -> bool {
    remaining(until, clock).is_some_and(|left| left.is_zero())
}

// The end of a call whose deadline passed in a hook.
pub fn over(progress: &impl Progress, operation: &Operation) -> Interrupted {
    watch_last(progress).gives_up(operation, GaveUp::Deadline);
    Interrupted::new(GaveUp::Deadline, progress.failures())
}
