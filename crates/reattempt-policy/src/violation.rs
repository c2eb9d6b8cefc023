//! A broken rule: which, at which key, and in words.

use core::fmt;

use crate::id::RuleId;
use crate::key::Key;
use crate::text::{Letters, Text};

/// A message of 320 bytes, and a line.
const REPORT: usize = 400;

/// What a value does that breaks a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// It can hammer a service, or it means nothing.
    Unsafe,
    /// A policy with it retries less than it says, or has a key without effect; no service suffers from it.
    Pointless,
}

impl RuleId {
    /// Returns whether the rule refuses a key that has no effect, whatever its value is.
    #[doc(hidden)]
    pub const fn is_about_effects(self) -> bool {
        matches!(self, Self::X5 | Self::X8 | Self::X17)
    }

    /// Panics with the message, and with the rule below it: an error of the compiler where a constant is evaluated.
    ///
    /// # Panics
    ///
    /// Always.
    #[doc(hidden)]
    #[cold]
    #[track_caller]
    #[expect(clippy::panic, reason = "documented where a value can be refused")]
    pub const fn refuse(self, message: &str) -> ! {
        let report = Letters::<REPORT>::new().push(message);
        panic!("{}", report.push("\n").push(self.footer()).as_str())
    }
}

impl Text {
    /// Returns the violation of `rule` in these words, by the value of a budget, a breaker, a throttle or a hedge.
    #[doc(hidden)]
    pub const fn breaks(self, rule: RuleId) -> Violation {
        Violation {
            rule,
            severity: Severity::Unsafe,
            key: None,
            message: self,
        }
    }
}

/// A rule that a policy, a budget, a breaker, a throttle or a hedge breaks.
///
/// `Display` ends with the rule and the address of its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    rule: RuleId,
    severity: Severity,
    key: Option<Key>,
    message: Text,
}

impl Violation {
    /// Returns the violation of a rule by a key of a policy.
    #[doc(hidden)]
    pub const fn of_key(rule: RuleId, severity: Severity, key: Key, message: Text) -> Self {
        Self {
            rule,
            severity,
            key: Some(key),
            message,
        }
    }

    /// Returns the rule.
    pub const fn rule(&self) -> RuleId {
        self.rule
    }

    /// Returns what a value does that breaks the rule.
    pub const fn severity(&self) -> Severity {
        self.severity
    }

    /// Returns the key of the policy whose value breaks the rule; `None` for the value of a budget, a breaker, a throttle or
    /// a hedge.
    pub const fn key(&self) -> Option<Key> {
        self.key
    }

    /// Returns the rule with the numbers of this value, then a fix.
    pub const fn message(&self) -> &str {
        self.message.as_str()
    }

    /// Does the same as [`RuleId::refuse`] with this message.
    ///
    /// # Panics
    ///
    /// Always.
    #[doc(hidden)]
    #[track_caller]
    pub const fn refuse(&self) -> ! {
        self.rule.refuse(self.message())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message(), self.rule.footer())
    }
}

impl core::error::Error for Violation {}

/// What follows for the calls of an operation whose policy breaks a rule while the program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Consequence {
    /// They keep to the nearest values that are accepted.
    NearestValues,
    /// They make a single attempt: a value means nothing.
    SingleAttempt,
    /// They keep to the policy as it is written: what breaks the rule stands beside it, such as a breaker.
    AsWritten,
}

impl fmt::Display for Consequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NearestValues => "calls keep to the nearest values that are accepted",
            Self::SingleAttempt => "calls make a single attempt",
            Self::AsWritten => "calls keep to it all the same",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_room_for_the_longest_message() {
        let longest = RuleId::ALL.iter().map(|rule| rule.footer().len()).max();
        assert!(crate::text::CAPACITY + 1 + longest.unwrap_or(REPORT) <= REPORT);
    }
}
