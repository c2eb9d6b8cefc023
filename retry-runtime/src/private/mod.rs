//! All that an expansion may name. Nothing here is part of the public interface:
//! it may change in any release, together with the macros.

#[cfg(feature = "std")]
mod asynchronous;
#[cfg(not(feature = "std"))]
mod bare;
#[cfg(feature = "tracing")]
mod blocked;
mod blocking;
mod cut;
mod either;
mod hook;
#[cfg(feature = "std")]
mod limit;
mod limits;
#[cfg(feature = "config")]
mod named;
mod outcome;
mod progress;
#[cfg(feature = "tracing")]
mod spans;
#[cfg(feature = "config")]
mod stop;
mod strategy;
#[cfg(feature = "observe")]
mod told;
#[cfg(not(feature = "tracing"))]
mod unspanned;
mod until;
#[cfg(not(feature = "observe"))]
mod untold;

#[cfg(feature = "config")]
pub use crate::config::{Live, Site};
#[cfg(feature = "std")]
pub use crate::hedge::{Ended, Hedged, hedged};
#[cfg(feature = "config")]
pub use asynchronous::pause_keeping;
#[cfg(feature = "std")]
pub use asynchronous::{Again, Pause, again, entered_in_line, pause, pause_after};
#[cfg(not(feature = "std"))]
pub use bare::{again, endured, entered_in_line, limited, limited_hook, pause, pause_after};
pub use blocking::{Inside, attempt, attempt_until, entered, hooked, made, sleep, wait};
pub use cut::{
    Cut, IsCut, IsNotCut, Lost, TimedOut, Unasked, cause_of, cut, fail_cut, fail_limited, finished,
    in_time, refuse_blocking, refuse_uncut, refuse_untold, split_limited, split_limited_told,
    tell_limited, timed_out, unasked,
};
pub use either::{Either, MayCut, NeverCuts};
pub use hook::{Reply, SettleFuture, SettleValue, before, observe};
#[cfg(feature = "tower")]
pub(crate) use limit::inside;
#[cfg(feature = "std")]
pub use limit::{Endured, Limited, endured, limited, limited_hook};
#[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
pub(crate) use limits::policy_limits;
#[cfg(feature = "std")]
pub use limits::{Breaking, Lend, OfPolicy, Purse, Throttling, breaking, lent, paying, throttled};
pub use limits::{
    ByPolicy, Gate, Guards, IsBudgeted, Limits, Pay, Question, answered, begun, enter, guards,
    pays, released,
};
#[cfg(feature = "tower")]
pub(crate) use limits::{Debits, Split};
#[cfg(feature = "config")]
pub use named::{
    answered_named, attempt_named, failed_named, paying_named, until_named, wait_named,
};
pub use outcome::{
    Answer, IsNoResult, IsResult, ambiguous, ask, fail, failure, fall_back, found, refuse_alias,
    retry_after, split, split_told, tell,
};
pub(crate) use progress::remaining;
use progress::{Admitted, admit};
pub use progress::{Count, Progress, cut_off, failed, is_first, is_over, over, succeeded};
#[cfg(feature = "tracing")]
pub use spans::{Spanned, in_span, spanned};
#[cfg(feature = "std")]
pub use std::boxed::Box;
#[cfg(feature = "config")]
pub use stop::{Drops, Keep, Keeps, Kept, Stopped, stopped};
pub use strategy::{decided, decided_by};
#[cfg(all(
    feature = "observe",
    any(
        feature = "tower",
        feature = "reqwest-middleware04",
        feature = "reqwest-middleware05"
    )
))]
pub(crate) use told::note_answer;
#[cfg(feature = "observe")]
pub(crate) use told::words;
#[cfg(feature = "observe")]
pub use told::{
    AgainTold, Began, Beginnings, Here, HereSince, InRetry, InsideTold, NoWords, Words,
    WordsByDebug, WordsByDisplay, again_told, note, pause_told, recovered,
};
#[cfg(not(feature = "tracing"))]
pub use unspanned::{Spanned, in_span, spanned};
pub use until::{Polled, Unfinished, Whole, WholeEnd, until};

#[cfg(all(
    not(feature = "observe"),
    any(
        feature = "tower",
        feature = "reqwest-middleware04",
        feature = "reqwest-middleware05"
    )
))]
pub(crate) use untold::note_answer;
#[cfg(not(feature = "observe"))]
pub(crate) use untold::words;
#[cfg(not(feature = "observe"))]
pub use untold::{Began, note, recovered};

use core::time::Duration;

use crate::attempt::{Attempt, Cause};
use crate::backoff::Backoff;
use crate::policy::Policy;
use crate::rules::Key;
use crate::timer::{Clock, Moment};
use crate::verdict::{Classify, IntoVerdict, Verdict};

// `on`. A function, so that a closure learns the type of its parameter.
#[inline(always)]
pub fn judge<E: ?Sized, V: IntoVerdict>(error: &E, on: impl FnOnce(&E) -> V) -> Verdict {
    on(error).into_verdict()
}

