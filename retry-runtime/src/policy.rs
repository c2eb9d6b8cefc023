//! A policy: its values, the budget that its calls share, and whether it has been checked.

use core::fmt;
use core::time::Duration;
#[cfg(feature = "std")]
use std::cell::RefCell;

use reattempt_policy::{
    Backoff, Codes, Course, DefaultBudget, Explanation, HARMLESS, Jitter, KeyValue, Nested,
    Priority, Telemetry, UNLIMITED, Values, WorstCase,
};

#[cfg(feature = "std")]
use crate::budget::Budget;
use crate::verdict::Verdict;
use reattempt_policy::rules::{Broken, Key, Keys, Violation};

/// A retry policy: the number of attempts, the delays between them, and their limits.
///
/// Every key of the attribute that is a value has a method of the same name. All methods are
/// `const`, so a policy can be a `const` or a `static` and be shared by name:
/// `#[retry(policy = STORAGE, on(_))]`.
///
/// # Default
///
/// 3 attempts; delays of up to 100 ms, 200 ms, 400 ms, ..., at most 20 s, each drawn from 0 to that
/// (full jitter); no deadline.
///
/// # Examples
///
/// ```
/// use reattempt::{Jitter, Policy};
/// use std::time::Duration;
///
/// const STORAGE: Policy = Policy::new()
///     .max(5)
///     .base(Duration::from_millis(50))
///     .jitter(Jitter::Ratio(0.2));
///
/// assert_eq!(STORAGE.delay(0), Duration::from_millis(50));
/// assert_eq!(STORAGE.delay(3), Duration::from_millis(400));
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use = "a policy does nothing until something runs under it"]
pub struct Policy {
    pub(crate) values: Values,
    pub(crate) budget: Option<&'static Budget>,
    trust: Trust,
}

/// Without `std` no policy has one.
#[cfg(not(feature = "std"))]
#[derive(Debug)]
pub(crate) enum Budget {}

/// Whether a policy is known to keep to the unsafe rules.
#[derive(Clone, Copy)]
enum Trust {
    /// It was not asked, and this asks it: a program without such a policy does not contain the rules.
    Unknown(fn(&Values) -> Option<Broken>),
    /// It does, as it is.
    Built,
    /// It does, or it is followed all the same, whatever values are set.
    Always,
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&!matches!(self, Self::Unknown(_)), f)
    }
}

impl Policy {
    /// Returns the default policy.
    pub const fn new() -> Self {
        Self {
            values: Values::new(),
            budget: None,
            trust: Trust::Built,
        }
    }

    /// Returns the preset for calls that a user waits for: few, quick retries, then an error.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt::Policy;
    /// assert_eq!(
    ///     Policy::interactive().explain().to_string(),
    ///     "Up to 3 attempts; delays of up to 50 ms, 100 ms, each drawn from 0 to that; \
    ///      at most 150 ms of waiting; 2 s for all attempts and delays together."
    /// );
    /// ```
    pub const fn interactive() -> Self {
        Self::new()
            .max(3)
            .base(Duration::from_millis(50))
            .cap(Duration::from_millis(500))
            .deadline(Duration::from_secs(2))
    }

    /// Returns the preset for background work: more attempts, long delays.
    ///
    /// It has no deadline, because only the work knows how long it may take; `timeout` ends attempts that hang.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt::Policy;
    /// assert_eq!(
    ///     Policy::background().explain().to_string(),
    ///     "Up to 10 attempts; delays of up to 1 s, 2 s, 4 s, 8 s, 16 s, 32 s, ... 4 m 16 s, \
    ///      each drawn from half of that to that; at most 8 m 31 s of waiting."
    /// );
    /// ```
    pub const fn background() -> Self {
        Self::new()
            .max(10)
            .base(Duration::from_secs(1))
            .cap(Duration::from_secs(5 * 60))
            .jitter(Jitter::Equal)
    }

