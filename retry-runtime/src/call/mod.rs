//! The machine: what a call does after an attempt has failed. Every driver asks [`Call::failed`], and nothing else
//! decides about a retry. It reads no clock and draws no random number itself: it asks its [`CallEnv`].
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;

#[cfg(feature = "std")]
mod marks;
#[cfg(not(feature = "std"))]
#[path = "no_marks.rs"]
mod marks;

pub(crate) use marks::AttemptMarks;
pub(crate) use reattempt_core::GiveUpReason;

use crate::policy::Policy;
use crate::verdict::Verdict;
use reattempt_core::rest::Place;
use reattempt_policy::duration::{Nanos, is_shorter};
use reattempt_policy::rules::{Broken, Consequence, Violation};
use reattempt_policy::{Nested, Values, unit};

/// What a [`Strategy`](crate::Strategy) says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Decision {
    /// Wait this long, then attempt again.
    ///
    /// # Units and ranges
    ///
    /// 0 means at once. Neither a `cap` nor jitter applies; a delay that would not end before the deadline ends the
    /// call. A delay that the error asks for replaces this one.
    Retry(Duration),
    /// End the call, with [`GiveUpReason::Strategy`](crate::GiveUpReason::Strategy).
    Stop,
}

/// What the machine asks after a failure. It asks nothing before one.
pub trait CallEnv {
    /// Returns the time left until the deadline, the call's own or an inherited one; `None` without one.
    fn remaining(&self) -> Option<Duration>;

    /// Returns 64 random bits.
    fn random(&self) -> u64;

    /// Returns how long the attempt ran that has failed; `None` where that is not known. The
    /// machine asks under a policy with `reset_after`.
    ///
    /// # Default
    ///
    /// `None`.
    fn attempt_time(&self) -> Option<Duration> {
        None
    }

    /// Returns whether the attempt that has failed moved the work on, and the policy lets the count start anew for that.
    ///
    /// # Default
    ///
    /// `false`.
    fn has_moved_on(&mut self, _values: &Values) -> bool {
        false
    }

    /// Returns how much later than asked a delay may end.
    ///
    /// # Default
    ///
    /// Zero.
    fn slack(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns whether retries are switched off.
    ///
    /// # Default
    ///
    /// `false`.
    fn is_disabled(&self) -> bool {
        false
    }

    /// Returns whether this call runs inside a retry of another call.
    ///
    /// # Default
    ///
    /// `false`.
    fn is_nested(&self) -> bool {
        false
    }

    /// Learns that the policy of the call breaks a rule, and what the call does all the same.
    ///
    /// # Default
    ///
    /// Nothing follows.
    fn invalid_policy(&mut self, _violation: &Violation, _consequence: Consequence) {}

    /// Returns the least unit of the delay that the policy has for the code of the error, if it has one.
    ///
    /// # Default
    ///
    /// `None`.
    fn code_base(&self) -> Option<Duration> {
        None
    }

    /// Asks the strategy of the call after attempt number `attempt`, if it has one; it decides in place of the
    /// policy's backoff. `retry_after` is the delay that the error asks for.
    ///
    /// # Default
    ///
    /// `None`.
    fn strategy(&mut self, _attempt: u32, _retry_after: Option<Duration>) -> Option<Decision> {
        None
    }

    /// Asks the breaker, the bulkhead, the throttle and the budget, in this order, whether the retry may happen.
    ///
    /// # Errors
    ///
    /// Why it may not.
    ///
    /// # Default
    ///
    /// It may.
    fn permit_retry(&mut self) -> Result<(), GiveUpReason> {
        Ok(())
    }
}

/// One call of an operation: the attempts that have failed, and what few calls remember besides.
///
/// # Examples
///
/// ```
/// use reattempt::{runner::Call, runner::CallEnv, GiveUpReason, Jitter, Policy, Verdict};
/// use std::time::Duration;
///
/// struct Still;
/// impl CallEnv for Still {
///     fn remaining(&self) -> Option<Duration> { None }
///     fn random(&self) -> u64 { u64::MAX }
/// }
///
/// let policy = Policy::new().max(2).jitter(Jitter::None);
/// let mut call = Call::new();
/// let delay = call.failed(&policy, Verdict::Transient, &mut Still);
/// assert_eq!(delay, Ok(Duration::from_millis(100)));
/// let end = call.failed(&policy, Verdict::Transient, &mut Still);
/// assert_eq!(end, Err(GiveUpReason::Attempts));
/// ```
#[derive(Debug)]
pub struct Call {
    failures: u32,
    rest: Place,
}

impl Default for Call {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Call {
    fn clone(&self) -> Self {
        let mut call = Self::new();
        call.failures = self.failures;
        if !self.rest.is_none() {
            // A place of its own: one that is shared would be given back twice.
            call.rest.set(self.rest.get());
        }
        call
    }
}

impl Drop for Call {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.rest.is_none() {
            self.rest.clear();
        }
    }
}

impl Call {
    /// Returns a call that has not been attempted yet.
    #[inline]
    pub const fn new() -> Self {
        Self {
            failures: 0,
            rest: Place::NONE,
        }
    }

