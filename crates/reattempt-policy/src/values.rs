//! The values of a policy: how often, how long between, until when. Plain data, checked by [`rules`](crate::rules).
#![warn(clippy::arithmetic_side_effects)]

use core::panic::{RefUnwindSafe, UnwindSafe};
use core::time::Duration;

use crate::backoff::Backoff;
use crate::codes::Codes;
use crate::duration::Nanos;
use crate::jitter::Jitter;
use crate::key::{Key, Keys};
use crate::priority::Priority;
use crate::telemetry::Telemetry;
use crate::words::words;

/// The keys that no unsafe rule reads: a policy that is trusted stays trusted with another value of them.
pub const HARMLESS: Keys = Keys::of(&[Key::Idempotent, Key::Nested, Key::Priority, Key::Telemetry]);

/// The keys that may concern a call before anything fails.
const FROM_START: Keys = Keys::of(&[
    Key::Timeout,
    Key::Deadline,
    Key::ResetAfter,
    Key::Priority,
    Key::Budget,
    Key::Telemetry,
]);

/// `max` of a policy without a limit.
pub const UNLIMITED: u32 = u32::MAX;

/// The values of a policy, and which of them were given.
///
/// A method for each key sets its value. What each means stands in `reattempt::Policy`, which has them.
#[derive(Debug, Clone, Copy)]
#[must_use = "values do nothing"]
#[expect(missing_docs, reason = "the table of keys documents each")]
pub struct Values {
    pub max: u32,
    pub backoff: Backoff,
    pub base: Nanos,
    /// `base`, unless the user gave another.
    pub first: Nanos,
    pub factor: f64,
    pub cap: Nanos,
    pub jitter: Jitter,
    pub fast_first: bool,
    pub throttled_base: Duration,
    pub reset_after: Option<Duration>,
    pub deadline: Option<Duration>,
    pub timeout: Option<Duration>,
    pub max_retry_after: Duration,
    pub codes: Codes,
    pub idempotent: bool,
    pub nested: Nested,
    pub telemetry: Telemetry,
    /// Whether a strategy decides how often and how long to wait.
    pub decided: bool,
    pub default_budget: DefaultBudget,
    pub given: Keys,
    /// Found anew with each key that is set, so that a failure asks for one byte.
    pub course: Course,
    pub priority: Priority,
}

/// A backoff of one's own is asked anew for each delay, and leaves nothing half done.
impl RefUnwindSafe for Values {}
impl UnwindSafe for Values {}

/// The attempts of a call inside a retry of an outer call, that is in its second or a later
/// attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Nested {
    /// It makes one attempt and leaves the decision to the outer call (`GiveUpReason::Nested`), if it has used up its retries
    /// there: k layers of n attempts make n + (k - 1)(n - 1) calls of the innermost function, not
    /// n^k.
    #[default]
    Collapse,
    /// It makes all its attempts, each time.
    Multiply,
}

/// What limits the retries of an operation whose policy names no budget.
#[derive(Debug, Clone, Copy)]
pub enum DefaultBudget {
    /// One that its calls share.
    Shared,
    /// Nothing: `budget = "none"`.
    None,
}

/// What the delays depend on.
#[derive(Debug, Clone, Copy)]
pub enum Course {
    /// Not on the count and chance alone.
    Other,
    /// On these, as the shape says.
    Shaped,
    /// On these: they double, with full jitter, and are whole numbers.
    Doubled,
}