    /// For the steps of a transaction of which all others are undone when one fails: so many attempts, over so long a
    /// time, that a step almost always succeeds in the end.
    ///
    /// It has no deadline. A step that must end by a time sets one; a durable step has its `complete_by`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt::Policy;
    /// assert_eq!(
    ///     Policy::transaction_step().explain().to_string(),
    ///     "Up to 12 attempts; delays of up to 200 ms, 400 ms, 800 ms, 1.6 s, 3.2 s, 6.4 s, ... 30 s, \
    ///      each drawn from half of that to that; at most 2 m 21 s of waiting."
    /// );
    /// ```
    pub const fn transaction_step() -> Self {
        Self::new()
            .max(12)
            .base(Duration::from_millis(200))
            .cap(Duration::from_secs(30))
            .jitter(Jitter::Equal)
    }

    /// Sets the number of attempts in total, the first call included.
    ///
    /// # Units and ranges
    ///
    /// 1 means no retry. The rules refuse 0, and a call treats it as 1.
    ///
    /// # Default
    ///
    /// 3.
    #[doc(alias("max_attempts", "max_retries", "retries", "with_max_times"))]
    pub const fn max(self, attempts: u32) -> Self {
        self.with(Key::Max, self.values.max(attempts))
    }

    /// Removes the limit of attempts: `max = "unlimited"`.
    #[doc(alias("infinite", "without_max_times"))]
    pub const fn unlimited(self) -> Self {
        self.max(UNLIMITED)
    }

    /// Sets the shape of the delays.
    ///
    /// # Default
    ///
    /// [`Backoff::Exp`].
    #[doc(alias("exponential", "wait"))]
    pub const fn backoff(self, shape: Backoff) -> Self {
        self.with(Key::Backoff, self.values.backoff(shape))
    }

    /// Sets the unit of the shape.
    ///
    /// # Default
    ///
    /// 100 ms.
    #[doc(alias("delay", "initial_interval", "min_delay", "with_min_delay"))]
    pub const fn base(self, base: Duration) -> Self {
        self.with(Key::Base, self.values.base(base))
    }

    /// Sets the delay before the first retry.
    ///
    /// # Default
    ///
    /// `base`.
    pub const fn first(self, first: Duration) -> Self {
        self.with(Key::First, self.values.first(first))
    }

    /// Sets the growth of [`Backoff::Exp`] from one delay to the next.
    ///
    /// # Units and ranges
    ///
    /// Finite and above 1.
    ///
    /// # Default
    ///
    /// 2.0.
    #[doc(alias("multiplier", "with_factor"))]
    pub const fn factor(self, factor: f64) -> Self {
        self.with(Key::Factor, self.values.factor(factor))
    }

    /// Sets the longest computed delay, jitter included.
    ///
    /// # Default
    ///
    /// 20 s.
    #[doc(alias("max_delay", "max_interval", "with_max_delay"))]
    pub const fn cap(self, cap: Duration) -> Self {
        self.with(Key::Cap, self.values.cap(cap))
    }

    /// Sets how each delay is spread at random.
    ///
    /// # Default
    ///
    /// [`Jitter::Full`].
    #[doc(alias("with_jitter"))]
    pub const fn jitter(self, jitter: Jitter) -> Self {
        self.with(Key::Jitter, self.values.jitter(jitter))
    }

    /// Sets whether the first retry is immediate, unless the service says that it is overloaded; the other delays keep
    /// their numbers.
    ///
    /// # Default
    ///
    /// Off.
    pub const fn fast_first(self, on: bool) -> Self {
        self.with(Key::FastFirst, self.values.fast_first(on))
    }

    /// Sets the least unit of the shape after an error that says that the service is overloaded, and not after how long it
    /// may be called again ([`Verdict::Throttled`] without a delay): `base` and `first` are at least this long then.
    ///
    /// A shape of your own has no unit, `cap` holds, and `fast_first` does not: the service has asked for time.
    ///
    /// [`Verdict::Throttled`]: crate::Verdict::Throttled
    ///
    /// # Units and ranges
    ///
    /// One that is set is not above `cap`. A value below `base` and `first` changes nothing.
    ///
    /// # Default
    ///
    /// 1 s.
    ///
    /// # Source
    ///
    /// The standard mode of the AWS SDKs: 50 ms after a transient error, 1 s after one of throttling.
    pub const fn throttled_base(self, least: Duration) -> Self {
        self.with(Key::ThrottledBase, self.values.throttled_base(least))
    }

