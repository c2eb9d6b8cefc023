//! A policy: how often, how long between, until when. Plain data, checked by
//! [`rules`](crate::rules), driven by [`Call`](crate::Call).
#![warn(clippy::arithmetic_side_effects)]

use core::panic::{RefUnwindSafe, UnwindSafe};
use core::time::Duration;

use crate::backoff::Backoff;
#[cfg(feature = "std")]
use crate::budget::Budget;
use crate::jitter::Jitter;
use reattempt_observe::Telemetry;
use reattempt_rules::duration::Nanos;
use reattempt_rules::{Key, Keys};

/// The keys that no unsafe rule reads: a policy that is trusted stays trusted with another value of them.
pub(crate) const HARMLESS: Keys = Keys::of(&[Key::Idempotent, Key::Nested, Key::Telemetry]);

/// The keys that may concern a call before anything fails.
const FROM_START: Keys = Keys::of(&[
    Key::Timeout,
    Key::Deadline,
    Key::ResetAfter,
    Key::Budget,
    Key::Telemetry,
]);

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
    pub(crate) max: u32,
    pub(crate) backoff: Backoff,
    pub(crate) base: Nanos,
    /// `base`, unless the user gave another.
    pub(crate) first: Nanos,
    pub(crate) factor: f64,
    pub(crate) cap: Nanos,
    pub(crate) jitter: Jitter,
    pub(crate) fast_first: bool,
    pub(crate) throttled_base: Duration,
    pub(crate) reset_after: Option<Duration>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_retry_after: Duration,
    pub(crate) idempotent: bool,
    pub(crate) nested: Nested,
    pub(crate) telemetry: Telemetry,
    /// Whether a strategy decides how often and how long to wait.
    pub(crate) decided: bool,
    pub(crate) budget: Option<&'static Budget>,
    pub(crate) default_budget: DefaultBudget,
    pub(crate) given: Keys,
    pub(crate) trust: Trust,
    /// Found anew with each key that is set, so that a failure asks for one byte.
    pub(crate) course: Course,
}

/// A backoff of one's own is asked anew for each delay, and leaves nothing half done in a policy.
impl RefUnwindSafe for Policy {}
impl UnwindSafe for Policy {}

/// Without `std` no policy has one.
#[cfg(not(feature = "std"))]
#[derive(Debug)]
pub(crate) enum Budget {}

/// What limits the retries of an operation whose policy names no budget.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DefaultBudget {
    /// One that its calls share.
    Shared,
    /// Nothing: `budget = "none"`.
    None,
}

/// Whether a policy is known to keep to the unsafe rules.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Trust {
    /// Nobody has asked.
    Unknown,
    /// It does, as it is.
    Built,
    /// It does, or it is followed all the same, whatever values are set.
    Always,
}

/// What its delays depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Course {
    /// Not on the count and chance alone.
    Other,
    /// On these, as the shape says.
    Shaped,
    /// On these: they double, with full jitter, and are whole numbers.
    Doubled,
}

/// The attempts of a call inside a retry of an outer call, that is in its second or a later
/// attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Nested {
    /// It makes one attempt and leaves the decision to the outer call
    /// ([`GiveUpReason::Nested`](crate::GiveUpReason::Nested)), if it has used up its retries
    /// there: k layers of n attempts make n + (k - 1)(n - 1) calls of the innermost function, not
    /// n^k.
    #[default]
    Collapse,
    /// It makes all its attempts, each time.
    Multiply,
}

/// The value of a key, as a file or a literal has it.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum KeyValue {
    /// `u32::MAX` is no limit.
    Attempts(u32),
    Backoff(Backoff),
    Time(Duration),
    Factor(f64),
    Jitter(Jitter),
    Flag(bool),
    Nested(Nested),
    /// A budget that only the caller has.
    Budget,
    Telemetry(Telemetry),
}

