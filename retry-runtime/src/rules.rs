//! Which policies are refused, and in what words. The attribute asks for every
//! literal, constants are checked when they are evaluated, configuration when
//! it is loaded: all three run the functions of this file.
#![warn(clippy::arithmetic_side_effects)]

use core::fmt;
use core::time::Duration;

use crate::backoff::Shape;
use crate::duration::{LONGEST, is_shorter};
use crate::jitter::Jitter;
use crate::policy::Policy;
use crate::text::Text;

/// A key of a policy: the word in attributes and files, the method of the builder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each stands for the method of its name")]
pub enum Key {
    Max,
    Backoff,
    Base,
    First,
    Factor,
    Cap,
    Jitter,
    FastFirst,
    Deadline,
    Patience,
    Idempotent,
}

impl Key {
    /// Every key, in the order of the documentation.
    pub const ALL: [Self; 11] = [
        Self::Max,
        Self::Backoff,
        Self::Base,
        Self::First,
        Self::Factor,
        Self::Cap,
        Self::Jitter,
        Self::FastFirst,
        Self::Deadline,
        Self::Patience,
        Self::Idempotent,
    ];

    /// The word for this key.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Max => "max",
            Self::Backoff => "backoff",
            Self::Base => "base",
            Self::First => "first",
            Self::Factor => "factor",
            Self::Cap => "cap",
            Self::Jitter => "jitter",
            Self::FastFirst => "fast_first",
            Self::Deadline => "deadline",
            Self::Patience => "patience",
            Self::Idempotent => "idempotent",
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A set of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keys(u32);

impl Keys {
    /// No key.
    pub const NONE: Self = Self(0);

    /// This set and `key`.
    #[must_use]
    pub const fn with(self, key: Key) -> Self {
        Self(self.0 | 1 << key as u32)
    }

    /// Whether `key` is in this set.
    pub const fn contains(self, key: Key) -> bool {
        self.0 & (1 << key as u32) != 0
    }

    /// Whether the two sets share a key.
    pub const fn touches(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    const fn of(keys: &[Key]) -> Self {
        let (mut set, mut rest) = (Self::NONE, keys);
        while let [key, tail @ ..] = rest {
            set = set.with(*key);
            rest = tail;
        }
        set
    }
}

/// A rule that a policy breaks: which, at which key, and in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    rule: Rule,
    key: Key,
    message: Text,
}

impl Violation {
    /// The rule.
    pub const fn rule(&self) -> Rule {
        self.rule
    }

    /// The key whose value breaks the rule.
    pub const fn key(&self) -> Key {
        self.key
    }