    /// Starts the count and the delays anew after an attempt that ran at least this long before it
    /// failed: for calls that live for long, such as a session that reconnects.
    ///
    /// That attempt counts as the first of `max`, and the delay after it is the first one, also with `fast_first`,
    /// which applies once in a call. The deadline and the budget go on. Each attempt reads the clock when it begins.
    ///
    /// # Units and ranges
    ///
    /// At least 10 s, and not below `cap`. The number of attempts is then unlimited.
    ///
    /// # Default
    ///
    /// None: a call counts all its attempts.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{Budget, Policy};
    /// use std::time::Duration;
    ///
    /// static RECONNECTS: Budget = Budget::per_success(0.1);
    /// const SESSION: Policy = Policy::new()
    ///     .max(10)
    ///     .reset_after(Duration::from_secs(60))
    ///     .budget(&RECONNECTS)
    ///     .checked();
    ///
    /// assert_eq!(SESSION.worst_case().attempts(), None);
    /// ```
    pub const fn reset_after(self, healthy: Duration) -> Self {
        self.with(Key::ResetAfter, self.values.reset_after(healthy))
    }

    /// Limits all attempts and delays together.
    ///
    /// If the next delay would run past the deadline, the call ends at once. With a deadline, the
    /// call reads the clock when it starts.
    ///
    /// # Default
    ///
    /// None.
    #[doc(alias("max_elapsed_time", "total_timeout", "with_total_delay"))]
    pub const fn deadline(self, deadline: Duration) -> Self {
        self.with(Key::Deadline, self.values.deadline(deadline))
    }

    /// Limits one attempt, in async functions.
    ///
    /// The call drops an attempt that takes longer, and retries it as a failure that may have run.
    /// Nothing can interrupt a blocked thread: in sync functions the limit has no effect, and a
    /// constant policy with it does not compile there.
    ///
    /// # Units and ranges
    ///
    /// At least 1 ms, below `deadline`. It counts from the start of the attempt, and shrinks with
    /// the deadline.
    ///
    /// # Default
    ///
    /// None.
    #[doc(alias("attempt_timeout"))]
    pub const fn timeout(self, timeout: Duration) -> Self {
        self.with(Key::Timeout, self.values.timeout(timeout))
    }

    /// Sets the longest delay that a call waits for when the error asks for one
    /// ([`Verdict::Throttled`]). A longer one ends the call at once.
    ///
    /// [`Verdict::Throttled`]: crate::Verdict::Throttled
    ///
    /// # Default
    ///
    /// 1 minute.
    pub const fn max_retry_after(self, max_retry_after: Duration) -> Self {
        self.with(
            Key::MaxRetryAfter,
            self.values.max_retry_after(max_retry_after),
        )
    }

    /// Sets what errors of a status or a code mean, whatever their type says, and how long the delays after them are at least.
    ///
    /// An error answers which codes it has: [`Classify::has_code`](crate::Classify::has_code). Those of the client libraries
    /// and of `http` do. An error that is not an answer of the service has `connection` or `timeout`. A `RetryLayer` asks it
    /// about what it calls a failure; `RetryLayer::statuses` says what is one.
    ///
    /// # Default
    ///
    /// [`Codes::NONE`]: `on`, or the type of the error, says what an error means.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::Policy;
    /// use reattempt::policy::{Codes, OnCode};
    /// use std::time::Duration;
    ///
    /// const SHOP: Codes = Codes::new(&[
    ///     OnCode::throttled("503").base(Duration::from_secs(5)),
    ///     OnCode::transient("404"),
    /// ]);
    /// const POLICY: Policy = Policy::new().codes(SHOP).checked();
    /// ```
    pub const fn codes(self, codes: Codes) -> Self {
        self.with(Key::Codes, self.values.codes(codes))
    }

    /// Sets whether the operation may run twice.
    ///
    /// With `false`, a call retries only failures that prove that nothing ran:
    /// [`Verdict::Refused`], and [`Verdict::Throttled`], by which a service turns a request away.
    ///
    /// [`Verdict::Refused`]: crate::Verdict::Refused
    /// [`Verdict::Throttled`]: crate::Verdict::Throttled
    ///
    /// # Default
    ///
    /// `true`.
    pub const fn idempotent(self, idempotent: bool) -> Self {
        self.with(Key::Idempotent, self.values.idempotent(idempotent))
    }