macro_rules! pattern {
    (Budget $value:ident) => {
        KeyValue::Budget
    };
    ($kind:ident $value:ident) => {
        KeyValue::$kind($value)
    };
}

#[cfg(feature = "std")]
macro_rules! same {
    ($policy:ident, $other:ident, $name:ident, Backoff) => {
        core::mem::discriminant(&$policy.$name) == core::mem::discriminant(&$other.$name)
    };
    ($policy:ident, $other:ident, $name:ident, Budget) => {
        $policy.$name.is_some() == $other.$name.is_some()
    };
    ($policy:ident, $other:ident, $name:ident, Factor) => {
        $policy.$name.to_bits() == $other.$name.to_bits()
    };
    ($policy:ident, $other:ident, $name:ident, $kind:ident) => {
        $policy.$name == $other.$name
    };
}

macro_rules! set {
    ($policy:ident, $name:ident, Budget, $value:ident) => {
        $policy.budgeted()
    };
    ($policy:ident, $name:ident, $kind:ident, $value:ident) => {
        $policy.$name($value)
    };
}

macro_rules! list {
    ($($key:ident $name:ident $kind:ident $default:literal $meaning:literal;)*) => {
        impl Policy {
            /// Returns this policy with `key` set; `None` for a value of another kind.
            #[doc(hidden)]
            pub const fn assign(self, key: Key, value: KeyValue) -> Option<Self> {
                Some(match (key, value) {
                    $((Key::$key, pattern!($kind value)) => set!(self, $name, $kind, value),)*
                    _ => return None,
                })
            }

            const fn with_key_of(mut self, key: Key, layer: &Self) -> Self {
                match key {
                    $(Key::$key => self.$name = layer.$name,)*
                    _ => {}
                }
                self.sets(key)
            }

            /// Returns whether the rules find the same in both.
            #[cfg(feature = "std")]
            pub(crate) fn is_same(&self, other: &Self) -> bool {
                $(same!(self, other, $name, $kind))&&*
                    && self.decided == other.decided
                    && self.given == other.given
            }
        }
    };
}

reattempt_rules::keys!(list);

/// `max` of a policy without a limit.
const UNLIMITED: u32 = u32::MAX;