    /// Returns a call of which so many attempts have failed.
    #[inline(always)]
    pub(crate) const fn counted(failures: u32) -> Self {
        Self {
            failures,
            rest: Place::NONE,
        }
    }

    /// Returns how many attempts have failed so far, since the count last started anew.
    #[inline]
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// Returns whether nothing has failed, and the call remembers nothing: there is nothing to drop.
    #[inline(always)]
    pub(crate) fn is_new(&self) -> bool {
        // As an array one test of both: each call that succeeds makes it.
        [self.failures, self.rest.number()] == [0, 0]
    }

    /// Returns whether it remembers nothing but its count.
    #[inline(always)]
    pub(crate) const fn is_plain(&self) -> bool {
        self.rest.is_none()
    }

    /// Returns how many of them make the next attempt a retry: not those that ask again for a value that is not final.
    #[inline(always)]
    pub(crate) fn retries(&self) -> u32 {
        if self.rest.is_none() {
            self.failures
        } else {
            self.failures.saturating_sub(self.rest.get().polls)
        }
    }

    /// Counts a failure.
    #[inline(always)]
    pub(crate) const fn count_failure(&mut self) {
        self.failures = self.failures.saturating_add(1);
    }

    /// Counts the last failure as one that asks again for a value that is not final.
    pub(crate) fn asks_again(&mut self) {
        let mut rest = self.rest.get();
        rest.polls = rest.polls.saturating_add(1);
        self.rest.set(rest);
    }

    /// Counts the last retry as one that was not paid for.
    pub(crate) fn pays_nothing(&mut self) {
        let mut rest = self.rest.get();
        rest.free = rest.free.saturating_add(1);
        self.rest.set(rest);
    }

    /// Returns how many retries were paid for.
    pub(crate) fn paid(&self) -> u32 {
        if self.rest.is_none() {
            return self.failures;
        }
        let rest = self.rest.get();
        let unpaid = rest.polls.saturating_add(rest.free);
        self.failures.saturating_sub(unpaid)
    }

    /// Returns whether that is all of them.
    pub(crate) fn has_paid_for_all(&self) -> bool {
        self.failures > 0 && self.paid() == self.failures
    }