    /// Sets the attempts of a call inside a retry of an outer call.
    ///
    /// # Default
    ///
    /// [`Nested::Collapse`].
    pub const fn nested(self, nested: Nested) -> Self {
        self.with(Key::Nested, self.values.nested(nested))
    }

    /// Sets how much its calls matter beside others that share a budget, a bulkhead or a throttle: these refuse calls of
    /// a low priority first. All that such a call calls has a low priority, too.
    ///
    /// # Default
    ///
    /// [`Priority::Normal`].
    pub const fn priority(self, priority: Priority) -> Self {
        self.with(Key::Priority, self.values.priority(priority))
    }

    /// Sets which events of the calls are reported, and at which levels.
    ///
    /// # Default
    ///
    /// [`Telemetry::new`].
    pub const fn telemetry(self, telemetry: Telemetry) -> Self {
        self.with(Key::Telemetry, self.values.telemetry(telemetry))
    }

    /// Sets the budget that limits the retries of all calls that share it. An empty budget ends a
    /// call.
    ///
    /// # Default
    ///
    /// The calls of each `#[retry]` function, `retry_block!` and `RetryLayer` share one of its own, as
    /// [`Budget::refunding`] of 4 tokens, or of `max` - 1 where that is more. Calls without a limit to their attempts, with
    /// [`reset_after`](Self::reset_after) or a strategy have none. [`without_budget`](Self::without_budget) turns it off.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{Budget, Policy};
    ///
    /// static DATABASE: Budget = Budget::per_success(0.1);
    /// const STORAGE: Policy = Policy::new().max(5).budget(&DATABASE);
    /// # assert!(STORAGE.is_budgeted());
    /// ```
    #[cfg(feature = "std")]
    pub const fn budget(mut self, budget: &'static Budget) -> Self {
        self.budget = Some(budget);
        self.budgeted()
    }

    /// Lets calls retry without a budget, also without the one that an operation has by default: `budget = "none"`.
    ///
    /// For operations whose retries cannot overload anything: everything that retries without a budget makes a fault of
    /// a busy service last.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::Policy;
    ///
    /// const LOCAL: Policy = Policy::new().max(10).without_budget();
    /// # assert!(!LOCAL.is_budgeted());
    /// ```
    pub const fn without_budget(mut self) -> Self {
        self.budget = None;
        self.values = self.values.without_budget();
        // Some rules permit more to a policy with a budget.
        self.distrusted(Keys::NONE.with(Key::Budget))
    }

    /// Returns this policy with every key that is set in `layer`, as a file overrides the policy of
    /// the code.
    ///
    /// A `base` without a `first` sets the first delay as well, unless one of the two has a
    /// `first`.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::Policy;
    /// use std::time::Duration;
    ///
    /// const STORAGE: Policy = Policy::new().max(5).factor(3.0);
    /// let slower = STORAGE.merged_with(&Policy::new().base(Duration::from_secs(1)));
    ///
    /// assert_eq!(slower.attempts(), Some(5));
    /// assert_eq!(slower.delay(1), Duration::from_secs(3));
    /// ```
    pub const fn merged_with(mut self, layer: &Self) -> Self {
        self.values = self.values.merged_with(&layer.values);
        if layer.is_budgeted() {
            self.budget = layer.budget;
        }
        if matches!(layer.values.default_budget, DefaultBudget::None) {
            self = self.without_budget();
        }
        self.distrusted(layer.values.given)
    }

    /// Returns it with these values, of which that of `key` is another.
    const fn with(mut self, key: Key, values: Values) -> Self {
        self.values = values;
        self.distrusted(Keys::NONE.with(key))
    }

    /// Returns this policy with `key` set; `None` for a value of another kind.
    #[doc(hidden)]
    pub const fn assign(self, key: Key, value: KeyValue) -> Option<Self> {
        match (key, self.values.assign(key, value)) {
            (_, None) => None,
            // It breaks no unsafe rule.
            (Key::Budget, Some(_)) => Some(self.budgeted()),
            (_, Some(values)) => Some(self.with(key, values)),
        }
    }

