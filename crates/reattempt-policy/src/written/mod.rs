//! How the keys and the values of a policy are written, in attributes and in files: from a text to a value, or to a mistake
//! and its fix. The macros and the configuration share it, so that both accept the same language.

mod codes;
mod keys;
#[cfg(feature = "serde")]
mod settings;
mod values;

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::RuleId;

pub use codes::{CODE_SETTINGS, CodeRow, MEANINGS, no_verdict};
pub use keys::{CODE, KEYS, foreign, in_code_alone, listed, nearest, unknown};
pub use values::{Attempts, Name, Share, is_unseen, policy_name};
pub use values::{
    OWN_BACKOFF, TELEMETRY, TELEMETRY_SETTINGS, UNLIMITED, is_foreign_shape, telemetry_setting,
};

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The rule that it breaks; [`RuleId::Type`] for a value of another type.
    pub rule: RuleId,
    /// The rule in words, then the fix.
    pub message: String,
}

impl ParseError {
    /// A value that breaks `rule`.
    pub fn new(rule: RuleId, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { rule, message }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A whole number as it was written; not negative.
#[derive(Debug, Clone, Copy)]
pub struct Whole<'a> {
    /// All of it: `1_000`, `5s`.
    pub written: &'a str,
    /// Its digits alone.
    pub digits: &'a str,
    /// What follows them: only code can have that.
    pub suffix: &'a str,
}

/// A value as it was written.
#[derive(Debug, Clone, Copy)]
pub enum Written<'a> {
    /// `"exp"`
    Text(&'a str),
    /// `5`
    Whole(Whole<'a>),
    /// `0.5`, and numbers below 0.
    Number(f64),
    /// `true`
    Flag(bool),
    /// Anything else.
    Other,
}

impl Written<'_> {
    /// Reads a value of a file.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn in_file<T: Word>(self) -> Result<T, ParseError> {
        T::read(self, T::EXAMPLE_IN_FILE)
    }
}

/// A type of values that have a written form. `None` is for forms that it does not have.
pub trait Word: Sized {
    /// What a value of this type looks like, for messages.
    const EXAMPLE: &'static str;

    /// The same where there is no code.
    const EXAMPLE_IN_FILE: &'static str = Self::EXAMPLE;

    /// A text.
    fn from_text(_: &str) -> Option<Result<Self, ParseError>> {
        None
    }

    /// A whole number.
    fn from_whole(_: Whole<'_>) -> Option<Result<Self, ParseError>> {
        None
    }

    /// Any other number.
    fn from_number(_: f64) -> Option<Result<Self, ParseError>> {
        None
    }

    /// `true` or `false`.
    fn from_flag(_: bool) -> Option<Result<Self, ParseError>> {
        None
    }

    /// Reads a value, or says what was expected: with `example`.
    ///
    /// # Errors
    ///
    /// What is wrong with the value.
    fn read(written: Written<'_>, example: &str) -> Result<Self, ParseError> {
        let read = match written {
            Written::Text(text) => Self::from_text(text),
            Written::Whole(number) => Self::from_whole(number),
            Written::Number(value) => Self::from_number(value),
            Written::Flag(value) => Self::from_flag(value),
            Written::Other => None,
        };
        read.unwrap_or_else(|| Err(ParseError::new(RuleId::Type, format!("expected {example}"))))
    }
}