    /// Decides what follows a failed attempt: returns the delay before the next one.
    ///
    /// A policy that breaks an unsafe [rule](crate::rules) is followed as far as no service suffers from it: delays are at
    /// least 1 ms, and attempts at most as many as are accepted. With a value that means nothing there is no retry.
    ///
    /// After an attempt that ran for the policy's `reset_after`, or moved the work on, the count starts anew, with this failure
    /// as its first.
    /// The first rule that forbids a retry ends the call, in this order: `Permanent`, `NotIdempotent` (an ambiguous error of an
    /// operation that is not idempotent), `RetryForbidden`, `InvalidPolicy`, `Attempts`, `Disabled`, `Nested`, `RetryAfterTooLong`,
    /// `Strategy`, `Deadline`, and last what [`CallEnv::permit_retry`] asks: `BreakerOpen`, `BulkheadFull`, `Throttle`, `Budget`.
    ///
    /// # Errors
    ///
    /// Why there is no other attempt.
    // In line where it is asked: of all expansions that is `Progress::decide` alone.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn failed(
        &mut self,
        policy: &Policy,
        verdict: Verdict,
        env: &mut impl CallEnv,
    ) -> Result<Duration, GiveUpReason> {
        let mut nearest = None;
        let tamed = if policy.is_trusted() {
            Ok(&policy.values)
        } else {
            tamed(policy, &mut nearest, env)
        };
        let values = tamed.unwrap_or(&policy.values);
        let is_reset = ran_well(values, env) || env.has_moved_on(values);
        if is_reset {
            // Marks and the previous delay go, too: a stream that ran well starts over.
            *self = Self::new();
        }
        let retry = self.failures;
        self.failures = retry.saturating_add(1);
        // Before the faults of the policy, because a final verdict ends the call under any policy.
        let retry_after = retry_after(values, verdict)?;
        tamed?;
        if values.attempts().is_some_and(|max| self.failures >= max) {
            return Err(GiveUpReason::Attempts);
        }
        if env.is_disabled() {
            return Err(GiveUpReason::Disabled);
        }
        if values.nested == Nested::Collapse && env.is_nested() {
            return Err(GiveUpReason::Nested);
        }
        if retry_after.is_some_and(|delay| is_shorter(values.max_retry_after, delay)) {
            return Err(GiveUpReason::RetryAfterTooLong);
        }
        // Asked also where the error asks for a delay: that replaces the strategy's delay, but not
        // its `Stop`.
        let delay = match (env.strategy(self.failures, retry_after), retry_after) {
            (Some(Decision::Stop), _) => return Err(GiveUpReason::Strategy),
            (_, Some(delay)) | (Some(Decision::Retry(delay)), None) => delay,
            (None, None) => match slowed(values, verdict, env) {
                Some(least) => self.draw_slowed(values, least, retry, env),
                // What comes at once comes once in a call.
                None if is_reset => self.draw(&values.fast_first(false), retry, env),
                None => self.draw(values, retry, env),
            },
        };
        let random = retry_after.map(|_| env.random());
        let left = env.remaining();
        if !left.is_none_or(|left| ends_in_time(delay, left, || env.slack())) {
            return Err(GiveUpReason::Deadline);
        }
        let delay = match random {
            Some(random) => spread(delay, left.map(|left| (left, env.slack())), random),
            None => delay,
        };
        // Last, since only a retry that nothing else forbids is paid for.
        env.permit_retry()?;
        Ok(delay)
    }

    #[inline(always)]
    fn draw(&mut self, values: &Values, retry: u32, env: &impl CallEnv) -> Duration {
        // Only decorrelated delays need a place in the table.
        if !values.looks_back() {
            return values.sample_delay(retry, None, || env.random());
        }
        let delay = values.sample_delay(retry, Some(self.previous()), || env.random());
        let mut rest = self.rest.get();
        rest.previous = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        self.rest.set(rest);
        delay
    }

    /// Draws the delay after an error by which the service asks for time. The next one does not grow from it.
    #[cold]
    #[inline(never)]
    fn draw_slowed(
        &self,
        values: &Values,
        least: Duration,
        retry: u32,
        env: &impl CallEnv,
    ) -> Duration {
        let previous = Some(self.previous());
        (values.slowed(least)).sample_delay(retry, previous, || env.random())
    }

    /// Returns the delay that a decorrelated one grows from.
    fn previous(&self) -> Duration {
        Duration::from_nanos(self.rest.get().previous)
    }
}

/// Checks a policy of the running program. Returns it, or the nearest policy that is accepted where it would hammer a service.
///
/// # Errors
///
/// That it has a value that means nothing.
#[cold]
#[inline(never)]
fn tamed<'p>(
    policy: &'p Policy,
    nearest: &'p mut Option<Values>,
    env: &mut impl CallEnv,
) -> Result<&'p Values, GiveUpReason> {
    let Some(Broken { violation, tamed }) = policy.broken() else {
        return Ok(&policy.values);
    };
    let (consequence, tamed) = match tamed {
        Some(tamed) => (Consequence::NearestValues, Ok(&*nearest.insert(tamed))),
        None => (Consequence::SingleAttempt, Err(GiveUpReason::InvalidPolicy)),
    };
    env.invalid_policy(&violation, consequence);
    tamed
}