    /// Takes its mark away where one of these keys may break an unsafe rule.
    const fn distrusted(mut self, keys: Keys) -> Self {
        if !keys.is_within(HARMLESS) && matches!(self.trust, Trust::Built) {
            self.trust = Trust::Unknown(known);
        }
        self
    }

    /// Returns whether it has a table of codes.
    #[inline]
    pub(crate) const fn has_codes(&self) -> bool {
        self.values.has(Key::Codes)
    }

    /// Returns whether a call need not check it.
    #[inline(always)]
    pub(crate) const fn is_trusted(&self) -> bool {
        !matches!(self.trust, Trust::Unknown(_))
    }

    /// Returns this policy as one that no call checks, also with further values: for values that
    /// are checked elsewhere, and for simulations.
    #[doc(hidden)]
    pub const fn trusted(mut self) -> Self {
        self.trust = Trust::Always;
        self
    }

    /// Returns the default policy of a constant that the macro checks.
    #[doc(hidden)]
    pub const fn constant() -> Self {
        Self::new().trusted()
    }

    /// Returns this policy for calls that each bring their own budget.
    #[doc(hidden)]
    pub const fn budgeted(mut self) -> Self {
        // It breaks no unsafe rule, so it takes no mark away: a budget permits more.
        self.values = self.values.budgeted();
        self
    }

    /// Returns this policy for use beside a strategy: without its shape, and with `max` only if it
    /// is set.
    #[doc(hidden)]
    pub const fn decided(mut self) -> Self {
        self.values = self.values.decided();
        self
    }

    /// Returns whether a budget that it names limits the retries.
    pub const fn is_budgeted(&self) -> bool {
        self.values.is_budgeted()
    }

