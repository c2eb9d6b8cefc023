//! The state machine of one call: it is told what happened and answers what to
//! do. It reads no clock and draws no random number itself; whoever drives it
//! (the attribute, the programmatic form, a simulation) says what surrounds it.
#![warn(clippy::arithmetic_side_effects)]

use core::fmt;
use core::time::Duration;

use crate::duration::{Nanos, is_shorter};
use crate::jitter::unit;
use crate::policy::{Nested, Policy};
use crate::strategy::Decision;
use crate::verdict::Verdict;

/// Why a call ended without success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GaveUp {
    /// The error is not to be retried.
    Permanent,
    /// The service forbade another attempt.
    Forbidden,
    /// The attempts are used up.
    Attempts,
    /// The next attempt could not start before the deadline, or the deadline
    /// cut an attempt off.
    Deadline,
    /// The service asked for a longer delay than the policy's `patience`.
    Patience,
    /// The call ran inside a retry of another call, which decides instead.
    Nested,
    /// The user's [`Strategy`](crate::Strategy) said so.
    Strategy,
    /// The circuit breaker is open: too many calls of this service failed.
    BreakerOpen,
    /// The throttle let no attempt through: the service turned too many away.
    Throttle,
    /// The retry budget is empty: too many calls of this service failed.
    Budget,
    /// Retries are switched off.
    Disabled,
}

impl GaveUp {
    /// The word for this reason in events and metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Permanent => "permanent",
            Self::Forbidden => "forbidden",
            Self::Attempts => "attempts",
            Self::Deadline => "deadline",
            Self::Patience => "patience",
            Self::Nested => "nested",
            Self::Strategy => "strategy",
            Self::BreakerOpen => "breaker_open",
            Self::Throttle => "throttle",
            Self::Budget => "budget",
            Self::Disabled => "disabled",
        }
    }
}

impl fmt::Display for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Permanent => "the error is not to be retried",
            Self::Forbidden => "the service forbade another attempt",
            Self::Attempts => "all attempts are used up",
            Self::Deadline => "the deadline leaves no time for another attempt",
            Self::Patience => "the service asked for a longer delay than `patience` allows",
            Self::Nested => "the call above is retrying already",
            Self::Strategy => "the strategy said so",
            Self::BreakerOpen => "the circuit breaker is open",
            Self::Throttle => "the throttle let no attempt through",
            Self::Budget => "the retry budget is empty",
            Self::Disabled => "retries are switched off",
        })
    }
}

/// What to do after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Wait this long, then attempt again.
    Retry(Duration),
    /// End the call.
    GiveUp(GaveUp),
}

/// What the machine may have to ask after a failure; nothing is asked before.
pub trait Surroundings {
    /// Time left until the deadline; `None` without one.
    fn remaining(&self) -> Option<Duration>;
    /// 64 random bits.
    fn random(&self) -> u64;
    /// Whether this call runs inside a retry of another call.
    ///
    /// # Default
    ///
    /// `false`.
    fn is_nested(&self) -> bool {
        false
    }
}

/// One call of an operation: its attempts and the delays between them.
///
/// # Examples
///
/// ```
/// # use retry_runtime as reattempt;
/// use reattempt::{Call, Policy, Step, Surroundings, Verdict};
/// use std::time::Duration;
///
/// struct Still;
/// impl Surroundings for Still {
///     fn remaining(&self) -> Option<Duration> { None }
///     fn random(&self) -> u64 { u64::MAX }
/// }
///
/// let policy = Policy::new().max(2).jitter(reattempt::Jitter::None);
/// let mut call = Call::new();
/// let step = call.failed(&policy, Verdict::Transient, &Still);
/// assert_eq!(step, Step::Retry(Duration::from_millis(100)));
/// let step = call.failed(&policy, Verdict::Transient, &Still);
/// assert!(matches!(step, Step::GiveUp(_)));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Call {
    failures: u32,
    previous: Option<Duration>,
}

impl Call {
    /// A call that has not been attempted yet.
    #[inline]
    pub const fn new() -> Self {
        Self {
            failures: 0,
            previous: None,
        }
    }

    /// Attempts that have failed so far.
    #[inline]
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// A call of which `failures` attempts have failed, for a policy whose delays
    /// do not look at the one before.
    #[inline(always)]
    pub(crate) const fn resumed(failures: u32) -> Self {
        Self {
            failures,
            previous: None,
        }
    }