// `on` with `idempotent = false` and no `verify`.
#[inline(always)]
pub fn judge_by_proof<E: ?Sized, V: Proof>(error: &E, on: impl FnOnce(&E) -> V) -> Verdict {
    on(error).proof()
}

#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whether anything was executed, so `idempotent = false` would retry nothing",
    label = "expected `Verdict`",
    note = "answer `reattempt::Verdict::Refused` for errors that prove that nothing was executed, or add `verify`"
)]
pub trait Proof {
    fn proof(self) -> Verdict;
}

impl Proof for Verdict {
    fn proof(self) -> Verdict {
        self
    }
}

// `except`.
#[inline(always)]
pub fn exclude<E: ?Sized, V: IntoVerdict>(
    error: &E,
    except: impl FnOnce(&E) -> V,
) -> Option<Verdict> {
    except(error).into_exclusion()
}

// `except` wins over `on`.
#[inline(always)]
pub fn unless(except: Option<Verdict>, on: impl FnOnce() -> Verdict) -> Verdict {
    except.unwrap_or_else(on)
}

// The verdict on what an attempt came to; a value that is not final yet is asked for again.
#[inline(always)]
pub fn verdict<E: ?Sized>(cause: Cause<'_, E>, judge: impl FnOnce(&E) -> Verdict) -> Verdict {
    match cause {
        Cause::Error(error) => judge(error),
        // There was an answer, so nothing about it is ambiguous.
        Cause::NotFinal => Verdict::Refused,
        // There is no error to judge, and what was begun may have been executed.
        Cause::TimedOut => Verdict::Transient,
    }
}

// Tells the type of an attempt: `if let Some(outcome) = never::<R>() { return outcome; }`.
#[inline(always)]
pub const fn never<R>() -> Option<R> {
    None
}

// `policy = ...`: says at the user's expression what is expected there.
pub const fn inherited(policy: Policy) -> Policy {
    policy
}

// A constant policy whose `key` breaks a rule does not compile.
#[track_caller]
pub const fn blame(policy: Policy, key: Key) -> Policy {
    policy.blame(key)
}

#[track_caller]
pub const fn checked(policy: Policy) {
    let _ = policy.checked();
}

// A policy without `on`.
#[inline(always)]
pub fn classify<E: Classify + ?Sized>(error: &E) -> Verdict {
    error.classify()
}

// `inherit`.
pub fn inherit<E: Inherit + ?Sized>(inner: &E) -> Verdict {
    inner.verdict()
}

#[diagnostic::on_unimplemented(
    message = "`inherit` asks the wrapped error, and `{Self}` does not implement `Classify`",
    label = "`Classify` is not implemented for this error",
    note = "write a verdict such as `#[retry(transient)]` or `#[retry(permanent)]` above the variant, or implement `reattempt::Classify` for `{Self}`"
)]
pub trait Inherit {
    fn verdict(&self) -> Verdict;
}

#[diagnostic::do_not_recommend]
impl<E: Classify + ?Sized> Inherit for E {
    fn verdict(&self) -> Verdict {
        self.classify()
    }
}

// `after = field`.
pub fn after<A: After>(field: &A) -> Option<Duration> {
    field.after()
}

#[diagnostic::on_unimplemented(
    message = "`after` names a field that is no delay",
    label = "expected `Duration` or `Option<Duration>`, found `{Self}`"
)]
pub trait After {
    fn after(&self) -> Option<Duration>;
}

impl After for Duration {
    fn after(&self) -> Option<Duration> {
        Some(*self)
    }
}

impl After for Option<Duration> {
    fn after(&self) -> Option<Duration> {
        *self
    }
}

// What `retry_after` may answer.
#[diagnostic::on_unimplemented(
    message = "`retry_after` answers with `{Self}`, which is no delay",
    label = "expected `Option<Duration>` or `Duration`",
    note = "answer with the delay that the error asks for, or with `None` where it asks for none"
)]
pub trait Delay {
    fn delay(&self) -> Option<Duration>;
}

#[diagnostic::do_not_recommend]
impl<D: After> Delay for D {
    fn delay(&self) -> Option<Duration> {
        self.after()
    }
}

// `backoff = expression`, promoted to a static by the constant it stands in.
pub const fn backoff<B: Backoff + Send + Sync>(
    backoff: &'static B,
) -> &'static (dyn Backoff + Send + Sync) {
    backoff
}

// `backoff = |retry| ...`: says what the parameter is.
pub const fn backoff_by<B: Fn(u32) -> Duration + Send + Sync>(
    backoff: &'static B,
) -> &'static (dyn Backoff + Send + Sync) {
    backoff
}

// The timer of a policy without `timer`.
#[cfg(feature = "std")]
pub const BLOCKING_TIMER: crate::timer::Threads = crate::timer::Threads;

#[cfg(feature = "tokio")]
pub const ASYNC_TIMER: crate::timer::Tokio = crate::timer::Tokio;

#[cfg(all(feature = "smol", not(feature = "tokio")))]
pub const ASYNC_TIMER: crate::timer::Smol = crate::timer::Smol;