    /// The rule with the numbers of this policy, then a mend.
    pub const fn message(&self) -> &str {
        self.message.as_str()
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl core::error::Error for Violation {}

macro_rules! rules {
    ($($rule:ident, $id:literal, reads $reads:expr, $check:ident;)+) => {
        /// A rule about a policy. `id` is its number in the documentation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "the table below names the function that documents each")]
        pub enum Rule { $($rule),+ }

        impl Rule {
            /// Every rule, in the order in which they are checked.
            pub const ALL: &'static [Self] = &[$(Self::$rule),+];

            /// The number of the rule in the documentation.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$rule => $id),+ }
            }

            /// The keys this rule looks at: it can be judged when all of them are known.
            pub const fn reads(self) -> Keys {
                match self { $(Self::$rule => Keys::of($reads)),+ }
            }

            /// The violation of this rule by `policy`, if it breaks it.
            pub const fn check(self, policy: &Policy) -> Option<Violation> {
                let broken = match self { $(Self::$rule => $check(policy)),+ };
                match broken {
                    Some((key, message)) => Some(Violation { rule: self, key, message }),
                    None => None,
                }
            }
        }
    };
}

use Key::{Backoff, Base, Cap, Deadline, Factor, FastFirst, First, Idempotent, Max, Patience};

// One value first: a rule about several speaks of values that are sound alone.
rules! {
    NoAttempt, "R1", reads &[Max], no_attempt;
    TooLong, "R2", reads &[Base, First, Cap, Deadline, Patience], too_long;
    NoBase, "R3", reads &[Backoff, Base], no_base;
    FactorRange, "R4", reads &[Factor], factor_range;
    JitterRange, "R5", reads &[Key::Jitter], jitter_range;
    NoCap, "R6", reads &[Cap], no_cap;
    NoDeadline, "R7", reads &[Deadline], no_deadline;
    AboveCap, "X1", reads &[Backoff, Base, First, Cap], above_cap;
    AboveDeadline, "X2", reads &[Max, Backoff, Base, First, FastFirst, Deadline], above_deadline;
    NeverStarts, "X4", reads &[Max, Backoff, Base, First, Factor, Cap, Key::Jitter, FastFirst, Deadline], never_starts;
    OnlyForRetries, "X5", reads &[Max], only_for_retries;
    Endless, "X6", reads &[Max, Backoff, Deadline], endless;
    TooMany, "X7", reads &[Max, Backoff, Deadline], too_many;
    WithoutEffect, "X8", reads &[Backoff], without_effect;
}

type Broken = Option<(Key, Text)>;

const fn say(text: &str) -> Text {
    Text::new().push(text)
}

/// R1: the first call is an attempt, too.
const fn no_attempt(policy: &Policy) -> Broken {
    if policy.max != 0 {
        return None;
    }
    Some((
        Max,
        say(
            "`max` counts the first attempt too, so 0 would never call at all; write `max = 1` for no retry or `max = 3` for two",
        ),
    ))
}

/// R2: no duration is above 24 hours.
const fn too_long(policy: &Policy) -> Broken {
    let deadline = match policy.deadline {
        Some(deadline) => deadline,
        None => Duration::ZERO,
    };
    let mut rest: &[(Key, Duration)] = &[
        (Base, policy.base.duration()),
        (First, policy.first.duration()),
        (Cap, policy.cap.duration()),
        (Deadline, deadline),
        (Patience, policy.patience),
    ];
    while let [(key, duration), tail @ ..] = rest {
        if is_shorter(LONGEST, *duration) {
            let text = Text::new()
                .key(key.word())
                .push(" of ")
                .duration(*duration, "");
            return Some((
                *key,
                text.push(" is above the longest duration of a policy; lower it to 24h or less"),
            ));
        }
        rest = tail;
    }
    None
}

/// R3: a shape that grows from nothing stays nothing.
const fn no_base(policy: &Policy) -> Broken {
    match policy.shape {
        Shape::None | Shape::Custom(_) => None,
        _ if policy.base.0 > 0.0 => None,
        shape => {
            let text = say("`base` of 0 makes every delay of `backoff = \"").push(shape.word());
            Some((
                Base,
                text.push(
                    "\"` 0; write `base = \"100ms\"`, or `backoff = \"none\"` if no delay is meant",
                ),
            ))
        }
    }
}

/// R4: what does not grow is no exponential.
const fn factor_range(policy: &Policy) -> Broken {
    if policy.factor.is_finite() && policy.factor > 1.0 {
        return None;
    }
    let text = say("`factor` is finite and above 1, and this is ").float(policy.factor);
    Some((
        Factor,
        text.push("; write `factor = 2.0`, or `backoff = \"fixed\"` for delays that do not grow"),
    ))
}

/// R5: a share lies between none and all.
const fn jitter_range(policy: &Policy) -> Broken {
    match policy.jitter {
        Jitter::Ratio(ratio) if !(ratio >= 0.0 && ratio <= 1.0) => {
            let text =
                say("`jitter` is a share of the delay from 0.0 to 1.0, and this is ").float(ratio);
            Some((Key::Jitter, text.push("; write `jitter = 0.2` for +/-20 %")))
        }
        _ => None,
    }
}

/// R6: a cap of nothing is no delay.
const fn no_cap(policy: &Policy) -> Broken {
    if policy.cap.0 > 0.0 {
        return None;
    }
    Some((
        Cap,
        say(
            "`cap` of 0 makes every delay 0; write `cap = \"20s\"`, or `backoff = \"none\"` if no delay is meant",
        ),
    ))
}

/// R7: a deadline that is over at once.
const fn no_deadline(policy: &Policy) -> Broken {
    match policy.deadline {
        Some(deadline) if deadline.is_zero() => Some((
            Deadline,
            say(
                "`deadline` of 0 is over before the first attempt; write `deadline = \"5s\"`, or leave it out for none",
            ),
        )),
        _ => None,
    }
}

/// X1: what starts above the cap never grows.
const fn above_cap(policy: &Policy) -> Broken {
    if matches!(policy.shape, Shape::None | Shape::Custom(_)) || policy.cap.0 <= 0.0 {
        return None;
    }
    let cap = policy.cap.duration();
    let first = policy.first.duration();
    let (key, delay) = if policy.has(First) && is_shorter(cap, first) {
        (First, first)
    } else {
        (Base, policy.base.duration())
    };
    if !is_shorter(cap, delay) {
        return None;
    }
    let text = Text::new().key(key.word()).push(" of ").duration(delay, "");
    let text = text.push(" is above `cap`, which is ").duration(cap, "");
    let text = text.push(if policy.has(Cap) { "" } else { " by default" });
    let text = text
        .push("; lower ")
        .key(key.word())
        .push(" or write `cap = \"")
        .duration(delay, "");
    Some((key, text.push("\"`")))
}

/// X2: the first delay alone takes all the time there is.
const fn above_deadline(policy: &Policy) -> Broken {
    let key = if policy.has(First) { First } else { Base };
    let delay = policy.first.duration();
    let Some(deadline) = policy.deadline else {
        return None;
    };
    let waits = !matches!(policy.shape, Shape::None | Shape::Custom(_)) && !policy.fast_first;
    if !waits || policy.max == 1 || deadline.is_zero() || is_shorter(delay, deadline) {
        return None;
    }
    let text = Text::new().key(key.word()).push(" of ").duration(delay, "");
    let text = text
        .push(" is not below `deadline` of ")
        .duration(deadline, "");
    let text = text
        .push(": no retry could ever start; lower ")
        .key(key.word());
    Some((key, text.push(" or raise `deadline`")))
}

/// X4: an attempt that the policy promises and the deadline forbids.
const fn never_starts(policy: &Policy) -> Broken {
    if above_deadline(policy).is_some() {
        return None; // said already
    }
    let (Some(deadline), Some(max)) = (policy.deadline, policy.attempts()) else {
        return None;
    };
    let Some((attempt, before)) = first_unreachable(policy, deadline, max) else {
        return None;
    };
    let text = say("`deadline` of ")
        .duration(deadline, "")
        .push(" is over before attempt ");
    let text = text.number(attempt as u64).push(" of ").number(max as u64);
    let text = text.push(" can start (at least ").duration(before, "");
    let text = text.push(" of delays come before it); raise `deadline` or lower `max` to ");
    Some((Deadline, text.number(attempt.saturating_sub(1) as u64)))
}

/// Delays that are added up one by one; the rest is taken to grow no further,
/// which can only make the sum too small, never too large.
const ADDED_UP: u32 = 256;

/// The first attempt that can't start before `deadline`, whatever the random
/// numbers, and the least sum of the delays before it.
const fn first_unreachable(
    policy: &Policy,
    deadline: Duration,
    max: u32,
) -> Option<(u32, Duration)> {
    if deadline.is_zero() || matches!(policy.shape, Shape::Custom(_)) {
        return None;
    }
    let retries = max.saturating_sub(1);
    let mut sum = Duration::ZERO;
    let mut least = Duration::ZERO;
    let mut retry = 0;
    while retry < retries && retry < ADDED_UP {
        (least, _) = policy.delay_bounds(retry);
        sum = sum.saturating_add(least);
        retry = retry.saturating_add(1);
        if !is_shorter(sum, deadline) {
            return Some((retry.saturating_add(1), sum));
        }
    }
    let rest = retries.saturating_sub(retry);
    if rest == 0
        || least.is_zero()
        || is_shorter(sum.saturating_add(least.saturating_mul(rest)), deadline)
    {
        return None;
    }
    let missing = deadline.saturating_sub(sum).as_nanos();
    let needed = missing.div_ceil(least.as_nanos());
    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most `rest`, by the comparison above"
    )]
    let needed = needed as u32;
    Some((
        retry.saturating_add(needed).saturating_add(1),
        sum.saturating_add(least.saturating_mul(needed)),
    ))
}