    /// An attempt has failed: what now?
    #[inline]
    pub fn failed(
        &mut self,
        policy: &Policy,
        verdict: Verdict,
        around: &impl Surroundings,
    ) -> Step {
        let delay = self
            .admit(policy, verdict)
            .and_then(|asked| self.delay(policy, asked, around));
        match delay {
            Ok(delay) => Step::Retry(delay),
            Err(reason) => Step::GiveUp(reason),
        }
    }

    /// The first half of the step: whether there may be another attempt, and the
    /// delay that the error asks for.
    // With a constant policy nearly all of this is decided when it is compiled.
    #[inline(always)]
    pub(crate) fn admit(
        &mut self,
        policy: &Policy,
        verdict: Verdict,
    ) -> Result<Option<Duration>, GaveUp> {
        let retry = self.failures;
        self.failures = retry.saturating_add(1);
        let asked = match verdict {
            // Nobody knows whether it was executed, and twice it may not be.
            Verdict::Transient | Verdict::TransientAfter(_) if !policy.idempotent => {
                return Err(GaveUp::Permanent);
            }
            Verdict::Permanent => return Err(GaveUp::Permanent),
            Verdict::Forbidden => return Err(GaveUp::Forbidden),
            Verdict::Throttled(asked) => asked,
            Verdict::TransientAfter(asked) => Some(asked),
            Verdict::Transient | Verdict::Refused => None,
        };
        if let Some(max) = policy.attempts() {
            if retry >= max.saturating_sub(1) {
                return Err(GaveUp::Attempts);
            }
            // Cannot wrap below the maximum, and needs no check.
            self.failures = retry.wrapping_add(1);
        }
        Ok(asked.filter(|delay| !delay.is_zero()))
    }

    /// The second half: how long to wait, if that ends before the deadline.
    #[inline]
    pub(crate) fn delay(
        &mut self,
        policy: &Policy,
        asked: Option<Duration>,
        around: &impl Surroundings,
    ) -> Result<Duration, GaveUp> {
        bearable(policy, asked, around)?;
        let retry = self.failures.wrapping_sub(1);
        let delay = match asked {
            Some(asked) => spread(asked, around.random()),
            None if policy.shape().is_none() => Duration::ZERO,
            None if policy.looks_back() => {
                let delay = policy.draw(retry, self.previous, || around.random());
                self.previous = Some(delay);
                delay
            }
            None => policy.draw(retry, None, || around.random()),
        };
        before_end(delay, around)
    }
}

/// What rules a retry out before anybody asks how long to wait.
#[inline]
fn bearable(
    policy: &Policy,
    asked: Option<Duration>,
    around: &impl Surroundings,
) -> Result<(), GaveUp> {
    if matches!(policy.nested, Nested::Collapse) && around.is_nested() {
        return Err(GaveUp::Nested);
    }
    match asked {
        Some(asked) if is_shorter(policy.patience, asked) => Err(GaveUp::Patience),
        _ => Ok(()),
    }
}

#[inline]
fn before_end(delay: Duration, around: &impl Surroundings) -> Result<Duration, GaveUp> {
    match around.remaining() {
        Some(left) if !is_shorter(delay, left) => Err(GaveUp::Deadline),
        _ => Ok(delay),
    }
}

/// The second half of a step that a strategy decides.
pub(crate) fn decided_delay(
    policy: &Policy,
    asked: Option<Duration>,
    around: &impl Surroundings,
    decide: impl FnOnce() -> Decision,
) -> Result<Duration, GaveUp> {
    bearable(policy, asked, around)?;
    match (decide(), asked) {
        (Decision::Stop, _) => Err(GaveUp::Strategy),
        (Decision::Retry(_), Some(asked)) => before_end(spread(asked, around.random()), around),
        (Decision::Retry(delay), None) => before_end(delay, around),
    }
}

/// A delay that the service asked for, up to 10 % longer so that its clients do
/// not return in step; never shorter.
#[cold]
fn spread(asked: Duration, random: u64) -> Duration {
    let more = Nanos(Nanos::new(asked).0 * 0.1 * unit(random));
    asked.saturating_add(more.duration())
}