words! { #[doc(hidden)] Nested { Collapse "collapse", Multiply "multiply" } }

/// The value of a key, as a file or a literal has it.
#[derive(Debug, Clone, Copy)]
pub enum KeyValue {
    /// `u32::MAX` is no limit.
    Attempts(u32),
    /// A shape.
    Backoff(Backoff),
    /// A duration.
    Time(Duration),
    /// The growth of `"exp"`.
    Factor(f64),
    /// How delays are spread.
    Jitter(Jitter),
    /// `true` or `false`.
    Flag(bool),
    /// What errors of a code mean.
    Codes(Codes),
    /// What happens inside a retry of another call.
    Nested(Nested),
    /// Which calls limits refuse first.
    Priority(Priority),
    /// A budget that only the caller has.
    Budget,
    /// What is reported.
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

#[cfg(feature = "serde")]
macro_rules! value {
    ($values:ident, $name:ident, Budget) => {
        KeyValue::Budget
    };
    ($values:ident, $name:ident, Time) => {
        KeyValue::Time(Option::<Duration>::from($values.$name)?)
    };
    ($values:ident, $name:ident, $kind:ident) => {
        KeyValue::$kind($values.$name)
    };
}

macro_rules! same {
    ($one:ident, $other:ident, $name:ident, Backoff) => {
        core::mem::discriminant(&$one.$name) == core::mem::discriminant(&$other.$name)
    };
    ($one:ident, $other:ident, $name:ident, Budget) => {
        true
    };
    ($one:ident, $other:ident, $name:ident, Factor) => {
        $one.$name.to_bits() == $other.$name.to_bits()
    };
    ($one:ident, $other:ident, $name:ident, $kind:ident) => {
        $one.$name == $other.$name
    };
}

macro_rules! set {
    ($values:ident, $name:ident, Budget, $value:ident) => {
        $values.budgeted()
    };
    ($values:ident, $name:ident, $kind:ident, $value:ident) => {
        $values.$name($value)
    };
}

macro_rules! copied {
    ($values:ident, $layer:ident, $name:ident, Budget) => {
        ()
    };
    ($values:ident, $layer:ident, $name:ident, $kind:ident) => {
        $values.$name = $layer.$name
    };
}

macro_rules! list {
    ($($key:ident $name:ident $kind:ident $default:literal $meaning:literal;)*) => {
        impl Values {
            /// Returns these values with `key` set; `None` for a value of another kind.
            pub const fn assign(self, key: Key, value: KeyValue) -> Option<Self> {
                Some(match (key, value) {
                    $((Key::$key, pattern!($kind value)) => set!(self, $name, $kind, value),)*
                    _ => return None,
                })
            }

            /// Returns the value of `key`; `None` for a limit that there is not.
            #[cfg(feature = "serde")]
            pub(crate) fn value(&self, key: Key) -> Option<KeyValue> {
                Some(match key {
                    $(Key::$key => value!(self, $name, $kind),)*
                })
            }

            const fn with_key_of(mut self, key: Key, layer: &Self) -> Self {
                match key {
                    $(Key::$key => copied!(self, layer, $name, $kind),)*
                }
                self.sets(key)
            }

            /// Returns whether the rules find the same in both.
            pub fn is_same(&self, other: &Self) -> bool {
                $(same!(self, other, $name, $kind))&&*
                    && self.decided == other.decided
                    && self.given == other.given
            }
        }
    };
}

crate::keys!(list);

macro_rules! setters {
    ($($key:ident $name:ident $type:ty => $stored:expr;)*) => {
        impl Values {
            $(
                #[doc = concat!("Sets `", stringify!($name), "`.")]
                pub const fn $name(mut self, $name: $type) -> Self {
                    self.$name = $stored;
                    self.sets(Key::$key)
                }
            )*
        }
    };
}

setters! {
    Max max u32 => max;
    Backoff backoff Backoff => backoff;
    First first Duration => Nanos::new(first);
    Factor factor f64 => factor;
    Cap cap Duration => Nanos::new(cap);
    Jitter jitter Jitter => jitter;
    FastFirst fast_first bool => fast_first;
    ThrottledBase throttled_base Duration => throttled_base;
    ResetAfter reset_after Duration => Some(reset_after);
    Deadline deadline Duration => Some(deadline);
    Timeout timeout Duration => Some(timeout);
    MaxRetryAfter max_retry_after Duration => max_retry_after;
    Codes codes Codes => codes;
    Idempotent idempotent bool => idempotent;
    Nested nested Nested => nested;
    Priority priority Priority => priority;
    Telemetry telemetry Telemetry => telemetry;
}

impl Values {
    /// Returns the default of each key.
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
            codes: Codes::NONE,
            idempotent: true,
            nested: Nested::Collapse,
            priority: Priority::Normal,
            telemetry: Telemetry::new(),
            decided: false,
            default_budget: DefaultBudget::Shared,
            given: Keys::NONE,
            course: Course::Doubled,
        }
    }

    /// Sets `base`, and the first delay unless that is given.
    pub const fn base(mut self, base: Duration) -> Self {
        self.base = Nanos::new(base);
        if !self.has(Key::First) {
            self.first = self.base;
        }
        self.sets(Key::Base)
    }

    /// Removes the limit of attempts.
    pub const fn unlimited(self) -> Self {
        self.max(UNLIMITED)
    }

    /// Returns these values for calls that a budget limits.
    pub const fn budgeted(mut self) -> Self {
        self.given = self.given.with(Key::Budget);
        self.default_budget = DefaultBudget::Shared;
        self
    }

    /// Returns these values for calls without a budget, also without one that they share.
    pub const fn without_budget(mut self) -> Self {
        self.given = self.given.without(Key::Budget);
        self.default_budget = DefaultBudget::None;
        self
    }

    /// Returns these values for use beside a strategy: without a shape, and with `max` only if it is set.
    pub const fn decided(mut self) -> Self {
        self.backoff = Backoff::None;
        self.decided = true;
        self.course = Course::Other;
        if !self.has(Key::Max) {
            self.max = UNLIMITED;
        }
        self
    }

    /// Returns these values with every key that is set in `layer`. A `base` without a `first` sets the first delay as well,
    /// unless one of the two has a `first`.
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

    const fn sets(mut self, key: Key) -> Self {
        self.given = self.given.with(key);
        self.on_course()
    }

    /// Returns the number of attempts in total; `None` without a limit.
    pub const fn attempts(&self) -> Option<u32> {
        match self.max {
            UNLIMITED => None,
            0 => Some(1),
            max => Some(max),
        }
    }

    /// Returns whether a budget that is named limits the retries.
    pub const fn is_budgeted(&self) -> bool {
        self.has(Key::Budget)
    }

    /// Returns whether an operation with them has a budget by default: they name none, and its attempts come to an end.
    #[inline(always)]
    pub const fn has_default_budget(&self) -> bool {
        matches!(self.default_budget, DefaultBudget::Shared)
            && !self.is_budgeted()
            && self.max != UNLIMITED
            && self.reset_after.is_none()
            && !self.decided
    }

    /// Returns whether limits refuse its calls first.
    #[inline(always)]
    pub const fn is_low(&self) -> bool {
        matches!(self.priority, Priority::Low)
    }

    /// Returns whether the user set `key`.
    pub const fn has(&self, key: Key) -> bool {
        self.given.contains(key)
    }

    /// Returns whether a call has nothing to do with them before anything fails: one load and a test.
    #[inline(always)]
    pub const fn starts_plain(&self) -> bool {
        !self.given.intersects(FROM_START)
    }
}

impl Default for Values {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_has_the_course_that_its_keys_have() {
        let values = Values::new();
        assert!(matches!(values.course, Course::Doubled));
        assert!(matches!(values.find_course(), Course::Doubled));
    }

    /// `base` brings the first delay with it, unless that is given; no other key does.
    #[test]
    fn a_layer_brings_first_with_its_base() {
        let [one, two, three] = [1, 2, 3].map(Duration::from_secs);
        let below = Values::new().base(one);
        let layer = Values::new().base(three);
        let first = |below: Values, layer: &Values| below.merged_with(layer).delay(0);
        assert_eq!(first(below, &Values::new().max(5)), one);
        assert_eq!(first(below, &layer), three);
        assert_eq!(first(below.first(two), &layer), two);
    }
}
