//! The rules that refuse a policy, as values: a [`Violation`] names its rule, the key and the fix.
//!
//! The attribute, the evaluation of constants and the load of a configuration check the same rules.
#![warn(clippy::arithmetic_side_effects)]

#[doc(hidden)]
pub mod breaker;
#[doc(hidden)]
pub mod budget;
mod checks;
mod fixes;
mod hedge;
mod many;
mod restart;
mod tame;
mod total;

use crate::values::Values;

pub use crate::id::RuleId;
pub use crate::key::{Key, Keys, Kind};
pub use crate::violation::{Consequence, Severity, Violation};
use Key::{
    Backoff, Base, Budget, Cap, Deadline, Factor, FastFirst, First, Max, MaxRetryAfter, ResetAfter,
    ThrottledBase, Timeout,
};
pub use breaker::window_below_timeout as breaker_window;
pub use budget::ratio as budget_share;
#[doc(hidden)]
pub use checks::SHORTEST_TIMEOUT;
use checks::{
    above_cap, above_deadline, factor_range, hardly_any_time, jitter_range, never_starts,
    no_attempt, no_base, no_cap, no_deadline, no_difference, no_timeout, only_for_retries,
    reset_too_soon, timeout_above_deadline, too_long, without_effect,
};
pub use hedge::{
    beyond_deadline as hedge_beyond_deadline, beyond_timeout as hedge_beyond_timeout,
    copies as hedge_copies, delay as hedge_delay, quantile as hedge_quantile,
};
use many::{endless, too_many, too_much};
pub use restart::restarts;
#[doc(hidden)]
pub use tame::Broken;

macro_rules! tamed {
    ($policy:ident) => {
        None
    };
    ($policy:ident, $tame:ident) => {
        Some(tame::$tame($policy))
    };
}

macro_rules! rules {
    ($($rule:ident, $id:ident, $severity:ident $(=> $tame:ident)?, reads $reads:expr, $check:ident;)+) => {
        /// A rule about a policy.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "the table below names the function that documents each")]
        pub enum Rule { $($rule),+ }

        impl Rule {
            /// Every rule, in the order in which they are checked.
            pub const ALL: &'static [Self] = &[$(Self::$rule),+];

            /// Returns the rule of a policy with this name.
            pub const fn named(id: RuleId) -> Option<Self> {
                match id {
                    $(RuleId::$id => Some(Self::$rule),)+
                    _ => None,
                }
            }

            /// Returns the name of the rule in the error index.
            pub const fn id(self) -> RuleId {
                match self { $(Self::$rule => RuleId::$id),+ }
            }

            /// Returns what a policy does that breaks it.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$rule => Severity::$severity),+ }
            }

            /// Returns the nearest policy that keeps to this rule; `None` where only a value that means nothing breaks
            /// it, and where a call runs as it is written.
            fn tame(self, policy: Values) -> Option<Values> {
                match self { $(Self::$rule => tamed!(policy $(, $tame)?)),+ }
            }

            /// Returns the keys this rule reads: it can be judged when all of them are known.
            pub const fn keys(self) -> Keys {
                match self { $(Self::$rule => Keys::of($reads)),+ }
            }

            /// Returns the violation of this rule by the values of a policy, if they break it.
            #[doc(hidden)]
            pub const fn check(self, policy: &Values) -> Option<Violation> {
                let broken = match self { $(Self::$rule => $check(policy)),+ };
                match broken {
                    Some((key, message)) => {
                        Some(Violation::of_key(self.id(), self.severity(), key, message))
                    }
                    None => None,
                }
            }
        }
    };
}

