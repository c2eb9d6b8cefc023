//! What a loop tells of its attempts where somebody may be watching: when each began, what its error says of
//! itself, and that the call has recovered. All of it after a failure.

mod here;
mod step;
mod words;

pub use here::{Here, HereSince, InRetry, InsideTold};
pub use step::pause_told;
pub(crate) use words::words;
pub use words::{NoWords, Words, WordsByDebug, WordsByDisplay};

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use pin_project_lite::pin_project;

use super::{Progress, Until};
use crate::ambient::{self, Retrying};
use crate::attempt::Cause;
use crate::observe::{self, Times, Told};
use crate::operation::Operation;
use crate::policy::Policy;
use crate::timer::{Clock, Moment};

// The clock by which deadlines travel. In the last moments of a thread tokio's cannot be read any more.
fn now() -> Moment {
    #[cfg(feature = "tokio")]
    if crate::timer::is_over() {
        return crate::timer::Threads.now();
    }
    ambient::now()
}

// When an attempt began, where anybody has looked at a clock.
#[derive(Debug, Clone, Copy)]
pub struct Began(Moment);

impl Began {
    pub const UNKNOWN: Self = Self(Moment::ENDLESS);

    // A call begins; only a policy that says so reads the clock for it.
    #[inline(always)]
    pub fn start(policy: &Policy) -> Self {
        if policy.telemetry.times {
            Self(now())
        } else {
            Self::UNKNOWN
        }
    }

    // The same of a policy that may be another when the call has failed: the deadline that it had is not known then.
    #[inline(always)]
    pub fn start_named(policy: &Policy) -> Self {
        if policy.telemetry.times || policy.deadline.is_some() {
            Self(now())
        } else {
            Self::UNKNOWN
        }
    }

    // A retry begins.
    #[cold]
    #[inline(never)]
    pub fn again() -> Self {
        if observe::is_watched() {
            Self(now())
        } else {
            Self::UNKNOWN
        }
    }

    // An attempt begins, the first of which began with the call.
    #[inline(always)]
    #[must_use]
    pub(crate) fn attempt<C: Clock>(
        self,
        progress: impl Progress,
        until: Until,
        clock: C,
    ) -> (Self, Self, Until, C) {
        if progress.failures() == 0 {
            (self, self, until, clock)
        } else {
            (self, Self::again(), until, clock)
        }
    }

    // The attempt that began so, with the beginning of its call.
    #[inline(always)]
    #[cfg(feature = "tower")]
    pub(crate) const fn known<C: Clock>(
        self,
        call: Self,
        until: Until,
        clock: C,
    ) -> (Self, Self, Until, C) {
        (call, self, until, clock)
    }

    const fn at(moment: Moment) -> Self {
        Self(moment)
    }

    fn since(self, now: Moment) -> Option<Duration> {
        (!self.0.is_endless()).then(|| now.since(self.0))
    }
}

// What is known of the times of an attempt, by the clock by which deadlines travel. Of most it is its own beginning
// alone; a call that may have a deadline or is timed knows more.
pub trait Beginnings: Copy {
    fn times(self, failures: u32, operation: &Operation) -> Times;

    // Nobody asks for them any more.
    fn forget(self, _failures: u32, _operation: &Operation) {}
}

impl Beginnings for Began {
    fn times(self, _: u32, _: &Operation) -> Times {
        Times {
            attempt: self.since(now()),
            call: None,
        }
    }
}

impl<C: Clock + Copy> Beginnings for (Began, Began, Until, C) {
    fn times(self, failures: u32, operation: &Operation) -> Times {
        let (call, attempt, until, clock) = self;
        let now = now();
        // A call with a deadline has looked at its own clock when it began.
        let call = call.since(now).or_else(|| {
            let deadline = operation.policy().deadline?;
            Some(deadline.saturating_sub(until.remaining(&clock)?))
        });
        let attempt = attempt.since(now);
        Times {
            attempt: if failures == 0 {
                attempt.or(call)
            } else {
                attempt
            },
            call,
        }
    }
}

