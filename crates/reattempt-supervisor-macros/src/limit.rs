//! `complete_by`: a duration as in a policy, with days.
//!
//! ```text
//! "30s"   ->   30 s
//! "2d 12h"   ->   60 h
//! ```

use std::time::Duration;

use proc_macro2::TokenStream;
use reattempt_policy::duration::{self, LONGEST, ParseDurationError};
use reattempt_policy::rules::RuleId;
use reattempt_policy::written::{ParseError, Whole, Word};

use reattempt_syntax::literal::Literal;

/// The longest, in days.
const MOST_DAYS: u32 = 365;

/// How long a task or a step may take in all.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Limit(pub(crate) Duration);

impl Word for Limit {
    const EXAMPLE: &'static str = "a duration; write `\"30s\"`";

    fn from_text(text: &str) -> Option<Result<Self, ParseError>> {
        let (days, rest) = match text.split_once('d') {
            Some((days, rest)) => (Some(days.trim()), rest.trim()),
            None => (None, text),
        };
        let days = match days.map(str::parse::<u32>) {
            None => 0,
            Some(Ok(days)) if days < MOST_DAYS || (days == MOST_DAYS && rest.is_empty()) => days,
            Some(Ok(_)) => {
                return Some(Err(wrong(
                    "`complete_by` is at most 365 days; write `\"365d\"`, or drop it",
                )));
            }
            Some(Err(_)) => {
                return Some(Err(wrong(
                    "days are a whole number and come first; write `\"2d\"` or `\"2d 12h\"`",
                )));
            }
        };
        let rest = match duration::parse(rest) {
            Ok(rest) => rest,
            Err(ParseDurationError::Empty) if days > 0 => Duration::ZERO,
            Err(ParseDurationError::TooLong) => {
                return Some(Err(wrong(
                    "above 24 hours `complete_by` uses days; write `\"2d\"` or `\"2d 12h\"`",
                )));
            }
            Err(ParseDurationError::UnknownUnit) => {
                return Some(Err(ParseError::new(
                    RuleId::R2,
                    "the unit of `complete_by` is one of `ms`, `s`, `m`, `h`, `d`; write `\"30s\"`",
                )));
            }
            Err(fault @ ParseDurationError::NoUnit) => {
                return Some(Err(ParseError::new(RuleId::R17, fault.to_string())));
            }
            Err(fault) => return Some(Err(ParseError::new(RuleId::R2, fault.to_string()))),
        };
        Some(Ok(Self(LONGEST.saturating_mul(days).saturating_add(rest))))
    }

    fn from_whole(number: Whole<'_>) -> Option<Result<Self, ParseError>> {
        Duration::from_whole(number).map(|read| read.map(Self))
    }

    fn from_number(value: f64) -> Option<Result<Self, ParseError>> {
        Duration::from_number(value).map(|read| read.map(Self))
    }
}

impl Literal for Limit {
    fn tokens(&self, krate: &TokenStream) -> TokenStream {
        self.0.tokens(krate)
    }
}

fn wrong(message: &str) -> ParseError {
    ParseError::new(RuleId::D2, message)
}