impl Policy {
    /// Returns the default policy.
    pub const fn new() -> Self {
        Self {
            max: 3,
            backoff: Backoff::Exp,
            base: Nanos::new(Duration::from_millis(100)),
            first: Nanos::new(Duration::from_millis(100)),
            factor: 2.0,
            cap: Nanos::new(Duration::from_secs(20)),
            jitter: Jitter::Full,
            fast_first: false,
            throttled_base: Duration::from_secs(1),
            reset_after: None,
            deadline: None,
            timeout: None,
            max_retry_after: Duration::from_secs(60),
            idempotent: true,
            nested: Nested::Collapse,
            telemetry: Telemetry::new(),
            decided: false,
            budget: None,
            default_budget: DefaultBudget::Shared,
            given: Keys::NONE,
            trust: Trust::Built,
            course: Course::Doubled,
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
    pub const fn max(mut self, attempts: u32) -> Self {
        self.max = attempts;
        self.sets(Key::Max)
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
    pub const fn backoff(mut self, shape: Backoff) -> Self {
        self.backoff = shape;
        self.sets(Key::Backoff)
    }

    /// Sets the unit of the shape.
    ///
    /// # Default
    ///
    /// 100 ms.
    #[doc(alias("delay", "initial_interval", "min_delay", "with_min_delay"))]
    pub const fn base(mut self, base: Duration) -> Self {
        self.base = Nanos::new(base);
        if !self.has(Key::First) {
            self.first = self.base;
        }
        self.sets(Key::Base)
    }

    /// Sets the delay before the first retry.
    ///
    /// # Default
    ///
    /// `base`.
    pub const fn first(mut self, first: Duration) -> Self {
        self.first = Nanos::new(first);
        self.sets(Key::First)
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
    pub const fn factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self.sets(Key::Factor)
    }

    /// Sets the longest computed delay, jitter included.
    ///
    /// # Default
    ///
    /// 20 s.
    #[doc(alias("max_delay", "max_interval", "with_max_delay"))]
    pub const fn cap(mut self, cap: Duration) -> Self {
        self.cap = Nanos::new(cap);
        self.sets(Key::Cap)
    }

    /// Sets how each delay is spread at random.
    ///
    /// # Default
    ///
    /// [`Jitter::Full`].
    #[doc(alias("with_jitter"))]
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self.sets(Key::Jitter)
    }

    /// Sets whether the first retry is immediate, unless the service says that it is overloaded; the other delays keep
    /// their numbers.
    ///
    /// # Default
    ///
    /// Off.
    pub const fn fast_first(mut self, on: bool) -> Self {
        self.fast_first = on;
        self.sets(Key::FastFirst)
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
    pub const fn throttled_base(mut self, least: Duration) -> Self {
        self.throttled_base = least;
        self.sets(Key::ThrottledBase)
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
    pub const fn reset_after(mut self, healthy: Duration) -> Self {
        self.reset_after = Some(healthy);
        self.sets(Key::ResetAfter)
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
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self.sets(Key::Deadline)
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
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self.sets(Key::Timeout)
    }

    /// Sets the longest delay that a call waits for when the error asks for one
    /// ([`Verdict::Throttled`]). A longer one ends the call at once.
    ///
    /// [`Verdict::Throttled`]: crate::Verdict::Throttled
    ///
    /// # Default
    ///
    /// 1 minute.
    pub const fn max_retry_after(mut self, max_retry_after: Duration) -> Self {
        self.max_retry_after = max_retry_after;
        self.sets(Key::MaxRetryAfter)
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
    pub const fn idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = idempotent;
        self.sets(Key::Idempotent)
    }

    /// Sets the attempts of a call inside a retry of an outer call.
    ///
    /// # Default
    ///
    /// [`Nested::Collapse`].
    pub const fn nested(mut self, nested: Nested) -> Self {
        self.nested = nested;
        self.sets(Key::Nested)
    }

    /// Sets which events of the calls are reported, and at which levels.
    ///
    /// # Default
    ///
    /// [`Telemetry::new`].
    pub const fn telemetry(mut self, telemetry: Telemetry) -> Self {
        self.telemetry = telemetry;
        self.sets(Key::Telemetry)
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
        self.given = self.given.without(Key::Budget);
        self.default_budget = DefaultBudget::None;
        // Some rules permit more to a policy with a budget.
        if matches!(self.trust, Trust::Built) {
            self.trust = Trust::Unknown;
        }
        self
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
        let mut rest: &[Key] = &Key::ALL;
        while let [key, tail @ ..] = rest {
            if layer.has(*key) {
                if matches!(key, Key::Base) && !self.has(Key::First) {
                    self.first = layer.base;
                }
                self = self.with_key_of(*key, layer);
            }
            rest = tail;
        }
        if matches!(layer.default_budget, DefaultBudget::None) {
            self = self.without_budget();
        }
        self
    }

    /// Remembers that `key` was given, whose value may break an unsafe rule.
    const fn sets(mut self, key: Key) -> Self {
        self.given = self.given.with(key);
        if !HARMLESS.contains(key) && matches!(self.trust, Trust::Built) {
            self.trust = Trust::Unknown;
        }
        self.on_course()
    }

    /// Returns whether a call need not check it.
    #[inline(always)]
    pub(crate) const fn is_trusted(&self) -> bool {
        !matches!(self.trust, Trust::Unknown)
    }

    /// Marks it as one that has been checked.
    pub(crate) const fn built(mut self) -> Self {
        self.trust = Trust::Built;
        self
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
        self.given = self.given.with(Key::Budget);
        self.default_budget = DefaultBudget::Shared;
        self
    }

    /// Returns this policy for use beside a strategy: without its shape, and with `max` only if it
    /// is set.
    #[doc(hidden)]
    pub const fn decided(mut self) -> Self {
        self.backoff = Backoff::None;
        self.decided = true;
        self.course = Course::Other;
        if !self.has(Key::Max) {
            self.max = UNLIMITED;
        }
        self
    }

    /// Returns whether a budget that it names limits the retries.
    pub const fn is_budgeted(&self) -> bool {
        self.has(Key::Budget)
    }

    /// Returns whether an operation under it has a budget by default: it names none, and its attempts come to an end.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn has_default_budget(&self) -> bool {
        matches!(self.default_budget, DefaultBudget::Shared)
            && !self.has(Key::Budget)
            && self.max != UNLIMITED
            && self.reset_after.is_none()
            && !self.decided
    }

    /// Returns the number of attempts in total; `None` without a limit.
    pub const fn attempts(&self) -> Option<u32> {
        match self.max {
            UNLIMITED => None,
            0 => Some(1),
            max => Some(max),
        }
    }

    /// Returns whether the policy has a `deadline` or a `timeout`.
    #[doc(hidden)]
    pub const fn has_limit(&self) -> bool {
        self.deadline.is_some() || self.timeout.is_some()
    }

    /// Returns how many starts of an attempt a call keeps, to know how long it ran: one, with
    /// `reset_after`.
    #[doc(hidden)]
    pub const fn kept_starts(&self) -> usize {
        match self.reset_after {
            Some(_) => 1,
            None => 0,
        }
    }

    /// Returns `deadline`, `timeout` and `max_retry_after`, for code that explains or simulates a
    /// policy.
    #[doc(hidden)]
    pub const fn limits(&self) -> (Option<Duration>, Option<Duration>, Duration) {
        (self.deadline, self.timeout, self.max_retry_after)
    }

    /// Returns the budget of the policy, for code that simulates it.
    #[doc(hidden)]
    #[cfg(feature = "std")]
    pub const fn shared_budget(&self) -> Option<&'static Budget> {
        self.budget
    }

    /// Returns whether the operation may run twice.
    pub const fn is_idempotent(&self) -> bool {
        self.idempotent
    }

    /// Returns what a call under this policy does inside a retry of an outer call.
    pub const fn nesting(&self) -> Nested {
        self.nested
    }

    /// Returns the shape of the delays.
    pub const fn shape(&self) -> Backoff {
        self.backoff
    }

    /// Returns whether a call has nothing to do with it before anything fails: one load and a test.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn starts_plain(&self) -> bool {
        !self.given.intersects(FROM_START)
    }

    /// Returns it as the policy of a file: a file can forbid that an operation runs twice, but not permit it. Where the code
    /// says nothing, the request decides.
    #[doc(hidden)]
    pub const fn of_file(mut self) -> Self {
        if self.idempotent {
            self.given = self.given.without(Key::Idempotent);
        }
        self
    }

    /// Returns whether the user set `key`, for the rules about several values.
    #[doc(hidden)]
    pub const fn has(&self, key: Key) -> bool {
        self.given.contains(key)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_has_the_course_that_its_keys_have() {
        let policy = Policy::new();
        assert!(matches!(policy.course, Course::Doubled));
        assert!(matches!(policy.find_course(), Course::Doubled));
    }

    /// `base` brings the first delay with it, unless that is given; no other key does.
    #[test]
    fn a_layer_brings_first_with_its_base() {
        let [one, two, three] = [1, 2, 3].map(Duration::from_secs);
        let below = Policy::new().base(one);
        let layer = Policy::new().base(three);
        let first = |below: Policy, layer: &Policy| below.merged_with(layer).delay(0);
        assert_eq!(first(below, &Policy::new().max(5)), one);
        assert_eq!(first(below, &layer), three);
        assert_eq!(first(below.first(two), &layer), two);
    }
}