// One value first: a rule about several speaks of values that are sound alone. Of an unsafe rule it says what a call does
// where the running program breaks it; with nothing said, it makes a single attempt.
rules! {
    NoAttempt, R1, Unsafe, reads &[Max], no_attempt;
    TooLong, R2, Unsafe, reads &[Base, First, Cap, ThrottledBase, ResetAfter, Deadline, Timeout, MaxRetryAfter, Key::Codes], too_long;
    NoBase, R3, Unsafe => pauses, reads &[Backoff, Base], no_base;
    FactorRange, R4, Unsafe, reads &[Factor], factor_range;
    JitterRange, R5, Unsafe, reads &[Key::Jitter], jitter_range;
    NoCap, R6, Unsafe => pauses, reads &[Cap], no_cap;
    NoDeadline, R7, Unsafe, reads &[Deadline], no_deadline;
    NoTimeout, R8, Unsafe, reads &[Timeout], no_timeout;
    AboveCap, X1, Pointless, reads &[Backoff, Base, First, Cap, ThrottledBase, Key::Codes], above_cap;
    AboveDeadline, X2, Pointless, reads &[Max, Backoff, Base, First, Cap, Key::Jitter, FastFirst, Deadline], above_deadline;
    TimeoutAboveDeadline, X3, Pointless, reads &[Max, Deadline, Timeout], timeout_above_deadline;
    NeverStarts, X4, Pointless, reads &[Max, Backoff, Base, First, Factor, Cap, Key::Jitter, FastFirst, Deadline], never_starts;
    OnlyForRetries, X5, Pointless, reads &[Max], only_for_retries;
    Endless, X6, Unsafe => ends, reads &[Max, Backoff, Base, First, Factor, Cap, Key::Jitter, ResetAfter, Deadline, Budget], endless;
    TooMany, X7, Unsafe => fewer, reads &[Max, Backoff, Base, First, Factor, Cap, Key::Jitter, ResetAfter, Deadline, Budget], too_many;
    WithoutEffect, X8, Pointless, reads &[Backoff], without_effect;
    HardlyAnyTime, X16, Pointless, reads &[Max, Backoff, Base, First, Cap, Key::Jitter, FastFirst, Deadline, Timeout], hardly_any_time;
    NoDifference, X17, Pointless, reads &[Max, Backoff, FastFirst], no_difference;
    ResetTooSoon, X18, Unsafe => resets_later, reads &[Backoff, Cap, ResetAfter], reset_too_soon;
    TooMuch, X19, Unsafe => less, reads &[Max, Backoff, Base, First, Factor, Cap, Key::Jitter, FastFirst, Deadline, Budget], too_much;
}

impl Values {
    /// Returns every rule that they break, in the order of the rules.
    pub fn violations(&self) -> impl Iterator<Item = Violation> {
        Rule::ALL.iter().filter_map(|rule| rule.check(self))
    }

    /// Returns the first unsafe rule that they break.
    pub const fn unsafe_violation(&self) -> Option<Violation> {
        let mut rest = Rule::ALL;
        while let [rule, tail @ ..] = rest {
            if matches!(rule.severity(), Severity::Unsafe) {
                let broken = rule.check(self);
                if broken.is_some() {
                    return broken;
                }
            }
            rest = tail;
        }
        None
    }

    /// Returns the first rule that they break, as far as that is known without the values of `unknown`.
    pub const fn known_violation(&self, unknown: &[Key]) -> Option<Violation> {
        let unknown = Keys::of(unknown);
        let mut rest = Rule::ALL;
        while let [rule, tail @ ..] = rest {
            if !rule.keys().intersects(unknown)
                && let Some(violation) = rule.check(self)
            {
                return Some(violation);
            }
            rest = tail;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    mod bounds;
    mod named;

    use super::*;
    use crate::values::HARMLESS;

    #[test]
    fn harmless_keys_are_those_that_no_unsafe_rule_reads() {
        for key in Key::ALL {
            let is_read = Rule::ALL
                .iter()
                .any(|rule| rule.severity() == Severity::Unsafe && rule.keys().contains(key));
            assert_eq!(HARMLESS.contains(key), !is_read, "{key}");
        }
    }
}