// Named by the error message of a build without a timer.
#[cfg(not(feature = "std"))]
pub const BLOCKING_TIMER: NoTimer = NoTimer;

#[cfg(not(any(feature = "tokio", feature = "smol")))]
pub const ASYNC_TIMER: NoTimer = NoTimer;

#[cfg(not(any(feature = "tokio", feature = "smol")))]
#[derive(Debug, Clone, Copy)]
pub struct NoTimer;

#[cfg(not(any(feature = "tokio", feature = "smol")))]
impl Clock for NoTimer {
    fn now(&self) -> Moment {
        Moment::from_origin(Duration::ZERO)
    }
}

// The policy's own deadline as a moment; eight bytes, for the futures that keep it.
#[derive(Debug, Clone, Copy)]
pub struct Until(Moment);

impl Until {
    pub const NEVER: Self = Self(Moment::ENDLESS);

    #[inline(always)]
    pub fn start(policy: &Policy, clock: &impl Clock) -> Self {
        match policy.deadline {
            Some(deadline) => Self(clock.now().after(deadline)),
            None => Self::NEVER,
        }
    }

    // The same for one attempt, which may have a limit of its own.
    #[inline(always)]
    #[must_use]
    pub fn of_attempt(self, policy: &Policy, clock: &impl Clock) -> Self {
        match policy.timeout {
            Some(timeout) => Self(self.0.min(clock.now().after(timeout))),
            None => self,
        }
    }

    #[inline(always)]
    const fn moment(self) -> Moment {
        self.0
    }

    #[inline(always)]
    pub(crate) const fn is_never(self) -> bool {
        self.0.is_endless()
    }

    #[inline(always)]
    fn remaining(self, clock: &impl Clock) -> Option<Duration> {
        (!self.is_never()).then(|| self.0.since(clock.now()))
    }
}

// What `context` needs from the start of the call on.
#[derive(Debug, Clone, Copy)]
pub struct Started {
    at: Moment,
    key: u128,
}

impl Started {
    pub fn now(clock: &impl Clock) -> Self {
        Self {
            at: clock.now(),
            key: u128::from(clock.random()) << 64 | u128::from(clock.random()),
        }
    }

    pub fn attempt(&self, failures: u32, until: Until, clock: &impl Clock) -> Attempt {
        Attempt {
            number: failures.saturating_add(1),
            elapsed: clock.now().since(self.at),
            remaining: remaining(until, clock),
            key: self.key,
        }
    }
}

// `hedge = CONSTANT`: a `Hedge`, or the delay of one.
#[cfg(feature = "std")]
#[derive(Debug)]
pub struct HedgeOf<T>(pub T);

#[cfg(feature = "std")]
impl HedgeOf<crate::hedge::Hedge> {
    pub const fn hedge(self) -> crate::hedge::Hedge {
        self.0
    }
}

#[cfg(feature = "std")]
impl HedgeOf<Duration> {
    #[track_caller]
    pub const fn hedge(self) -> crate::hedge::Hedge {
        crate::hedge::Hedge::after(self.0)
    }
}

// `budget = CONSTANT`: a reference to a budget, or the share of one of the operation's own.
#[cfg(feature = "std")]
#[derive(Debug)]
pub struct BudgetOf<T>(pub T);

#[cfg(feature = "std")]
impl BudgetOf<f64> {
    #[track_caller]
    pub const fn own(self) -> crate::Budget {
        crate::Budget::per_success(self.0)
    }

    pub const fn or(self, own: &'static crate::Budget) -> &'static crate::Budget {
        own
    }
}

#[cfg(feature = "std")]
impl BudgetOf<&'static crate::Budget> {
    // Used by nobody.
    pub const fn own(self) -> crate::Budget {
        crate::Budget::tokens(10)
    }

    pub const fn or(self, _: &'static crate::Budget) -> &'static crate::Budget {
        self.0
    }
}

// X12: a hedge beside the policy of its operation.
#[cfg(feature = "std")]
#[track_caller]
#[expect(
    clippy::panic,
    reason = "an error of the compiler: it is called in constants alone"
)]
pub const fn refuse_hedge(hedge: &crate::hedge::Hedge, policy: &Policy) {
    assert!(
        policy.is_idempotent(),
        "`hedge` runs an operation twice at the same time, and the policy says `idempotent = false`, that it may not be; drop one of them"
    );
    if let Some(refusal) = hedge.refusal(policy) {
        panic!("{}", refusal.message());
    }
}

// X10: a breaker that a constant names, beside the policy of the operation.
#[cfg(feature = "std")]
#[track_caller]
#[expect(
    clippy::panic,
    reason = "an error of the compiler: it is called in constants alone"
)]
pub const fn refuse_window(breaker: &crate::breaker::Breaker, policy: &Policy) {
    if let Some(refusal) = breaker.refusal(policy) {
        panic!("{}", refusal.message());
    }
}

// What the failure of a copy means for the others.
#[cfg(feature = "std")]
pub fn ended(verdict: Verdict) -> Ended {
    if verdict.is_retryable() {
        Ended::Retryably
    } else {
        Ended::Finally
    }
}
