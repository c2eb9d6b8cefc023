//! What a loop tells of its attempts where somebody may be watching: when each began, what its error says of
//! itself, and that the call has recovered. All of it after a failure.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use pin_project_lite::pin_project;

use super::{Again, Progress, Until, again};
use crate::attempt::Cause;
use crate::observe::{self, Times, Told};
use crate::operation::Operation;
use crate::policy::Policy;
use crate::timer::{Clock, Moment};

// When an attempt began, where anybody has looked at a clock.
#[derive(Debug, Clone, Copy)]
pub struct Began(Moment);

impl Began {
    pub const UNKNOWN: Self = Self(Moment::ENDLESS);

    // A call begins; only a policy that says so reads the clock for it.
    #[inline(always)]
    pub fn start(policy: &Policy, clock: &impl Clock) -> Self {
        if policy.telemetry.times {
            Self(clock.now())
        } else {
            Self::UNKNOWN
        }
    }

    // A retry begins.
    #[cold]
    #[inline(never)]
    pub fn again(clock: impl Clock) -> Self {
        if observe::is_watched() {
            Self(clock.now())
        } else {
            Self::UNKNOWN
        }
    }

    // An attempt begins, the first of which began with the call.
    #[inline(always)]
    #[must_use]
    pub(crate) fn attempt(
        self,
        progress: impl Progress,
        until: Until,
        clock: &impl Clock,
    ) -> (Self, Self, Until) {
        if progress.failures() == 0 {
            (self, self, until)
        } else {
            (self, Self::again(clock), until)
        }
    }

    // The attempt that began so, with the beginning of its call.
    #[inline(always)]
    #[cfg(feature = "tower")]
    pub(crate) const fn known(self, call: Self, until: Until) -> (Self, Self, Until) {
        (call, self, until)
    }

    fn since(self, now: Moment) -> Option<Duration> {
        (!self.0.is_endless()).then(|| now.since(self.0))
    }
}

// What is known of the times of an attempt. Of most it is its own beginning alone; a call that may have a deadline
// or is timed knows more.
pub trait Beginnings: Copy {
    fn times(self, failures: u32, operation: &Operation, clock: &impl Clock) -> Times;
}

impl Beginnings for Began {
    fn times(self, _: u32, _: &Operation, clock: &impl Clock) -> Times {
        Times {
            attempt: self.since(clock.now()),
            call: None,
        }
    }
}

impl Beginnings for (Began, Began, Until) {
    fn times(self, failures: u32, operation: &Operation, clock: &impl Clock) -> Times {
        let (call, attempt, until) = self;
        let now = clock.now();
        // A call with a deadline has looked at the clock when it began.
        let call = call.since(now).or_else(|| {
            let deadline = operation.policy().deadline?;
            (!until.is_never()).then(|| deadline.saturating_sub(until.moment().since(now)))
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
    clock: impl Clock,
    began: impl Beginnings,
    cause: Cause<'_, E>,
    words: impl FnOnce(&E) -> Option<String>,
) {
    let failures = progress.failures();
    match cause {
        Cause::Error(error) => note_error(failures, operation, clock, began, error, words),
        Cause::TimedOut => note_other(failures, operation, clock, began, Told::timed_out),
        Cause::NotFinal => note_other(failures, operation, clock, began, Told::not_final),
    }
}

#[cold]
#[inline(never)]
fn note_error<E: ?Sized>(
    failures: u32,
    operation: &Operation,
    clock: impl Clock,
    began: impl Beginnings,
    error: &E,
    words: impl FnOnce(&E) -> Option<String>,
) {
    note_other(failures, operation, clock, began, || Told {
        kind: core::any::type_name::<E>(),
        message: words(error),
    });
}

#[cold]
#[inline(never)]
fn note_other(
    failures: u32,
    operation: &Operation,
    clock: impl Clock,
    began: impl Beginnings,
    told: impl FnOnce() -> Told,
) {
    if observe::is_watched() {
        let times = began.times(failures, operation, &clock);
        observe::note(failures.saturating_add(1), told(), times);
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
    clock: impl Clock,
    began: impl Beginnings,
    answer: &Result<R, E>,
    words: impl FnOnce(&Result<R, E>) -> Option<String>,
) {
    note_other(progress.failures(), operation, clock, began, || {
        let kind = match answer {
            Ok(_) => "bad_status",
            Err(_) => core::any::type_name::<E>(),
        };
        let message = words(answer);
        Told { kind, message }
    });
}

pin_project! {
    // As `Again`, and it gives the beginning of the attempt along with its outcome.
    #[derive(Debug)]
    pub struct AgainTold<F> {
        #[pin]
        body: Again<F>,
        began: Began,
    }
}

#[inline(always)]
pub fn again_told<F>(body: F, progress: impl Progress, clock: impl Clock) -> AgainTold<F> {
    AgainTold {
        body: again(body, progress),
        began: Began::again(clock),
    }
}

impl<F: Future> Future for AgainTold<F> {
    type Output = (F::Output, Began);

    #[cold]
    #[inline(never)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let began = *this.began;
        this.body.poll(cx).map(|outcome| (outcome, began))
    }
}

// A success on its way out of the loop.
#[inline(always)]
pub fn recovered<R>(
    answer: R,
    progress: &impl Progress,
    operation: &Operation,
    clock: impl Clock,
    began: impl Beginnings,
) -> R {
    if progress.failures() > 0 {
        recovers(progress.failures(), operation, clock, began);
    }
    answer
}

#[cold]
#[inline(never)]
fn recovers(failures: u32, operation: &Operation, clock: impl Clock, began: impl Beginnings) {
    if observe::is_watched() {
        let times = began.times(failures, operation, &clock);
        observe::recovered(operation, failures.saturating_add(1), times);
    }
}

// What an error says of itself, as its type allows: the method that needs fewer references is found first.
#[derive(Debug)]
pub struct Words<'e, E: ?Sized>(pub &'e E);

// Whatever the error is.
impl<E: ?Sized> Clone for Words<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: ?Sized> Copy for Words<'_, E> {}

pub trait WordsByDisplay {
    fn reattempt_words(self) -> Option<String>;
}

impl<E: fmt::Display + ?Sized> WordsByDisplay for &&Words<'_, E> {
    fn reattempt_words(self) -> Option<String> {
        Some(self.0.to_string())
    }
}

pub trait WordsByDebug {
    fn reattempt_words(self) -> Option<String>;
}

impl<E: fmt::Debug + ?Sized> WordsByDebug for &Words<'_, E> {
    fn reattempt_words(self) -> Option<String> {
        Some(format!("{:?}", self.0))
    }
}

pub trait NoWords {
    fn reattempt_words(self) -> Option<String>;
}

impl<E: ?Sized> NoWords for Words<'_, E> {
    fn reattempt_words(self) -> Option<String> {
        None
    }
}

// The words that an error is asked for as a trait object.
pub(crate) fn words(message: Option<&dyn fmt::Display>) -> Option<String> {
    message.map(ToString::to_string)
}
