//! A mistake in a configuration: its place, the key, the rule, and the fix.

use core::fmt;
use std::error::Error;

use super::span::Place;
use reattempt_policy::{INDEX, RuleId};

/// One mistake in a configuration.
///
/// `Debug` writes the same as `Display`, so a `main` that returns the error shows it.
///
/// # Examples
///
/// ```
/// use reattempt::config::Config;
///
/// let faults = Config::from_toml("[policies.storage]\nbase = 250\n").unwrap_err();
/// let fault = faults.iter().next().unwrap();
///
/// assert_eq!((fault.line(), fault.key(), fault.rule().as_str()), (Some(2), "policies.storage.base", "R17"));
/// assert_eq!(
///     fault.message(),
///     "a bare number is not a duration; write `\"250ms\"` or `\"250s\"`"
/// );
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Diagnostic {
    place: Place,
    key: String,
    rule: RuleId,
    message: String,
}

impl Diagnostic {
    pub(super) fn new(
        place: Place,
        key: impl Into<String>,
        rule: RuleId,
        message: impl Into<String>,
    ) -> Self {
        Self {
            place,
            key: key.into(),
            rule,
            message: message.into(),
        }
    }

    /// Returns the file, the environment variable, or the name of the provider that it comes from.
    pub fn source(&self) -> &str {
        &self.place.source
    }

    /// Returns the line of the key, counted from 1. `None` where there are no lines.
    pub fn line(&self) -> Option<usize> {
        self.place.line
    }

    /// Returns the character of the line at which the key starts, counted from 1.
    pub fn column(&self) -> Option<usize> {
        self.place.column
    }

    /// Returns the path of the key, such as `policies.storage.base`; empty for the file as a whole.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the rule: `R3` or `X15` as in the list of rules; `type` for a value of another type, `word` for an unknown
    /// one, `syntax` for what is not TOML, `file` for what cannot be read, `cut off` for a file that was read while it was
    /// written.
    pub fn rule(&self) -> RuleId {
        self.rule
    }

    /// Returns the rule in words, then the fix.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the same of a text that has this name.
    #[must_use]
    pub fn of_source(mut self, source: impl Into<String>) -> Self {
        self.place.source = source.into();
        self
    }

    fn order(&self) -> (usize, usize) {
        // What has no line comes last.
        let line = self.place.line.unwrap_or(usize::MAX);
        (line, self.place.column.unwrap_or(0))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.source())?;
        if let Some(line) = self.line() {
            write!(f, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {} [{}]", self.message, self.rule)
    }
}

impl fmt::Debug for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for Diagnostic {}

/// Everything that is wrong with a configuration: at least one [`Diagnostic`].
///
/// The mistakes are in the order of the lines. `Display` and `Debug` give each a line, and end with
/// the address of the rules, so a `main` that returns the error shows them.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigError(Vec<Diagnostic>);

impl ConfigError {
    pub(super) fn new(mut faults: Vec<Diagnostic>) -> Self {
        faults.sort_by_key(Diagnostic::order);
        Self(faults)
    }

    /// Returns each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }
}

impl From<Diagnostic> for ConfigError {
    fn from(fault: Diagnostic) -> Self {
        Self(vec![fault])
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{fault}")?;
        }
        // A line of a log stays one.
        match self.0.as_slice() {
            [fault] => write!(f, " ({})", fault.rule.url()),
            _ => write!(f, "\nrules: {INDEX}"),
        }
    }
}

impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_says_where_it_is() {
        let at = |offset| Place::at("a.toml", "x\n yz", offset);
        let placed = Diagnostic::new(at(4), "max", RuleId::R1, "text");
        assert_eq!(
            (placed.source(), placed.key(), placed.message()),
            ("a.toml", "max", "text")
        );
        assert_eq!(
            (placed.line(), placed.column(), placed.rule()),
            (Some(2), Some(3), RuleId::R1)
        );
        assert_eq!(placed.to_string(), "a.toml:2: max: text [R1]");
        let whole = Diagnostic::new(Place::of("b"), "", RuleId::File, "gone").of_source("c");
        assert_eq!(
            (whole.source(), whole.line(), whole.column()),
            ("c", None, None)
        );
        assert_eq!(whole.to_string(), format!("c: gone [{}]", RuleId::File));
        let earlier = Diagnostic::new(at(3), "base", RuleId::R2, "other");
        // What has no line comes last.
        let error = ConfigError::new(vec![whole.clone(), placed.clone(), earlier.clone()]);
        assert!(error.iter().eq([&earlier, &placed, &whole]));
        let lines = format!("{earlier}\n{placed}\n{whole}\nrules: {INDEX}");
        assert_eq!(error.to_string(), lines);
        let one = ConfigError::from(placed.clone());
        assert_eq!(one.to_string(), format!("{placed} ({})", RuleId::R1.url()));
    }
}