    /// Returns whether an operation under it has a budget by default: it names none, and its attempts come to an end.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn has_default_budget(&self) -> bool {
        self.values.has_default_budget()
    }

    /// Returns the number of attempts in total; `None` without a limit.
    pub const fn attempts(&self) -> Option<u32> {
        self.values.attempts()
    }

    /// Returns whether the policy has a `deadline` or a `timeout`.
    #[doc(hidden)]
    pub const fn has_limit(&self) -> bool {
        self.values.deadline.is_some() || self.values.timeout.is_some()
    }

    /// Returns how many starts of an attempt a call keeps, to know how long it ran: one, with
    /// `reset_after`.
    #[doc(hidden)]
    pub const fn kept_starts(&self) -> usize {
        match self.values.reset_after {
            Some(_) => 1,
            None => 0,
        }
    }

    /// Returns the policy of these values, which were not checked.
    #[doc(hidden)]
    pub const fn of(values: Values) -> Self {
        Self {
            values,
            trust: Trust::Unknown(known),
            ..Self::new()
        }
    }

    /// Returns its values, for code that explains or simulates a policy.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn values(&self) -> &Values {
        &self.values
    }

    /// Returns the budget of the policy, for code that simulates it.
    #[doc(hidden)]
    #[cfg(feature = "std")]
    pub const fn shared_budget(&self) -> Option<&'static Budget> {
        self.budget
    }

    /// Returns whether the operation may run twice.
    pub const fn is_idempotent(&self) -> bool {
        self.values.idempotent
    }

    /// Returns what a call under this policy does inside a retry of an outer call.
    pub const fn nesting(&self) -> Nested {
        self.values.nested
    }

    /// Returns the shape of the delays.
    pub const fn shape(&self) -> Backoff {
        self.values.backoff
    }

    /// Returns whether a call has nothing to do with it before anything fails: one load and a test.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn starts_plain(&self) -> bool {
        self.values.starts_plain()
    }

    /// Returns it as the policy of a file: a file can forbid that an operation runs twice, but not permit it. Where the code
    /// says nothing, the request decides.
    #[doc(hidden)]
    pub const fn of_file(mut self) -> Self {
        if self.values.idempotent {
            self.values.given = self.values.given.without(Key::Idempotent);
        }
        self
    }

    /// Returns whether the count and chance alone decide what follows an error of this verdict.
    #[inline(always)]
    pub(crate) const fn is_plain(&self, verdict: Verdict) -> bool {
        let is_retried = match verdict {
            Verdict::Transient => self.values.idempotent,
            Verdict::Refused => true,
            _ => false,
        };
        is_retried && self.is_trusted() && !matches!(self.values.course, Course::Other)
    }

    /// Returns what a call keeps to in place of this policy, if it breaks an unsafe rule.
    pub(crate) fn broken(&self) -> Option<Broken> {
        let Trust::Unknown(broken) = self.trust else {
            return None;
        };
        broken(&self.values).map(|broken| Broken {
            // A shape cannot be compared, and no rule changes it.
            tamed: (broken.tamed).map(|tamed| Values {
                backoff: self.values.backoff,
                ..tamed
            }),
            ..broken
        })
    }

    /// Returns every rule this policy breaks, in the order of the rules.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::Policy;
    ///
    /// let policy = Policy::new().max(0).factor(f64::NAN);
    /// let ids: Vec<_> = policy.violations().map(|v| v.rule().as_str()).collect();
    /// assert_eq!(ids, ["R1", "R4"]);
    /// ```
    pub fn violations(&self) -> impl Iterator<Item = Violation> {
        self.values.violations()
    }

    /// Returns the first rule this policy breaks.
    pub const fn violation(&self) -> Option<Violation> {
        self.values.known_violation(&[])
    }

    /// Returns this policy, marked as one that keeps to the rules: a call under it does not check them again. For policies
    /// made of values that only the running program knows.
    ///
    /// Rules about policies that are only [pointless](reattempt_policy::rules::Severity::Pointless) are not among them; [`validate`](Self::validate)
    /// returns those. A method that sets a value takes the mark away, but for a budget.
    ///
    /// # Errors
    ///
    /// The first unsafe rule that it breaks.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::Policy;
    ///
    /// let policy = Policy::new().max(4).build()?;
    /// let refused = Policy::new().max(0).build().unwrap_err();
    ///
    /// assert_eq!(policy.attempts(), Some(4));
    /// assert_eq!(refused.rule().as_str(), "R1");
    /// # Ok::<(), reattempt::policy::rules::Violation>(())
    /// ```
    #[expect(
        clippy::result_large_err,
        reason = "the message has its numbers in it; a policy is checked once"
    )]
    pub const fn build(mut self) -> Result<Self, Violation> {
        match self.values.unsafe_violation() {
            None => {
                self.trust = Trust::Built;
                Ok(self)
            }
            Some(violation) => Err(violation),
        }
    }

    /// Returns the [pointless](reattempt_policy::rules::Severity::Pointless) rules that this policy breaks: warnings. A call runs under it as it is
    /// written.
    ///
    /// # Errors
    ///
    /// The first unsafe rule that it breaks.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::Policy;
    ///
    /// let policy = Policy::new().max(1).factor(3.0);
    /// let warnings: Vec<_> = policy.validate()?.map(|warning| warning.rule().as_str()).collect();
    ///
    /// assert_eq!(warnings, ["X5"]);
    /// # Ok::<(), reattempt::policy::rules::Violation>(())
    /// ```
    #[expect(
        clippy::result_large_err,
        reason = "the message has its numbers in it; a policy is checked once"
    )]
    pub fn validate(&self) -> Result<impl Iterator<Item = Violation>, Violation> {
        match self.values.unsafe_violation() {
            None => Ok(self.violations()),
            Some(violation) => Err(violation),
        }
    }

    /// Returns this policy, or a compile error where it is evaluated as a constant.
    ///
    /// # Panics
    ///
    /// With the words of the first rule that it breaks, and its address. For run-time values
    /// there is [`build`](Self::build).
    ///
    /// # Examples
    ///
    /// ```compile_fail
    /// # use reattempt::Policy;
    /// const POLICY: Policy = Policy::new().max(0).checked();
    /// ```
    #[track_caller]
    pub const fn checked(mut self) -> Self {
        if let Some(violation) = self.violation() {
            violation.refuse();
        }
        self.trust = Trust::Built;
        self
    }

    /// Returns the delay before retry number `retry` (from 0), capped, before jitter.
    ///
    /// Decorrelated delays depend on chance alone, and those of a custom shape
    /// are known when it is asked: of these it is the longest possible.
    ///
    /// # Units and ranges
    ///
    /// Saturates; never panics, for any `retry`.
    pub const fn delay(&self, retry: u32) -> Duration {
        self.values.delay(retry)
    }

    /// Returns the shortest and the longest delay that retry number `retry` can have.
    ///
    /// Of a custom shape that is nothing and the cap.
    pub const fn delay_bounds(&self, retry: u32) -> (Duration, Duration) {
        self.values.delay_bounds(retry)
    }

    /// Returns the delay before retry number `retry`, jittered with 64 random bits, which are asked
    /// for only when they are needed.
    ///
    /// `previous` is the delay before this one; only decorrelated delays look
    /// at it, and start from `base` when it is `None`.
    ///
    /// # Units and ranges
    ///
    /// At most `cap`, for every input.
    #[inline(always)]
    pub fn sample_delay(
        &self,
        retry: u32,
        previous: Option<Duration>,
        random: impl FnOnce() -> u64,
    ) -> Duration {
        self.values.sample_delay(retry, previous, random)
    }

    /// Returns the most that one call under this policy can cost.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::Policy;
    /// use std::time::Duration;
    ///
    /// const POLICY: Policy = Policy::new().max(4);
    /// const _: () = assert!(POLICY.worst_case().total_delay().unwrap().as_secs() < 1);
    ///
    /// let worst = POLICY.worst_case();
    /// assert_eq!(worst.attempts(), Some(4));
    /// assert_eq!(worst.total_delay(), Some(Duration::from_millis(700)));
    /// ```
    pub const fn worst_case(&self) -> WorstCase {
        self.values.worst_case()
    }

    /// What this policy means, in words.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{Jitter, Policy};
    ///
    /// let policy = Policy::new().max(5).jitter(Jitter::Ratio(0.2));
    /// assert_eq!(
    ///     policy.explain().to_string(),
    ///     "Up to 5 attempts; delays of about 100 ms, 200 ms, 400 ms, 800 ms, \
    ///      each +/-20 %; at most 1.8 s of waiting."
    /// );
    /// ```
    pub const fn explain(&self) -> Explanation<'_> {
        self.values.explain()
    }

    /// Returns whether the user set `key`, for the rules about several values.
    #[doc(hidden)]
    pub const fn has(&self, key: Key) -> bool {
        self.values.has(key)
    }
}