/// X5: a key that nothing will ever read.
const fn only_for_retries(policy: &Policy) -> Broken {
    if policy.max != 1 {
        return None;
    }
    let mut rest: &[Key] = &[
        Backoff,
        Base,
        First,
        Factor,
        Cap,
        Key::Jitter,
        FastFirst,
        Patience,
        Idempotent,
    ];
    while let [key, tail @ ..] = rest {
        if policy.has(*key) {
            let text = Text::new()
                .key(key.word())
                .push(" matters only for a retry, and `max = 1` allows none; drop ");
            return Some((*key, text.key(key.word()).push(" or write `max = 3`")));
        }
        rest = tail;
    }
    None
}

/// X6: a call that may never end.
const fn endless(policy: &Policy) -> Broken {
    if policy.attempts().is_some() {
        return None;
    }
    if policy.shape.is_none() {
        return Some((
            Max,
            say(
                "`max = \"unlimited\"` with `backoff = \"none\"` would call without pause for ever; write `backoff = \"exp\"`, or a number for `max`",
            ),
        ));
    }
    if policy.deadline.is_some() {
        return None;
    }
    Some((
        Max,
        say(
            "`max = \"unlimited\"` needs a bound of another kind; add `deadline = \"30s\"`, or write a number for `max`",
        ),
    ))
}