/// Returns whether the attempt that has failed ran long enough to start the count anew.
#[inline(always)]
fn ran_well(values: &Values, env: &impl CallEnv) -> bool {
    values.reset_after.is_some_and(|enough| {
        let ran = env.attempt_time();
        ran.is_some_and(|ran| !is_shorter(ran, enough))
    })
}

/// Returns the least unit of the delay after an error by which the service asks for time.
#[inline(always)]
fn slowed(values: &Values, verdict: Verdict, env: &impl CallEnv) -> Option<Duration> {
    env.code_base().or_else(|| {
        let is_throttled = matches!(verdict, Verdict::Throttled(_));
        is_throttled.then_some(values.throttled_base)
    })
}

/// Returns the delay that the error asks for.
///
/// # Errors
///
/// Why an error of this verdict is not retried under this policy.
#[inline(always)]
fn retry_after(values: &Values, verdict: Verdict) -> Result<Option<Duration>, GiveUpReason> {
    let asked = match verdict {
        // It may have been executed, and must not be executed twice.
        Verdict::Transient | Verdict::TransientAfter(_) if !values.idempotent => {
            return Err(GiveUpReason::NotIdempotent);
        }
        Verdict::Throttled(delay) => delay,
        Verdict::TransientAfter(delay) => Some(delay),
        Verdict::Transient | Verdict::Refused => None,
        Verdict::RetryForbidden => return Err(GiveUpReason::RetryForbidden),
        _ => return Err(GiveUpReason::Permanent),
    };
    Ok(asked.filter(|delay| !delay.is_zero()))
}

/// Returns whether a delay ends before the deadline, which is `left` away, however late the timer is.
#[inline(always)]
pub(crate) fn ends_in_time(
    delay: Duration,
    left: Duration,
    slack: impl FnOnce() -> Duration,
) -> bool {
    // No timer runs for a delay of zero, so it cannot be late.
    let late = if delay.is_zero() {
        delay
    } else {
        delay.saturating_add(slack())
    };
    is_shorter(late, left)
}

/// Returns a delay that the service asked for, up to 10 % longer so that its clients do not return in step. It ends
/// before the deadline, which is `left` away, as `asked` does, however late the timer is.
#[cold]
fn spread(asked: Duration, left: Option<(Duration, Duration)>, random: u64) -> Duration {
    const NANOSECOND: Duration = Duration::from_nanos(1);

    let mut most = Nanos(Nanos::new(asked).0 * 0.1).duration();
    if let Some((left, slack)) = left {
        let latest = left.saturating_sub(slack).saturating_sub(NANOSECOND);
        most = most.min(latest.saturating_sub(asked));
    }
    let more = Nanos(Nanos::new(most).0 * unit(random));
    asked.saturating_add(more.duration())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of what it counts: whether anything, what was retried after an error, and what of that was paid for.
    #[test]
    fn what_a_call_counts() {
        let says = |call: &Call| {
            (
                call.failures(),
                call.retries(),
                call.paid(),
                call.has_paid_for_all(),
            )
        };
        let mut call = Call::new();
        assert!(call.is_new() && call.is_plain());
        assert_eq!(says(&call), (0, 0, 0, false));
        call.count_failure();
        assert!(!call.is_new() && call.is_plain());
        assert_eq!(says(&call), (1, 1, 1, true));
        call.count_failure();
        call.asks_again();
        assert!(!call.is_new() && !call.is_plain());
        assert_eq!(says(&call), (2, 1, 1, false));
        call.count_failure();
        call.pays_nothing();
        assert_eq!(says(&call), (3, 2, 1, false));
        call.count_failure();
        assert_eq!(says(&call), (4, 3, 2, false));
    }

    /// A timer that is as late as it may be still ends before the deadline.
    #[test]
    fn the_spread_ends_in_time() {
        let (asked, slack) = (Duration::from_millis(100), Duration::from_nanos(999_999));
        for left in [102, 105, 109, 112].map(Duration::from_millis) {
            let delay = spread(asked, Some((left, slack)), u64::MAX);
            assert!(delay > asked && ends_in_time(delay, left, || slack));
        }
        let all = spread(asked, None, u64::MAX);
        assert!(all > Duration::from_micros(109_999) && all <= Duration::from_millis(110));
        let far = (Duration::from_millis(112), slack);
        assert_eq!(spread(asked, Some(far), u64::MAX), all);
    }
}