/// For what is given a policy, or something that holds one.
impl AsRef<Self> for Policy {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads a table of keys, as a policy file has it: for settings of a service that have a policy in them. The format describes
/// itself, such as TOML, JSON, YAML, or any provider of `figment` or `config`.
///
/// # Errors
///
/// A key or a value that is no good, or the first [rule](crate::rules) that the policy breaks; a budget, which settings cannot
/// have but for `budget = "none"`.
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), serde_json::Error> {
/// #[derive(serde::Deserialize)]
/// struct Settings {
///     retry: reattempt::Policy,
/// }
///
/// let settings: Settings = serde_json::from_str(r#"{ "retry": { "max": 5, "base": "50ms" } }"#)?;
/// assert_eq!(settings.retry.attempts(), Some(5));
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Policy {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // What breaks a rule is an error there.
        let checked = |values| Self {
            trust: Trust::Built,
            ..Self::of(values)
        };
        Values::deserialize(deserializer).map(checked)
    }
}

/// Writes the keys that were set, as a policy file has them.
///
/// # Errors
///
/// A budget, or a function as its backoff, which have no written form.
#[cfg(feature = "serde")]
impl serde::Serialize for Policy {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.values.serialize(serializer)
    }
}

#[cfg(feature = "std")]
std::thread_local! {
    // A check is about 1,200 instructions, and a policy of the running program is checked after
    // each failure, since its values may have changed.
    /// The values that this thread has checked last, and what they break: most often they are the next ones, too.
    static LAST: RefCell<Option<(Values, Option<Broken>)>> = const { RefCell::new(None) };
}

#[cfg(feature = "std")]
fn known(values: &Values) -> Option<Broken> {
    let known = LAST.try_with(|last| match last.try_borrow().as_deref() {
        Ok(Some((checked, broken))) if checked.is_same(values) => Some(broken.clone()),
        _ => None,
    });
    if let Ok(Some(broken)) = known {
        return broken;
    }
    let broken = values.broken();
    let _kept = LAST.try_with(|last| {
        if let Ok(mut last) = last.try_borrow_mut() {
            *last = Some((*values, broken.clone()));
        }
    });
    broken
}

