//! The table of statuses and codes as files have it: `codes = { 503 = "throttled" }`.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::values::{is_unseen, named, unknown};
use super::{ParseError, Word};
use crate::RuleId;
use crate::codes::{Codes, Meaning, OnCode};

/// What an error of a code may mean.
pub const MEANINGS: &[(&str, Meaning)] = &[
    ("transient", Meaning::Transient),
    ("throttled", Meaning::Throttled),
    ("refused", Meaning::Refused),
    ("permanent", Meaning::Permanent),
];

/// The settings of a code that has more than a verdict.
pub const CODE_SETTINGS: &[&str] = &["verdict", "base"];

impl Word for Meaning {
    const EXAMPLE: &'static str = "a verdict; write `503 = \"throttled\"`";

    fn from_text(text: &str) -> Option<Result<Self, ParseError>> {
        Some(
            named(text, MEANINGS).ok_or_else(|| {
                ParseError::new(RuleId::Word, unknown("verdict", text, MEANINGS, ""))
            }),
        )
    }
}

/// A table has no form of one word.
impl Word for Codes {
    const EXAMPLE: &'static str = "a table of statuses and codes; write `codes = CODES` and `const CODES: reattempt::policy::Codes = reattempt::policy::Codes::new(&[reattempt::policy::OnCode::throttled(\"503\")]);`";
    const EXAMPLE_IN_FILE: &'static str =
        "a table of statuses and codes; write `codes = { 503 = \"throttled\" }`";
}

/// A row as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRow {
    code: String,
    meaning: Meaning,
    base: Option<Duration>,
}

impl CodeRow {
    /// Returns the row of this code.
    ///
    /// # Errors
    ///
    /// No error has such a code, or the base would have no effect.
    pub fn new(code: &str, meaning: Meaning, base: Option<Duration>) -> Result<Self, ParseError> {
        if code.is_empty() || code.contains(is_unseen) {
            return Err(ParseError::new(
                RuleId::Word,
                format!(
                    "`{code:?}` is no code; write a status such as `503`, or a code such as `UNAVAILABLE`"
                ),
            ));
        }
        if is_several(code) {
            return Err(ParseError::new(
                RuleId::Word,
                format!(
                    "`{code}` is no status, and a row has one; write each, such as `503 = \"transient\"`"
                ),
            ));
        }
        if base.is_some() && meaning == Meaning::Permanent {
            return Err(ParseError::new(
                RuleId::Word,
                format!(
                    "no delay follows an error that is final; drop `base`, or write `{code} = {{ verdict = \"transient\", base = .. }}`"
                ),
            ));
        }
        Ok(Self {
            code: code.into(),
            meaning,
            base,
        })
    }

    /// Returns whether it is this row of a table.
    pub fn is(&self, row: &OnCode) -> bool {
        self.code == row.code && self.meaning == row.meaning && self.base == row.base
    }
}

/// `5xx`, `500-599`, `500..=599`. A code of SQL has other letters, as `08P01` has.
fn is_several(code: &str) -> bool {
    let mut signs = code.chars();
    signs
        .next()
        .is_some_and(|first| ('1'..='5').contains(&first))
        && !code.chars().all(|sign| sign.is_ascii_digit())
        && signs.all(|sign| sign.is_ascii_digit() || "xX*-.=".contains(sign))
}

/// Returns what a row without a verdict needs.
pub fn no_verdict(code: &str) -> ParseError {
    ParseError::new(
        RuleId::Type,
        format!(
            "expected a verdict; write `{code} = {{ verdict = \"throttled\", base = \"5s\" }}`"
        ),
    )
}

impl Codes {
    /// Returns a table of these rows, which stand in the order of their codes: not every format keeps that of the file. It stays
    /// for the rest of the program, since policies are copied.
    pub fn leak(mut rows: Vec<CodeRow>) -> Self {
        rows.sort_by(|one, other| one.code.cmp(&other.code));
        let rows = rows.into_iter().map(|row| OnCode {
            code: Box::leak(row.code.into_boxed_str()),
            meaning: row.meaning,
            base: row.base,
        });
        Self::new(Vec::leak(rows.collect()))
    }
}