// An attempt has failed, and its step comes next. Out of line, and with as few arguments as there can be: a function
// that succeeds at once has no register to spare for it.
#[inline(always)]
pub fn note<E: ?Sized>(
    progress: &impl Progress,
    operation: &Operation,
    began: impl Beginnings,
    cause: Cause<'_, E>,
    words: impl FnOnce(&E) -> Option<String>,
) {
    let failures = progress.failures();
    match cause {
        Cause::Error(error) => note_error(failures, operation, began, error, words),
        Cause::TimedOut => note_other(failures, operation, began, Told::timed_out),
        Cause::NotFinal => note_other(failures, operation, began, Told::not_final),
    }
}

#[cold]
#[inline(never)]
fn note_error<E: ?Sized>(
    failures: u32,
    operation: &Operation,
    began: impl Beginnings,
    error: &E,
    words: impl FnOnce(&E) -> Option<String>,
) {
    note_other(failures, operation, began, || Told {
        kind: kind_of::<E>(),
        message: words(error),
    });
}

#[cold]
#[inline(never)]
fn note_other(
    failures: u32,
    operation: &Operation,
    began: impl Beginnings,
    told: impl FnOnce() -> Told,
) {
    if observe::is_watched() {
        let times = began.times(failures, operation);
        observe::note(failures.saturating_add(1), told(), times);
    } else {
        began.forget(failures, operation);
    }
}

// The type as the compiler names it; those of ours by their name alone, whatever crate they are made in.
fn kind_of<E: ?Sized>() -> &'static str {
    let path = core::any::type_name::<E>();
    match path.strip_prefix("retry_runtime::") {
        Some(ours) if !ours.contains('<') => ours.rsplit("::").next().unwrap_or(ours),
        _ => path,
    }
}

// The same of an answer, which is a result itself.
#[cfg(any(
    feature = "tower",
    feature = "reqwest-middleware04",
    feature = "reqwest-middleware05"
))]
pub(crate) fn note_answer<R, E>(
    progress: &impl Progress,
    operation: &Operation,
    began: impl Beginnings,
    answer: &Result<R, E>,
    words: impl FnOnce(&Result<R, E>) -> Option<String>,
) {
    note_other(progress.failures(), operation, began, || {
        let kind = match answer {
            Ok(_) => "bad_status",
            Err(_) => kind_of::<E>(),
        };
        let message = words(answer);
        Told { kind, message }
    });
}

pin_project! {
    // As `Again`, and it gives the beginning of the attempt along with its outcome. Out of line, like all of it, it
    // looks at the clock when it is first polled.
    #[derive(Debug)]
    pub struct AgainTold<F> {
        #[pin]
        body: F,
        failures: u32,
        is_begun: bool,
        began: Began,
    }
}

#[inline(always)]
pub fn again_told<F>(body: F, progress: impl Progress) -> AgainTold<F> {
    AgainTold {
        body,
        failures: progress.failures(),
        is_begun: false,
        began: Began::UNKNOWN,
    }
}

impl<F: Future> Future for AgainTold<F> {
    type Output = (F::Output, Began);

    #[cold]
    #[inline(never)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if !*this.is_begun {
            *this.is_begun = true;
            *this.began = Began::again();
        }
        let began = *this.began;
        let _retry = Retrying::after(*this.failures);
        this.body.poll(cx).map(|outcome| (outcome, began))
    }
}

// A success on its way out of the loop.
#[inline(always)]
pub fn recovered<R>(
    answer: R,
    progress: &impl Progress,
    operation: &Operation,
    began: impl Beginnings,
) -> R {
    if progress.failures() > 0 {
        recovers(progress.failures(), operation, began);
    }
    answer
}

#[cold]
#[inline(never)]
fn recovers(failures: u32, operation: &Operation, began: impl Beginnings) {
    if observe::is_watched() {
        let times = began.times(failures, operation);
        observe::recovered(operation, failures.saturating_add(1), times);
    }
}