#[cfg(not(feature = "std"))]
fn known(values: &Values) -> Option<Broken> {
    values.broken()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The presets in figures, and what a policy asks its values.
    #[test]
    fn what_a_policy_says_of_itself() {
        let (millis, seconds) = (Duration::from_millis, Duration::from_secs);
        let background = Policy::background();
        let delays = [0, 1, 8, 9, 20].map(|retry| background.delay(retry));
        assert_eq!(delays, [1, 2, 256, 300, 300].map(seconds));
        let interactive = Policy::interactive();
        let delays = [0, 1, 3, 4].map(|retry| interactive.delay(retry));
        assert_eq!(delays, [50, 100, 400, 500].map(millis));
        let worst = interactive.worst_case();
        assert_eq!(
            (worst.attempts(), worst.total_time()),
            (Some(3), Some(seconds(2)))
        );
        assert_eq!(background.worst_case().attempts(), Some(10));
        for (random, delay) in [(0, 500), (u64::MAX / 2 + 1, 750)] {
            assert_eq!(background.sample_delay(0, None, || random), millis(delay));
        }
        assert_eq!(
            (
                background.kept_starts(),
                background.reset_after(seconds(60)).kept_starts()
            ),
            (0, 1)
        );
        assert_eq!(
            (background.has_limit(), interactive.has_limit()),
            (false, true)
        );
        assert!(background.timeout(seconds(1)).has_limit());
    }

    /// What has been checked is not checked again, and what is like it but for one value is.
    #[test]
    fn a_value_that_changes_is_checked() {
        let sound = Policy::of(Values::new());
        for broken in [
            sound.max(0),
            sound.factor(f64::NAN),
            sound.base(Duration::ZERO).max(21),
            sound.deadline(Duration::ZERO),
            sound.timeout(Duration::ZERO),
            sound.backoff(Backoff::None).max(4),
            sound.reset_after(Duration::ZERO),
            sound.max_retry_after(Duration::from_secs(90_000)),
        ] {
            assert!(sound.broken().is_none());
            let is_kept = LAST.with_borrow(|last| match last {
                Some((values, None)) => values.is_same(&sound.values),
                _ => false,
            });
            assert!(is_kept);
            assert!(broken.broken().is_some(), "{broken:?}");
            assert!(broken.broken().is_some(), "{broken:?}");
        }
    }

    /// Values of which nothing is known are checked, and are its own.
    #[test]
    fn values_from_elsewhere_are_checked() {
        assert_eq!(Policy::of(Values::new().max(7)).attempts(), Some(7));
        let elsewhere = Policy::of(Values::new().max(0));
        assert!(!elsewhere.is_trusted());
        assert!(elsewhere.broken().is_some());
    }

    /// What a call keeps to has the shape of its own policy.
    #[test]
    fn what_is_known_of_one_policy_does_not_become_another() {
        fn one(_: u32) -> Duration {
            Duration::from_secs(1)
        }
        fn two(_: u32) -> Duration {
            Duration::from_secs(2)
        }
        let without_cap = Policy::new().cap(Duration::ZERO);
        for (shape, delay) in [(Backoff::Custom(&one), 1), (Backoff::Custom(&two), 2)] {
            let broken = without_cap.backoff(shape).broken();
            match broken.and_then(|broken| broken.tamed).map(|it| it.backoff) {
                Some(Backoff::Custom(kept)) => assert_eq!(kept.delay(0).as_secs(), delay),
                other => panic!("{other:?}"),
            }
        }
    }

    /// A value takes the mark of a policy away that was built; a budget does not.
    #[test]
    fn what_is_built_is_trusted_until_a_value_is_set() {
        static SHARED: Budget = Budget::per_success(0.1);
        let built = Policy::new().build().expect("the default is accepted");
        assert!(built.is_trusted());
        assert!(!built.max(4).is_trusted());
        assert!(!built.without_budget().is_trusted());
        assert!(!built.base(Duration::from_secs(1)).is_trusted());
        assert!(built.budget(&SHARED).is_trusted());
    }
}