/// X7: a policy that would hammer a service.
const fn too_many(policy: &Policy) -> Broken {
    let Some(max) = policy.attempts() else {
        return None;
    };
    if policy.shape.is_none() && max > 3 {
        let text = say("`max` of ").number(max as u64).push(" with `backoff = \"none\"` hammers the service: at most 3 attempts come without a delay");
        return Some((Max, text.push("; write `max = 3`, or `backoff = \"exp\"`")));
    }
    if max > 20 && policy.deadline.is_none() {
        let text = say("`max` of ")
            .number(max as u64)
            .push(" is above 20, which needs a bound in time");
        return Some((
            Max,
            text.push("; add `deadline = \"30s\"` or lower `max` to 20"),
        ));
    }
    None
}

/// X8: a key that this shape does not read.
const fn without_effect(policy: &Policy) -> Broken {
    let ignored: &[Key] = match policy.shape {
        Shape::None => &[Base, First, Factor, Cap, Key::Jitter],
        Shape::Decorrelated => &[First, Factor, Key::Jitter],
        Shape::Custom(_) => &[Base, First, Factor],
        Shape::Fixed | Shape::Linear | Shape::Fibonacci => &[Factor],
        Shape::Exp => &[],
    };
    let mut rest = ignored;
    while let [key, tail @ ..] = rest {
        if policy.has(*key) {
            let text = Text::new().key(key.word()).push(" has no effect on ");
            let text = match policy.shape {
                Shape::Custom(_) => text.push("a `backoff` of your own"),
                shape => text.push("`backoff = \"").push(shape.word()).push("\"`"),
            };
            let text = text
                .push("; drop ")
                .key(key.word())
                .push(" or write `backoff = \"exp\"`");
            return Some((*key, text));
        }
        rest = tail;
    }
    None
}

impl Policy {
    /// Every rule this policy breaks, in the order of the rules.
    ///
    /// # Examples
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// let policy = Policy::new().max(0).factor(f64::NAN);
    /// let ids: Vec<_> = policy.violations().map(|v| v.rule().id()).collect();
    /// assert_eq!(ids, ["R1", "R4"]);
    /// ```
    pub fn violations(&self) -> impl Iterator<Item = Violation> {
        Rule::ALL.iter().filter_map(|rule| rule.check(self))
    }

    /// The first rule this policy breaks.
    pub const fn violation(&self) -> Option<Violation> {
        let mut rest = Rule::ALL;
        while let [rule, tail @ ..] = rest {
            let broken = rule.check(self);
            if broken.is_some() {
                return broken;
            }
            rest = tail;
        }
        None
    }

    /// This policy, if it breaks no rule: for policies made of run-time values.
    ///
    /// # Errors
    ///
    /// The first [`Violation`]; [`violations`](Self::violations) lists them all.
    #[expect(
        clippy::result_large_err,
        reason = "the message has its numbers in it; a policy is checked once"
    )]
    pub const fn validate(self) -> Result<Self, Violation> {
        match self.violation() {
            None => Ok(self),
            Some(violation) => Err(violation),
        }
    }

    /// This policy, unless the value of `key` breaks a rule.
    #[track_caller]
    pub(crate) const fn blame(self, key: Key) -> Self {
        let mut rest = Rule::ALL;
        while let [rule, tail @ ..] = rest {
            if let Some(violation) = rule.check(&self)
                && violation.key as u32 == key as u32
            {
                panic!("{}", violation.message());
            }
            rest = tail;
        }
        self
    }

    /// This policy, or a compile error where it is evaluated as a constant.
    ///
    /// # Panics
    ///
    /// With the words of the first rule that it breaks. For run-time values
    /// there is [`validate`](Self::validate).
    ///
    /// # Examples
    ///
    /// ```compile_fail
    /// # use retry_runtime::Policy;
    /// const POLICY: Policy = Policy::new().max(0).checked();
    /// ```
    #[track_caller]
    pub const fn checked(self) -> Self {
        if let Some(violation) = self.violation() {
            panic!("{}", violation.message());
        }
        self
    }
}
